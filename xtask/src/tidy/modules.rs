//! Checks files as a whole: their header, their length and size, the mark of generated ones, and
//! equal folder names for the stages of the flow.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::{File, Tree};

/// Stages of the flow in their order, which is alphabetical.
pub(super) const STAGES: [&str; 5] = ["cadence", "check", "judge", "notify", "page"];
/// Folders with a folder or a file per stage: the decisions, and their execution.
pub(super) const STAGED: [&str; 2] = ["crates/domain/src", "crates/server/src/pipeline"];
/// The last stage is executed by a crate of its own.
const PAGE: &str = "crates/pages/src";

/// Maximum number of lines.
const LINES: usize = 400;
/// Maximum number of lines of tests. Lists of cases remain readable when longer.
const LINES_OF_TESTS: usize = 600;
/// Maximum size of a file in bytes, because every clone downloads it.
const HEAVY_BYTES: u64 = 1 << 20;
/// Mark near the top of generated files.
const GENERATED: &str = "@generated";
const TOP_LINES: usize = 10;

/// Checks that every hand-written Rust file begins with `//!`.
pub(super) fn opening(tree: &Tree) -> Vec<Finding> {
    let opens =
        |text: &str| text.lines().find(|line| !line.starts_with("#!/")).is_some_and(is_header);
    let silent = tree.rust().filter(|(file, _)| !opens(&file.text));
    silent
        .map(|(file, _)| Finding::line(&file.path, 1, "has no `//!` header; describe the file"))
        .collect()
}

fn is_header(line: &str) -> bool {
    line.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty())
}

/// Checks the length of hand-written files.
pub(super) fn length(tree: &Tree) -> Vec<Finding> {
    let code = |file: &&File| {
        !file.is_generated() && ["rs", "ts", "js", "css", "go", "py"].contains(&file.ending())
    };
    let too_long = |file: &File| {
        let most = if file.is_test() { LINES_OF_TESTS } else { LINES };
        let lines = file.text.lines().count();
        (lines > most).then(|| {
            Finding::file(&file.path, format!("has {lines} lines, more than {most}; split it"))
        })
    };
    tree.files.iter().filter(code).filter_map(too_long).collect()
}

/// Checks that files in `gen/` have the mark of generated files, and no others.
pub(super) fn generated(tree: &Tree) -> Vec<Finding> {
    let wrong = |file: &File| {
        let top = file.text.lines().take(TOP_LINES);
        let marked = top.clone().any(|line| line.contains(GENERATED));
        let reason = match (file.is_generated(), marked) {
            (true, false) => "is in `gen/` but has no mark of its generator",
            (false, true) => "has the mark of generated files but is outside of `gen/`",
            (true, true) | (false, false) => return None,
        };
        Some(Finding::line(&file.path, 1, reason))
    };
    // Binary files cannot have a mark, and prose may mention it.
    let source = |file: &&File| !file.text.is_empty() && !["md", "lock"].contains(&file.ending());
    tree.files.iter().filter(source).filter_map(wrong).collect()
}

/// Checks that every decided stage is executed, and every executed one is decided.
pub(super) fn stages(tree: &Tree) -> Vec<Finding> {
    let [decided, done] = STAGED.map(|folder| stages_in(tree, folder));
    let missing = decided.symmetric_difference(&done);
    missing
        .map(|stage| {
            let folder = STAGED[usize::from(decided.contains(stage))];
            Finding::file(folder, format!("lacks the stage `{stage}` of the other side"))
        })
        .collect()
}

/// Returns the stages that have a folder or a file in `folder`.
pub(super) fn stages_in(tree: &Tree, folder: &str) -> BTreeSet<&'static str> {
    let here = |stage: &&str| {
        let is_page = folder == STAGED[1] && *stage == STAGES[4] && tree.has(PAGE);
        is_page
            || tree.has(&format!("{folder}/{stage}"))
            || tree.has(&format!("{folder}/{stage}.rs"))
    };
    STAGES.into_iter().filter(here).collect()
}

/// Checks the size of files that every clone downloads. Generated text compresses well and may be
/// larger.
pub(super) fn weight(tree: &Tree) -> Vec<Finding> {
    let most =
        |file: &File| if file.path.contains("/gen/") { 4 * HEAVY_BYTES } else { HEAVY_BYTES };
    let heavy = tree.files.iter().filter(|file| file.bytes > most(file));
    heavy.map(|file| Finding::file(&file.path, format!("has {} bytes", file.bytes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[(&str, &str)], check: fn(&Tree) -> Vec<Finding>) -> Vec<String> {
        Tree::found(files, check).into_iter().map(|(path, _)| path).collect()
    }

    #[test]
    fn module_without_header_is_found() {
        let files = [
            ("a/good.rs", "//! What it is.\nfn a() {}"),
            ("a/silent.rs", "fn a() {}"),
            ("a/empty.rs", "//!\nfn a() {}"),
            ("a/gen/made.rs", "fn a() {}"),
        ];
        assert_eq!(paths(&files, opening), ["a/silent.rs", "a/empty.rs"]);
    }

    #[test]
    fn file_above_the_line_limit_is_found() {
        let (full, over, tests) = ("x\n".repeat(400), "x\n".repeat(401), "x\n".repeat(600));
        let files = [
            ("src/full.rs", full.as_str()),
            ("src/over.rs", &over),
            ("crates/a/tests/it/long.rs", &tests),
            ("crates/a/src/gen/made.rs", &tests),
            ("docs/long.md", &tests),
        ];
        assert_eq!(paths(&files, length), ["src/over.rs"]);
        let longest = tests.clone() + "x\n";
        assert_eq!(paths(&[("crates/a/tests/it/long.rs", &longest)], length).len(), 1);
    }

    #[test]
    fn misplaced_or_unmarked_generated_code_is_found() {
        let files = [
            ("a/gen/marked.rs", "// @generated by cargo xtask codegen\n"),
            ("a/gen/silent.rs", "struct A;\n"),
            ("a/hand.rs", "// @generated\n"),
        ];
        assert_eq!(paths(&files, generated), ["a/gen/silent.rs", "a/hand.rs"]);
    }

    #[test]
    fn stage_missing_on_one_side_is_found() {
        let files = [
            ("crates/domain/src/check/mod.rs", ""),
            ("crates/domain/src/judge.rs", ""),
            ("crates/server/src/pipeline/check.rs", ""),
            ("crates/pages/src/lib.rs", ""),
        ];
        let found = paths(&files, stages);
        assert_eq!(found, ["crates/server/src/pipeline", "crates/domain/src"]);
        assert_eq!(paths(&files[..1], stages), ["crates/server/src/pipeline"]);
    }

    #[test]
    fn large_file_is_found() {
        let heavy = "x".repeat((1 << 20) + 1);
        assert_eq!(paths(&[("a.bin", &heavy), ("b.bin", &heavy[1..])], weight), ["a.bin"]);
    }
}
