//! The terminal: taken over, and restored however this ends.

use crate::Problem;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal};
use std::os::fd::AsFd;
use std::panic;
use std::sync::{Arc, Once};

/// A terminal that is drawn on.
pub type Screen = Terminal<CrosstermBackend<BufWriter<File>>>;

/// A terminal that shows the view; dropping it restores the terminal.
pub struct Shown {
    /// To draw on.
    pub screen: Screen,
}

/// The terminal on standard output, or else the process's controlling terminal.
fn terminal() -> io::Result<File> {
    if io::stdout().is_terminal() {
        return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
    }
    OpenOptions::new().read(true).write(true).open("/dev/tty")
}

impl Shown {
    /// Takes over the terminal. A panic restores it, too.
    ///
    /// # Errors
    /// When there is no terminal.
    pub fn begin() -> Result<Self, Problem> {
        let begin = || {
            let file = terminal()?;
            let kept = file.try_clone()?;
            let mut screen = Terminal::new(CrosstermBackend::new(BufWriter::new(file)))?;
            restore_on_panic(kept);
            enable_raw_mode()?;
            execute!(screen.backend_mut(), EnterAlternateScreen)?;
            screen.hide_cursor()?;
            Ok(screen)
        };
        match begin() {
            Ok(screen) => Ok(Self { screen }),
            Err(e) => {
                let _ = disable_raw_mode();
                Err(Problem::NoTerminal(e))
            }
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = execute!(self.screen.backend_mut(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// The process may abort on panic, and drop nothing.
fn restore_on_panic(terminal: File) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let (terminal, before) = (Arc::new(terminal), panic::take_hook());
        panic::set_hook(Box::new(move |info| {
            let _ = execute!(&*terminal, LeaveAlternateScreen, Show);
            let _ = disable_raw_mode();
            before(info);
        }));
    });
}
