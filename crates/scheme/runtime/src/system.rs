//! Arguments, environment, time, and the end.

use crate::ports;
use crate::primitives;
use crate::state;
use crate::strings::checked;
use crate::value::{self, V};
use std::time::{Instant, SystemTime};

/// Ends the process with statistics, if they were asked for, and no other word.
pub fn leave(code: i32) -> ! {
    state::tell_stats();
    // SAFETY: a plain system call; nothing of this library is registered for the end of the process.
    unsafe { libc::_exit(code) }
}

/// The normal end.
#[unsafe(no_mangle)]
pub extern "C" fn sch_end() -> ! {
    ports::flush_all();
    leave(0)
}

/// `exit` and, with `quick`, `emergency-exit`.
#[unsafe(no_mangle)]
pub extern "C" fn sch_exit(code: V, _quick: V) {
    ports::flush_all();
    leave(match code {
        V::TRUE => 0,
        V::FALSE => 1,
        code => code.as_small().map_or(70, |code| code as i32),
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_command_line() -> V {
    let all: Vec<V> = state::arguments().iter().map(|a| value::string(a)).collect();
    value::list(&all)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_get_environment_variables() -> V {
    let text = |s: std::ffi::OsString| value::string(&s.to_string_lossy());
    let all: Vec<V> =
        std::env::vars_os().map(|(name, v)| value::cons(text(name), text(v))).collect();
    value::list(&all)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_current_second() -> V {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    value::float(since.map_or(0.0, |d| d.as_secs_f64()))
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_current_jiffy() -> V {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    V::small(START.get_or_init(Instant::now).elapsed().as_nanos() as i64)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_jiffies_per_second() -> V {
    V::small(1_000_000_000)
}

primitives! {
    fn sch_get_environment_variable(name) -> V {
        let name = checked("get-environment-variable", 1, name)?.text();
        Ok(std::env::var_os(name).map_or(V::FALSE, |v| value::string(&v.to_string_lossy())))
    }
}
