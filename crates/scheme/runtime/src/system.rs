//! Arguments, environment and time.

use crate::primitives;
use crate::state;
use crate::strings::checked;
use crate::value::{self, V};
use std::time::{Instant, SystemTime};

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
