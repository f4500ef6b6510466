//! How each peer is built: as its own build files would build a library to be preloaded.

use crate::tools::{compiler, defined, package, package_version, read, run};
use std::env::var;
use std::path::PathBuf;

/// Builds a peer; gives its version and library, or nothing where this build cannot have it.
type Build = fn() -> Option<(String, PathBuf)>;

/// The features, the names of what they build, and how. Where two have one name, the newer is first.
pub const ALL: [(&str, &str, Build); 7] = [
    ("mimalloc", "mimalloc", mimalloc),
    ("mimalloc2", "mimalloc", mimalloc2),
    ("snmalloc", "snmalloc", snmalloc),
    ("jemalloc", "jemalloc", jemalloc),
    ("rpmalloc", "rpmalloc", rpmalloc),
    ("mimalloc_secure", "mimalloc-secure", mimalloc_secure),
    ("snmalloc_checks", "snmalloc-checks", snmalloc_checks),
];

/// What mimalloc 3's CMakeLists.txt finds on Linux and chooses by default.
const MIMALLOC: [&str; 6] = [
    "-DMI_STATS=1",
    "-DMI_PROFILE=1",
    "-DMI_GUARDED=0",
    "-DMI_DEFAULT_ALLOW_THP=2",
    "-DMI_HAS_UNISTDH=1",
    "-DMI_HAS_EXECINFOH=1",
];

fn mimalloc() -> Option<(String, PathBuf)> {
    build_mimalloc("mimalloc3", "mimalloc", &MIMALLOC)
}

/// The same with all its defences, as with `MI_SECURE=ON`.
fn mimalloc_secure() -> Option<(String, PathBuf)> {
    let options = [&MIMALLOC[..], &["-DMI_SECURE=4"]].concat();
    build_mimalloc("mimalloc3", "mimalloc-secure", &options)
}

fn mimalloc2() -> Option<(String, PathBuf)> {
    build_mimalloc("mimalloc", "mimalloc2", &[])
}

/// As mimalloc's CMakeLists.txt builds `libmimalloc.so` in release mode, from its single source file.
fn build_mimalloc(folder: &str, name: &str, defaults: &[&str]) -> Option<(String, PathBuf)> {
    let root = package("libmimalloc-sys2").join("c_src").join(folder);
    let (mut cc, library) = compiler(name, false);
    cc.args(["-DMI_BUILD_RELEASE", "-DMI_CMAKE_BUILD_TYPE=release", "-DMI_MALLOC_OVERRIDE"])
        .args(["-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT"])
        .args(defaults)
        .args(["-fvisibility=hidden", "-ftls-model=initial-exec", "-fno-builtin-malloc"])
        .args(["-std=gnu11", "-I"])
        .args([root.join("include"), root.join("src/static.c")]);
    if var("CARGO_CFG_TARGET_ARCH").is_ok_and(|a| a == "aarch64") {
        cc.arg("-march=armv8.1-a");
    }
    run(cc);
    let digits = defined(&root.join("include/mimalloc.h"), "MI_MALLOC_VERSION");
    let number: u32 = digits.split_whitespace().next()?.parse().ok()?;
    Some((format!("{}.{}.{}", number / 10000, number / 100 % 100, number % 100), library))
}

/// As snmalloc's CMakeLists.txt builds `snmallocshim` in release mode.
fn snmalloc() -> Option<(String, PathBuf)> {
    build_snmalloc("snmalloc", &["malloc.cc", "new.cc"], &[])
}

/// As it builds `snmallocshim-checks`, whose `memcpy` knows where blocks end.
fn snmalloc_checks() -> Option<(String, PathBuf)> {
    let sources = ["malloc.cc", "new.cc", "memcpy.cc"];
    build_snmalloc("snmalloc-checks", &sources, &["-DSNMALLOC_CHECK_CLIENT"])
}

fn build_snmalloc(name: &str, sources: &[&str], options: &[&str]) -> Option<(String, PathBuf)> {
    let dir = package("snmalloc-sys");
    let source = dir.join("upstream/src/snmalloc/override");
    let (mut cxx, library) = compiler(name, true);
    if var("CARGO_CFG_TARGET_ARCH").is_ok_and(|a| a == "x86_64") {
        cxx.args(["-mcx16", "-mprfchw"]);
    }
    cxx.args(["-std=c++20", "-fno-rtti", "-fvisibility=hidden", "-fomit-frame-pointer"])
        .args(["-ftls-model=initial-exec", "-ffunction-sections", "-static-libstdc++"])
        .args(["-DSNMALLOC_USE_CXX11_THREAD_ATEXIT_DIRECT", "-DSNMALLOC_PAGEID=false"])
        .args(["-DSNMALLOC_CHECK_LOADS=false", "-DSNMALLOC_PLATFORM_HAS_GETENTROPY"])
        .args(["-DSNMALLOC_PTHREAD_ATFORK_WORKS", "-DSNMALLOC_HAS_LINUX_RANDOM_H"])
        .args(["-DSNMALLOC_HAS_LINUX_FUTEX_H", "-DSNMALLOC_USE_WAIT_ON_ADDRESS=1"])
        .args(["-DSNMALLOC_NO_REALLOCARRAY", "-DSNMALLOC_NO_REALLOCARR"])
        .arg("-DSNMALLOC_EXPORT=__attribute__((visibility(\"default\")))")
        .arg("-I")
        .arg(dir.join("upstream/src"))
        .args(options)
        .args(sources.iter().map(|file| source.join(file)))
        .arg("-latomic");
    run(cxx);
    Some((package_version(&dir), library))
}

/// jemalloc's own configure and make ran in its crate; what is left is to link it as a library.
fn jemalloc() -> Option<(String, PathBuf)> {
    // Its crate takes over cargo's optimisation level.
    if !var("OPT_LEVEL").is_ok_and(|level| level == "3") {
        return None;
    }
    let root = PathBuf::from(var("DEP_JEMALLOC_ROOT").expect("tikv-jemalloc-sys tells its folder"));
    let (mut cc, library) = compiler("jemalloc", false);
    cc.arg("-Wl,--whole-archive").arg(root.join("lib/libjemalloc_pic.a")).args([
        "-Wl,--no-whole-archive",
        "-ldl",
        "-lm",
    ]);
    run(cc);
    let quoted = defined(&root.join("include/jemalloc/jemalloc.h"), "JEMALLOC_VERSION");
    Some((quoted.trim_matches('"').split('-').next()?.to_owned(), library))
}

/// As rpmalloc's configure.py builds `librpmallocwrap.so` in release mode.
fn rpmalloc() -> Option<(String, PathBuf)> {
    let dir = package("rpmalloc-sys").join("rpmalloc");
    let (mut cc, library) = compiler("rpmalloc", false);
    cc.args(["-std=gnu11", "-DBUILD_RELEASE=1", "-DENABLE_PRELOAD=1", "-DENABLE_OVERRIDE=1"])
        .args(["-funroll-loops", "-fno-builtin-malloc"])
        .arg(dir.join("rpmalloc/rpmalloc.c"))
        .arg("-ldl");
    run(cc);
    Some((read(&dir.join("CHANGELOG")).lines().next()?.trim().to_owned(), library))
}
