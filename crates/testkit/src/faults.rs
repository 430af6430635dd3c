//! A file system that fails on purpose: a library that a process preloads (`LD_PRELOAD`), built by the
//! C compiler that builds the database too. Its variables are in `faults.c`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

const SOURCE: &str = include_str!("faults.c");

/// Builds the library in a folder that outlives the test, once for each version of its source.
pub fn library(folder: &Path) -> PathBuf {
    let digest = Sha256::digest(SOURCE);
    let name = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    let library = folder.join(format!("faults-{name:016x}.so"));
    if library.exists() {
        return library;
    }
    // Other tests build it at the same time: each under a name of its own until it is whole.
    let own = folder.join(format!("faults-{name:016x}-{}", std::process::id()));
    let (source, built) = (own.with_extension("c"), own.with_extension("so"));
    fs::write(&source, SOURCE).expect("the folder for tests is writable");
    let compiler = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&built, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler builds the database, and this library");
    let said = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success(), "the library of faults does not build: {said}");
    fs::rename(&built, &library).expect("both names are in one folder");
    fs::remove_file(&source).expect("it was just written");
    library
}
