//! The corpus of a fuzz target, handed to its function by an ordinary test. The crates' tests name
//! this file by `#[path]`, so that there is one of it.

use std::fs;
use std::path::Path;

/// Hands every file of `fuzz/corpus/<target>` to `target_function`, which panics at what is wrong.
pub(super) fn replay(target: &str, target_function: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        // A panic below is about the file named last.
        println!("{}", input.display());
        target_function(&fs::read(&input).unwrap());
    }
}
