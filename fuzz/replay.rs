//! Replays the corpus of a fuzz target in an ordinary test. The crates' tests include this file by
//! `#[path]`, so that they share it.

use std::fs;
use std::path::Path;

/// Passes every file of `fuzz/corpus/<target>` to `target_function`, which panics if it finds a
/// fault.
pub(super) fn replay(target: &str, target_function: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let inputs: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        // A panic below concerns the last printed file.
        println!("{}", input.display());
        target_function(&fs::read(&input).unwrap());
    }
}
