//! Other Scheme systems: how each compiles a program, ahead of its run and with all its checks, and how the
//! result is started.

/// A system.
#[derive(Debug)]
pub struct System {
    /// Its name in tables.
    pub name: &'static str,
    /// What it is, with its settings.
    pub about: &'static str,
    /// A command that prints its version.
    pub version: &'static [&'static str],
    /// Files that lie beside the program: what is compiled, which includes it, and what compiles.
    pub files: &'static [(&'static str, &'static str)],
    /// The command that compiles, in the folder of the program.
    pub compile: &'static [&'static str],
    /// The command that runs what was compiled, in the same folder; the size comes last.
    pub run: &'static [&'static str],
    /// Whether the program tells its longest pause when [`TELL_PAUSE`] is set.
    pub tells_pause: bool,
}

/// The variable that asks other systems' programs for their longest pause.
pub const TELL_PAUSE: &str = "TELL_PAUSE";

macro_rules! wrapper {
    ($name:literal) => {
        ("peer.scm", include_str!(concat!("peers/", $name, ".scm")))
    };
}

/// All that are known. Where a manual calls unsafe settings the fastest, these are the ones before.
pub static SYSTEMS: [System; 4] = [
    System {
        name: "chez",
        about: "Chez Scheme, a whole program at optimize-level 2",
        version: &["scheme", "--version"],
        files: &[
            wrapper!("chez"),
            (
                "compile.scm",
                "(optimize-level 2)\n(generate-inspector-information #f)\n\
                 (generate-procedure-source-information #f)\n(compile-program \"peer.scm\" \"peer.so\")\n",
            ),
        ],
        compile: &["scheme", "--script", "compile.scm"],
        run: &["scheme", "--program", "peer.so"],
        tells_pause: true,
    },
    System {
        name: "gambit",
        about: "Gambit, by gsc with standard-bindings, extended-bindings and block",
        version: &["gsc", "-v"],
        files: &[wrapper!("gambit")],
        compile: &["gsc", "-exe", "-o", "peer", "peer.scm"],
        run: &["./peer"],
        tells_pause: false,
    },
    System {
        name: "chicken",
        // -specialize, which -O3 would add, makes some of these programs run forever.
        about: "CHICKEN, by csc -O2 -block -local -inline -inline-global -lfa2 -clustering",
        version: &["chicken", "-release"],
        files: &[wrapper!("chicken")],
        compile: &[
            "csc",
            "-O2",
            "-block",
            "-local",
            "-inline",
            "-inline-global",
            "-lfa2",
            "-clustering",
            "peer.scm",
            "-o",
            "peer",
        ],
        run: &["./peer"],
        tells_pause: false,
    },
    System {
        name: "guile",
        about: "Guile, compiled ahead at its level 3",
        version: &["guile", "--version"],
        files: &[
            wrapper!("guile"),
            (
                "compile.scm",
                "(use-modules (system base compile))\n\
                 (compile-file \"peer.scm\" #:output-file \"peer.go\" #:optimization-level 3)\n",
            ),
        ],
        compile: &["guile", "--r7rs", "--no-auto-compile", "-s", "compile.scm"],
        run: &[
            "guile",
            "--no-auto-compile",
            "-c",
            "(load-compiled (string-append (getcwd) \"/peer.go\"))",
        ],
        tells_pause: false,
    },
];
