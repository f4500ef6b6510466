//! A compiler from R7RS-small Scheme to C on `allod/region.h`.
//!
//! | pass | takes | gives |
//! | --- | --- | --- |
//! | `allod_scheme_datum::read` | text | data with places |
//! | `expand` | data | [`core`] |
//! | [`passes::reach`] | core | core without what nothing needs |
//! | [`passes::letrec`] | core | core where `letrec*` binds lambdas only |
//! | [`passes::inline`] | core | core where small known procedures are in place |
//! | [`passes::assign`] | core | core without assigned locals |
//! | [`passes::loops`] | core | core with loops |
//! | [`passes::peel`] | core | core where first tests stand before calls |
//! | [`passes::turns`] | core | core with loops in procedures that end by calling themselves |
//! | [`passes::flow`] | core | straight-line code ([`straight`]) |
//! | [`passes::closure`] | straight-line code | the same with captures |
//! | [`passes::types`] | straight-line code | the same with fewer checks |
//! | [`passes::unbox`] | straight-line code | the same where flonums have no box |
//! | [`passes::regions`] | straight-line code | the same with scopes |
//! | [`passes::live`] | straight-line code | the same with roots |
//! | [`emit`] | straight-line code | C |
//!
//! ARCHITECTURE.md says how values, calls, roots and memory look in that C.

pub mod cc;
pub mod classics;
pub mod core;
pub mod dump;
mod effects;
pub mod emit;
mod expand;
mod explain;
pub mod foreign;
pub mod passes;
pub mod prims;
mod rules;
mod source;
mod standard;
pub mod straight;
mod syntax;
mod text;

pub use source::Sources;

use allod_scheme_datum::Fault;
use std::path::Path;
use syntax::{Form, Idents};

/// What the run-time library gives to compiled programs: the header that the C of every program includes,
/// and what it includes itself.
pub const HEADERS: [(&str, &str); 12] = [
    ("scheme.h", include_str!("../include/scheme.h")),
    ("apart.h", include_str!("../include/apart.h")),
    ("numbers.h", include_str!("../include/numbers.h")),
    ("data.h", include_str!("../include/data.h")),
    ("library.h", include_str!("../include/library.h")),
    ("constructors.h", include_str!("../include/constructors.h")),
    ("checked.h", include_str!("../include/checked.h")),
    ("foreign.h", include_str!("../include/foreign.h")),
    ("proven.h", include_str!("../include/proven.h")),
    ("scopes.h", include_str!("../include/scopes.h")),
    ("support.h", include_str!("../include/support.h")),
    ("allod/region.h", include_str!("../include/allod/region.h")),
];

/// One text, file 0 of every program.
const PRELUDE: &str = concat!(
    include_str!("prelude/variadic.scm"),
    include_str!("prelude/data.scm"),
    include_str!("prelude/control.scm"),
    include_str!("prelude/exceptions.scm"),
    include_str!("prelude/values.scm"),
    include_str!("prelude/ports.scm"),
);

/// The passes that [`compile`] can stop after and print.
pub const PASSES: [&str; 14] = [
    "expand", "reach", "letrec", "inline", "assign", "loops", "peel", "turns", "flow", "closure",
    "types", "unbox", "regions", "live",
];

/// The passes that make programs faster and can be left out; without `types` there is no `unbox`.
pub const OPTIONAL: [&str; 5] = ["inline", "peel", "types", "unbox", "regions"];

/// How the C of a program makes objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Codegen {
    /// By inlined bumps, with sizes and headers that are constants.
    #[default]
    Typed,
    /// By calls of the region runtime's constructors, which go by the records of types.
    Constructors,
}

/// What is asked of [`compile`].
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Stop after this pass and print what it gives; `explain` stands for the source with what is known
    /// of it.
    pub dump: Option<String>,
    /// Leave these [`OPTIONAL`] passes out.
    pub disabled: Vec<String>,
    /// The program checks that each local has the type that was inferred.
    pub checked: bool,
    /// How objects are made.
    pub codegen: Codegen,
}

impl From<Option<&str>> for Settings {
    fn from(dump: Option<&str>) -> Settings {
        Settings { dump: dump.map(str::to_owned), ..Settings::default() }
    }
}

impl Settings {
    fn has(&self, pass: &str) -> bool {
        !self.disabled.iter().any(|disabled| disabled == pass)
    }
}

/// Compiles a program to C, or to the text of what a pass gives.
///
/// # Errors
/// The first fault found, as people expect it: file, line, column, and what is wrong.
pub fn compile(
    sources: &mut Sources,
    file: &Path,
    text: String,
    settings: &Settings,
) -> Result<String, String> {
    run(sources, file, text, settings).map_err(|fault| sources.describe(&fault))
}

fn run(
    sources: &mut Sources,
    file: &Path,
    text: String,
    settings: &Settings,
) -> Result<String, Fault> {
    let mut idents = Idents::default();
    let prelude = sources.read(Path::new("prelude"), PRELUDE.to_owned())?;
    let prelude: Vec<Form> = prelude.iter().map(|datum| Form::of(datum, &mut idents)).collect();
    let data = sources.read(file, text)?;
    let forms: Vec<Form> = data.iter().map(|datum| Form::of(datum, &mut idents)).collect();
    let mut program = expand::expand(sources, &prelude, idents, &forms)?;
    macro_rules! after {
        ($pass:literal, $shown:expr) => {
            if settings.dump.as_deref() == Some($pass) {
                return Ok($shown);
            }
        };
    }
    after!("expand", dump::core(&program));
    passes::reach::run(&mut program);
    after!("reach", dump::core(&program));
    passes::letrec::run(&mut program);
    after!("letrec", dump::core(&program));
    if settings.has("inline") {
        passes::inline::run(&mut program);
        passes::reach::run(&mut program);
    }
    after!("inline", dump::core(&program));
    passes::assign::run(&mut program);
    after!("assign", dump::core(&program));
    passes::loops::run(&mut program);
    after!("loops", dump::core(&program));
    if settings.has("peel") {
        passes::peel::run(&mut program);
        passes::reach::run(&mut program);
    }
    after!("peel", dump::core(&program));
    passes::turns::run(&mut program);
    after!("turns", dump::core(&program));
    let mut flow = passes::flow::run(&mut program)?;
    after!("flow", dump::flow(&program, &flow));
    passes::closure::run(&mut flow);
    after!("closure", dump::flow(&program, &flow));
    let mut types = passes::types::Types::default();
    if settings.has("types") {
        types = passes::types::run(&mut program, &mut flow);
        after!("types", dump::flow(&program, &flow));
        if settings.has("unbox") {
            passes::unbox::run(&mut program, &mut flow, &types);
        }
    }
    after!("unbox", dump::flow(&program, &flow));
    let mut regions = passes::regions::Regions::default();
    // Constructors tell nobody when they take a chunk, which a scope must know.
    if settings.has("regions") && settings.codegen == Codegen::Typed {
        regions = passes::regions::run(&mut program, &mut flow);
    }
    after!("regions", dump::flow(&program, &flow));
    after!("explain", explain::run(&program, &flow, &types, &regions, sources.text_of(1)));
    passes::live::run(&mut flow);
    after!("live", dump::flow(&program, &flow));
    let checked = settings.checked.then_some(&types);
    Ok(emit::run(&program, &flow, checked, settings.codegen, file, &sources.names()))
}
