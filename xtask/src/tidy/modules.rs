//! Files as wholes: how they open, how long and heavy they are, whether generated ones say so, and
//! whether the folders of the flow have the same names everywhere.

use std::collections::BTreeSet;

use super::Finding;
use super::tree::{File, Tree};

/// The stages of the flow, in their order, which is that of the alphabet.
pub(super) const STAGES: [&str; 5] = ["cadence", "check", "judge", "notify", "page"];
/// The two places that have a folder or a file per stage: the decisions, and what carries them out.
pub(super) const STAGED: [&str; 2] = ["crates/domain/src", "crates/server/src/pipeline"];

/// Past this length a file wants to be two.
const LINES: usize = 400;
/// Tests are lists of cases and read well when longer.
const LINES_OF_TESTS: usize = 600;
/// What a clone should not have to carry.
const HEAVY_BYTES: u64 = 1 << 20;
/// What generated files say near their top.
const GENERATED: &str = "@generated";
const TOP_LINES: usize = 10;

/// Every Rust file written by hand opens with `//!`.
pub(super) fn opening(tree: &Tree) -> Vec<Finding> {
    let opens = |text: &str| text.lines().find(|line| !line.starts_with("#!/")).is_some_and(says);
    let silent = tree.rust().filter(|(file, _)| !opens(&file.text));
    silent
        .map(|(file, _)| Finding::line(&file.path, 1, "opens without `//!`: say what this file is"))
        .collect()
}

fn says(line: &str) -> bool {
    line.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty())
}

/// Files written by hand stay readable in one go.
pub(super) fn length(tree: &Tree) -> Vec<Finding> {
    let code = |file: &&File| {
        !file.is_generated() && ["rs", "ts", "js", "css", "go", "py"].contains(&file.ending())
    };
    let too_long = |file: &File| {
        let most = if file.is_test() { LINES_OF_TESTS } else { LINES };
        let lines = file.text.lines().count();
        (lines > most)
            .then(|| Finding::file(&file.path, format!("has {lines} lines of {most}: make it two")))
    };
    tree.files.iter().filter(code).filter_map(too_long).collect()
}

/// Files in `gen/` say that they are generated, and others do not pretend to be.
pub(super) fn generated(tree: &Tree) -> Vec<Finding> {
    let wrong = |file: &File| {
        let top = file.text.lines().take(TOP_LINES);
        let marked = top.clone().any(|line| line.contains(GENERATED));
        let reason = match (file.is_generated(), marked) {
            (true, false) => "lies in `gen/` without saying who generated it",
            (false, true) => "says that it is generated, and lies outside `gen/`",
            (true, true) | (false, false) => return None,
        };
        Some(Finding::line(&file.path, 1, reason))
    };
    // What is no text has no place to say it; prose may speak about the mark.
    let source = |file: &&File| !file.text.is_empty() && !["md", "lock"].contains(&file.ending());
    tree.files.iter().filter(source).filter_map(wrong).collect()
}

/// A stage that is decided is carried out, and the other way round.
pub(super) fn stages(tree: &Tree) -> Vec<Finding> {
    let [decided, done] = STAGED.map(|folder| stages_in(tree, folder));
    let missing = decided.symmetric_difference(&done);
    missing
        .map(|stage| {
            let folder = STAGED[usize::from(decided.contains(stage))];
            Finding::file(folder, format!("has no stage `{stage}`, which the other side has"))
        })
        .collect()
}

/// The stages that have a folder or a file in `folder`.
pub(super) fn stages_in(tree: &Tree, folder: &str) -> BTreeSet<&'static str> {
    let here = |stage: &&str| {
        tree.has(&format!("{folder}/{stage}")) || tree.has(&format!("{folder}/{stage}.rs"))
    };
    STAGES.into_iter().filter(here).collect()
}

/// No file that every clone would carry without need. What is generated is text that packs well.
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
    fn a_module_without_an_opening_is_found() {
        let files = [
            ("a/good.rs", "//! What it is.\nfn a() {}"),
            ("a/silent.rs", "fn a() {}"),
            ("a/empty.rs", "//!\nfn a() {}"),
            ("a/gen/made.rs", "fn a() {}"),
        ];
        assert_eq!(paths(&files, opening), ["a/silent.rs", "a/empty.rs"]);
    }

    #[test]
    fn a_file_may_have_its_lines_and_not_one_more() {
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
    fn generated_code_says_so_and_stays_in_its_folder() {
        let files = [
            ("a/gen/marked.rs", "// @generated by cargo xtask codegen\n"),
            ("a/gen/silent.rs", "struct A;\n"),
            ("a/hand.rs", "// @generated\n"),
        ];
        assert_eq!(paths(&files, generated), ["a/gen/silent.rs", "a/hand.rs"]);
    }

    #[test]
    fn a_stage_on_one_side_only_is_found_on_the_other() {
        let files = [
            ("crates/domain/src/check/mod.rs", ""),
            ("crates/domain/src/judge.rs", ""),
            ("crates/server/src/pipeline/check.rs", ""),
            ("crates/server/src/pipeline/page/mod.rs", ""),
        ];
        let found = paths(&files, stages);
        assert_eq!(found, ["crates/server/src/pipeline", "crates/domain/src"]);
        assert_eq!(paths(&files[..1], stages), ["crates/server/src/pipeline"]);
    }

    #[test]
    fn a_heavy_file_is_found() {
        let heavy = "x".repeat((1 << 20) + 1);
        assert_eq!(paths(&[("a.bin", &heavy), ("b.bin", &heavy[1..])], weight), ["a.bin"]);
    }
}
