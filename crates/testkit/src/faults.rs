//! A file system and a clock with injected faults: a library to preload into a process (`LD_PRELOAD`), built by
//! the C compiler that also builds the database. `faults.c` documents its variables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

static BUILDING: Mutex<()> = Mutex::new(());

const SOURCE: &str = include_str!("faults.c");

/// Builds the library in a folder that outlives the test, once for each version of its source.
pub fn library(folder: &Path) -> PathBuf {
    let digest = Sha256::digest(SOURCE);
    let name = digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    let library = folder.join(format!("faults-{name:016x}.so"));
    // One thread of a process builds it, and the others wait.
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if library.exists() {
        return library;
    }
    // Other tests may build it at the same time. Each uses its own name until the library is
    // complete.
    let own = folder.join(format!("faults-{name:016x}-{}", std::process::id()));
    let (source, built) = (own.with_extension("c"), own.with_extension("so"));
    fs::write(&source, SOURCE).expect("the folder for tests is writable");
    let compiler = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&built, &source])
        .arg("-ldl")
        .output()
        .expect("a C compiler builds the database, and this library");
    let printed = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success(), "failed to build the fault library: {printed}");
    fs::rename(&built, &library).expect("both paths are in one folder");
    fs::remove_file(&source).expect("the file was just written");
    library
}
