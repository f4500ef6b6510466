//! The terminal after a panic.

#[path = "../../cli/tests/terminal/pty.rs"]
#[allow(dead_code, reason = "the command's own tests use the rest")]
mod pty;

use crate::screen::Shown;
use pty::Pty;
use ratatui::crossterm::event;
use ratatui::widgets::Paragraph;
use std::mem::ManuallyDrop;
use std::process::Command;

/// The variable that makes a process of this test the one that panics.
const PANICKING: &str = "TOP_TEST_PANICKING";

/// The command aborts on panic and drops nothing, so its hook alone must restore the terminal.
#[test]
fn a_panic_gives_the_terminal_back_and_its_words_can_be_read() {
    if std::env::var_os(PANICKING).is_some() {
        panic_in_the_view();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = "panics::a_panic_gives_the_terminal_back_and_its_words_can_be_read";
    command.args(["--exact", name, "--nocapture"]).env(PANICKING, "1");
    command.env("TERM", "xterm-256color").env_remove("RUST_BACKTRACE");
    let mut pty = Pty::start(command, 24, 80);
    pty.shows("the view");
    assert!(pty.bytes().contains("\x1b[?1049h"), "taken over: {:?}", pty.bytes());
    pty.press("x");
    let (status, after) = pty.ends();
    assert!(!status.success());
    assert!(after.contains("broken on purpose") && !after.contains("the view"), "{after}");
}

fn panic_in_the_view() -> ! {
    let mut shown = ManuallyDrop::new(Shown::begin().expect("there is a terminal"));
    shown
        .screen
        .draw(|frame| frame.render_widget(Paragraph::new("the view"), frame.area()))
        .unwrap();
    event::read().unwrap();
    panic!("broken on purpose");
}
