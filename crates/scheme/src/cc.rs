//! From a program's file to an executable: the compiler, then the C compiler, then the cache.

use crate::{HEADERS, Settings, Sources, compile};
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a program is compiled.
#[derive(Clone, Debug)]
pub struct Options {
    /// The C compiler.
    pub cc: OsString,
    /// Its level of optimisation.
    pub level: u8,
    /// Every warning of the C compiler is an error, undefined behaviour ends the program, and every safe
    /// point moves all that is alive, so that a root that was forgotten shows. [`Settings::checked`] adds checks
    /// of the C itself.
    pub checked: bool,
    /// The run-time library, `liballod_scheme.a`.
    pub library: PathBuf,
    /// What else programs are linked with: names of libraries, or paths with a slash.
    pub link: Vec<OsString>,
}

/// The C that a file's program becomes, or what a pass gives. `None` asks for C as usual.
///
/// # Errors
/// What is wrong with the program, or that the file cannot be read.
pub fn to_c(file: &Path, settings: impl Into<Settings>) -> Result<String, String> {
    let text =
        fs::read_to_string(file).map_err(|e| format!("cannot read {}: {e}", file.display()))?;
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (file, folder) = (file.to_owned(), folder.to_owned());
    let settings = settings.into();
    // Programs may be nested deeper than a thread's usual stack allows.
    let work = move || compile(&mut Sources::new(&folder), &file, text, &settings);
    let thread = std::thread::Builder::new().stack_size(1 << 30).spawn(work);
    let thread = thread.map_err(|e| format!("cannot start a thread: {e}"))?;
    thread.join().map_err(|_| "the compiler failed; this is a fault in it".to_string())?
}

/// Compiles C to an executable.
///
/// # Errors
/// What the C compiler says.
pub fn build(c: &str, program: &Path, options: &Options) -> Result<(), String> {
    let scratch = tempfile::Builder::new().prefix("allod-scheme-").tempdir();
    let scratch = scratch.map_err(|e| format!("cannot make a temporary folder: {e}"))?;
    let made = scratch.path().join("program");
    build_in(scratch.path(), c, &made, options)?;
    put(&made, program).map_err(|e| format!("cannot write {}: {e}", program.display()))
}

/// Puts an executable in its place at once, so that whoever runs the one before keeps it.
fn put(made: &Path, program: &Path) -> std::io::Result<()> {
    match fs::metadata(program) {
        Ok(found) if found.is_dir() => return Err(std::io::ErrorKind::IsADirectory.into()),
        // A device takes what it is given, and stays.
        Ok(found) if !found.is_file() => {
            let mut to = fs::OpenOptions::new().write(true).open(program)?;
            return std::io::copy(&mut fs::File::open(made)?, &mut to).map(drop);
        }
        _ => {}
    }
    let folder = program.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fresh = tempfile::tempdir_in(folder)?;
    let copy = fresh.path().join("program");
    fs::copy(made, &copy)?;
    fs::rename(&copy, program)
}

fn build_in(folder: &Path, c: &str, program: &Path, options: &Options) -> Result<(), String> {
    let cannot = |e: std::io::Error| format!("cannot write to {}: {e}", folder.display());
    fs::create_dir_all(folder.join("allod")).map_err(cannot)?;
    for (name, text) in HEADERS {
        fs::write(folder.join(name), text).map_err(cannot)?;
    }
    let source = folder.join("program.c");
    fs::write(&source, c).map_err(cannot)?;
    let mut cc = Command::new(&options.cc);
    cc.args(flags(options))
        .arg("-I")
        .arg(folder)
        .arg("-o")
        .arg(program)
        .arg(&source)
        .arg(&options.library)
        .args(linked(options));
    cc.args(["-lm", "-lpthread", "-ldl"]).stdin(Stdio::null());
    let output = cc.output().map_err(|e| {
        format!(
            "cannot start the C compiler {}: {e}; install gcc or clang, or name one with --cc",
            options.cc.display()
        )
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("the C compiler failed on what this compiler emitted:\n{said}"))
}

/// How the linker is told of what else a program is linked with.
fn linked(options: &Options) -> impl Iterator<Item = OsString> {
    options.link.iter().map(|name| {
        let is_path = name.as_encoded_bytes().contains(&b'/');
        let mut argument = OsString::from(if is_path { "" } else { "-l" });
        argument.push(name);
        argument
    })
}

fn flags(options: &Options) -> Vec<String> {
    let mut level = options.level;
    if level == 0 && !says(options, "#if !__has_attribute(musttail)\n#error\n#endif\n") {
        // Without the attribute, calls in tail position are jumps from here on only.
        level = 1;
    }
    let mut flags: Vec<String> =
        ["-std=gnu11", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-fno-stack-protector"]
            .map(String::from)
            .into();
    // Flonums are what IEEE 754 says, and nobody asks for errno.
    flags.extend(["-ffp-contract=off", "-fno-math-errno"].map(String::from));
    // Roots are stored in pairs by vector instructions otherwise, which takes longer than storing them.
    flags.push("-fno-tree-slp-vectorize".into());
    // Lines, by which an error finds its place in the program; two places must not share their code. clang
    // gives no line to code that it shares.
    flags.push("-g1".into());
    if !says(options, "#ifndef __clang__\n#error\n#endif\n") {
        flags.extend(["-fno-tree-tail-merge", "-fno-crossjumping"].map(String::from));
    }
    // A C function that its header does not declare is an error in every version of the compilers.
    flags.push("-Werror=implicit-function-declaration".into());
    flags.push(format!("-O{level}"));
    flags.push("-foptimize-sibling-calls".into());
    if options.checked {
        flags.extend(
            [
                "-Wall",
                "-Wextra",
                "-Werror",
                "-DSCH_CHECKED",
                "-fsanitize=undefined",
                "-fno-sanitize-recover",
            ]
            .map(String::from),
        );
    }
    flags
}

/// Whether the C compiler's preprocessor finds no error in a text.
fn says(options: &Options, text: &str) -> bool {
    let mut cc = Command::new(&options.cc);
    cc.args(["-E", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = cc.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        use std::io::Write;
        let _ = input.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

fn key(of: &impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        of.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

/// The executable of a program: from the user's cache, by content, or made now and put there.
///
/// # Errors
/// What is wrong with the program, or what stands in the way.
pub fn cached(
    file: &Path,
    settings: impl Into<Settings>,
    options: &Options,
) -> Result<PathBuf, String> {
    let c = to_c(file, settings)?;
    let library = fs::metadata(&options.library)
        .map_err(|e| format!("{}: {e}", options.library.display()))?;
    let built = library.modified().ok();
    let headers = HEADERS.map(|(_, text)| text);
    let name =
        key(&(&c, headers, flags(options), &options.cc, &options.link, library.len(), built));
    let folder = cache_folder()?;
    let program = folder.join(format!("{name:032x}"));
    if !program.is_file() {
        // Whoever else makes the same meanwhile makes the same.
        let cannot = |e| format!("cannot write to {}: {e}", folder.display());
        let fresh = tempfile::tempdir_in(&folder).map_err(cannot)?;
        let made = fresh.path().join("program");
        build(&c, &made, options)?;
        fs::rename(&made, &program).map_err(cannot)?;
    }
    Ok(program)
}

/// The user's cache, or where that cannot be written to, a folder that nobody else can.
fn cache_folder() -> Result<PathBuf, String> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base =
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    if let Some(folder) = base.map(|base| base.join("allod").join("scheme"))
        && fs::create_dir_all(&folder).is_ok()
        && tempfile::tempfile_in(&folder).is_ok()
    {
        return Ok(folder);
    }
    private_folder()
}

/// A folder for temporary files, of this user alone: what lies there is executed.
fn private_folder() -> Result<PathBuf, String> {
    // Whoever makes a file owns it.
    let user = tempfile::tempfile().and_then(|file| file.metadata()).map(|file| file.uid());
    let user = user.map_err(|e| format!("cannot make a temporary file: {e}"))?;
    let folder = std::env::temp_dir().join(format!("allod-scheme-{user}"));
    let cannot = |e: &dyn std::fmt::Display| format!("cannot make {}: {e}", folder.display());
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(cannot(&e)),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder).map_err(|e| cannot(&e))?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(cannot(&"it is there, and not this user's alone"));
    }
    Ok(folder)
}
