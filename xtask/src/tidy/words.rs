//! Finds forbidden words: unfinished work, sleeps in tests, and names of one machine.

use super::Finding;
use super::code::has_word;
use super::tree::{File, Tree};

/// Marks of unfinished work. Only comments count in Rust, and the whole text elsewhere.
const MARKS: [&str; 3] = ["FIXME", "TODO", "XXX"];
/// Unfinished code, and tests that do not run.
const CODE: [&str; 4] = ["dbg!", "todo!", "unimplemented!", "#[ignore"];
/// Extensions of hand-written files other than Rust.
const WRITTEN: [&str; 9] = ["proto", "sql", "toml", "ts", "js", "css", "html", "sh", "yaml"];

/// Finds unfinished work, which belongs in an issue.
pub(super) fn unfinished(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, views) in tree.rust() {
        let comments = views.comments.lines().enumerate();
        let marks = comments.filter_map(|(at, line)| mark_in(line).map(|mark| (at, mark)));
        let code = views.code.lines().enumerate();
        let code = code.filter_map(|(at, line)| code_in(line).map(|word| (at, word)));
        for (at, word) in marks.chain(code) {
            findings.push(Finding::line(&file.path, at + 1, format!("holds `{word}`: finish it")));
        }
    }
    let written = |file: &&File| WRITTEN.contains(&file.ending()) && !file.is_generated();
    for file in tree.files.iter().filter(written) {
        let marks = file.text.lines().enumerate();
        for (at, mark) in marks.filter_map(|(at, line)| mark_in(line).map(|mark| (at, mark))) {
            findings.push(Finding::line(&file.path, at + 1, format!("holds `{mark}`: finish it")));
        }
    }
    findings
}

fn mark_in(line: &str) -> Option<&'static str> {
    MARKS.into_iter().find(|mark| has_word(line, mark))
}

fn code_in(line: &str) -> Option<&'static str> {
    CODE.into_iter().find(|word| {
        line.match_indices(word).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        })
    })
}

/// Finds sleeps in tests, which must wait for events. Targets of the test kit may be slow on
/// purpose.
pub(super) fn sleeps(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, views) in tree.rust() {
        let from = if file.is_test() { 0 } else { views.tests_from };
        for (at, line) in
            views.code.lines().enumerate().skip(from).filter(|(_, line)| is_sleep(line))
        {
            let message = format!("a test sleeps ({}): wait for the event", line.trim());
            findings.push(Finding::line(&file.path, at + 1, message));
        }
    }
    findings
}

fn is_sleep(line: &str) -> bool {
    ["sleep(", "sleep_until(", "sleep_ms("].iter().any(|call| {
        line.match_indices(call).any(|(at, _)| {
            let before = &line[..at];
            let part_of_a_name =
                before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
            !part_of_a_name && !before.ends_with('.') && !before.ends_with("fn ")
        })
    })
}

/// Folders of one machine, written in pieces so that this file does not contain them.
const FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
/// Word in the addresses of private registries.
const MIRROR: &str = concat!("artif", "actory");
/// Text around the index address with which a lock file of cargo names the public registry.
const PUBLIC: (&str, &str) = ("registry+https://", "/crates.io-index\"");

/// Finds paths of one machine and mirrors of registries, because a clone must work on every
/// machine.
pub(super) fn machines(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            let folder = FOLDERS.iter().find(|folder| line.contains(**folder)).copied();
            let word = folder.or_else(|| line.contains(MIRROR).then_some(MIRROR));
            let message = word.map(|word| format!("contains `{word}`, which only one machine has"));
            let message = message.or_else(|| other_registry(file, line));
            findings.extend(message.map(|message| Finding::line(&file.path, at + 1, message)));
        }
    }
    findings
}

/// Returns a message for a locked package of another registry than the public one. Lock files of
/// npm name no registry, so that each machine uses its own.
fn other_registry(file: &File, line: &str) -> Option<String> {
    if file.path.ends_with("Cargo.lock") {
        let locked = line.strip_prefix("source = \"")?;
        let is_public = locked.starts_with(PUBLIC.0) && locked.ends_with(PUBLIC.1);
        return (!is_public)
            .then(|| "locks a package of another registry than the public one".into());
    }
    let is_named = file.path.ends_with("package-lock.json")
        && line.trim_start().starts_with("\"resolved\": \"http");
    is_named.then(|| "names a registry; npm omits it with omit-lockfile-registry-resolved".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_work_is_found_outside_of_strings() {
        let files = [
            ("a.rs", "//! A.\n// TODO: later\nfn a() { todo!() }\n#[ignore]\nfn b() {}\n"),
            ("b.rs", "//! B.\nconst WORD: &str = \"TODO dbg! #[ignore\";\nfn my_todo() {}\n"),
            ("c.toml", "# FIXME\n"),
        ];
        let expected = [("a.rs", 2), ("a.rs", 3), ("a.rs", 4), ("c.toml", 1)];
        let expected = expected.map(|(path, line)| (path.to_owned(), Some(line)));
        assert_eq!(Tree::found(&files, unfinished), expected);
    }

    #[test]
    fn only_sleeps_in_tests_are_found() {
        let files = [
            (
                "crates/a/src/a.rs",
                "sleep(x);\n#[cfg(test)]\nmod tests {\n    tokio::time::sleep(x).await;\n}\n",
            ),
            (
                "crates/a/tests/it/a.rs",
                "std::thread::sleep(x);\nctx.sleep(x);\nfn sleep(x: u8) {}\n",
            ),
            ("crates/testkit/src/slow.rs", "tokio::time::sleep(x).await;\n"),
        ];
        let expected = [
            ("crates/a/src/a.rs".to_owned(), Some(4)),
            ("crates/a/tests/it/a.rs".to_owned(), Some(1)),
        ];
        assert_eq!(Tree::found(&files, sleeps), expected);
    }

    #[test]
    fn machine_paths_and_other_registries_are_found() {
        let path = format!("see {}main/x\n", FOLDERS[0]);
        let private = "source = \"registry+https://example.com/index\"\n";
        let public = format!("source = \"{}example.com{}\n", PUBLIC.0, PUBLIC.1);
        let npm = "  \"resolved\": \"https://example.com/buf.tgz\"\n";
        let files = [
            ("docs/a.md", path.as_str()),
            ("Cargo.lock", private),
            ("b/Cargo.lock", &public),
            ("clients/package-lock.json", npm),
        ];
        let paths: Vec<_> =
            Tree::found(&files, machines).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["docs/a.md", "Cargo.lock", "clients/package-lock.json"]);
    }
}
