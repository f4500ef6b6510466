//! How each peer is built: as its own build files would build a library to be preloaded.

use crate::tools::{compiler, defined, package, package_version, read, run};
use std::env::var;
use std::path::{Path, PathBuf};

/// Builds a peer; gives its version and library, or nothing where this build cannot have it.
type Build = fn() -> Option<(String, PathBuf)>;

/// The features and what they build.
pub const ALL: [(&str, Build); 4] = [
    ("mimalloc", mimalloc),
    ("snmalloc", snmalloc),
    ("jemalloc", jemalloc),
    ("rpmalloc", rpmalloc),
];

/// As mimalloc's CMakeLists.txt builds `libmimalloc.so` in release mode.
fn mimalloc() -> Option<(String, PathBuf)> {
    let include = var("DEP_MIMALLOC_INCLUDE_DIR").expect("libmimalloc-sys tells its headers");
    let include = Path::new(&include);
    let (mut cc, library) = compiler("mimalloc", false);
    cc.args(["-DMI_BUILD_RELEASE", "-DMI_SHARED_LIB", "-DMI_SHARED_LIB_EXPORT"])
        .args(["-DMI_MALLOC_OVERRIDE", "-fvisibility=hidden", "-ftls-model=initial-exec"])
        .args(["-fno-builtin-malloc", "-std=gnu11"])
        .arg("-I")
        .arg(include)
        .arg(include.join("../src/static.c"));
    run(cc);
    let digits = defined(&include.join("mimalloc.h"), "MI_MALLOC_VERSION");
    let number: u32 = digits.split_whitespace().next()?.parse().ok()?;
    Some((format!("{}.{}.{}", number / 10000, number / 100 % 100, number % 100), library))
}

/// As snmalloc's CMakeLists.txt builds `snmallocshim` in release mode.
fn snmalloc() -> Option<(String, PathBuf)> {
    let dir = package("snmalloc-sys");
    let source = dir.join("upstream/src/snmalloc/override");
    let (mut cxx, library) = compiler("snmalloc", true);
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
        .args([source.join("malloc.cc"), source.join("new.cc")])
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
