//! Plain English: expressions that read like a translation, in comments and documents; the form of test
//! names; the form of commit subjects. The house style explains the rules, [`EXCEPTIONS`] the exceptions.

mod paragraphs;

use std::sync::LazyLock;

use regex::Regex;

use self::paragraphs::{Paragraph, of_comments, of_markdown};
use super::Finding;
use super::tree::{File, Tree};
use crate::shell;

/// The most words of a test's name.
const WORDS_OF_A_TEST: usize = 8;
/// The most characters of a commit subject.
const CHARACTERS_OF_A_SUBJECT: usize = 72;
/// Commits before this time are history and stay as they are.
const SUBJECTS_SINCE: &str = "2026-11-26T00:00:00Z";

/// A kind of expression and the way out.
struct Expression {
    pattern: LazyLock<Regex>,
    way_out: &'static str,
}

/// Text that an expression finds although it is plain English.
struct Exception {
    path: &'static str,
    text: &'static str,
    /// Why the text is right as it is.
    #[expect(dead_code, reason = "the next reader needs it, the check does not")]
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[];

static EXPRESSIONS: [Expression; 8] = [
    Expression {
        pattern: LazyLock::new(|| {
            regex(r"(?:^|[.;:] )(?:What|Who|Whom|Whose|Whoever|Whatever) [a-z][^?.;:]*(?:[.;:]|$)")
        }),
        way_out: "name the actor or the thing as the subject",
    },
    Expression {
        pattern: LazyLock::new(|| regex(r"(?:^|[.;] )(?:Of|That) [a-z]+ ")),
        way_out: "begin with the subject",
    },
    Expression {
        pattern: LazyLock::new(|| {
            regex(r"(?:\b(?:and|but|by|for|from|of|or|than|to|until|with)|[;:]) who [a-z]")
        }),
        way_out: "name the person before `who`",
    },
    Expression {
        pattern: LazyLock::new(|| {
            regex(r"\b(?:that|which|what|it) (?:is|are|was|were) no(?:ne)?\b(?: longer)?")
        }),
        way_out: "say `not`, or `does not exist`",
    },
    Expression {
        pattern: LazyLock::new(|| regex(r"\b(?:is|are|was|were|be|been) (?:told|heard|said)\b")),
        way_out: "say who sends, records or shows it",
    },
    Expression {
        pattern: LazyLock::new(|| {
            regex(
                r"\bwhere (?:there|it|that|none|nothing|nobody|one|they) (?:is|are|was|were|has|does|do)\b",
            )
        }),
        way_out: "say `if`",
    },
    Expression {
        pattern: LazyLock::new(|| {
            regex(
                r"\b(?:stands?|stood|lies|lay) (?:in|on|at|there|below|beside|behind|above|with)\b",
            )
        }),
        way_out: "say `is`",
    },
    Expression {
        pattern: LazyLock::new(|| {
            regex(r", also (?:after|at|by|for|if|in|of|on|to|when|where|with)\b")
        }),
        way_out: "make it a sentence of its own, or say `even`",
    },
];

static TEST_NAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:what|who|whom|whose|whoever|whatever|where|of|that|which)_|_(?:what|who|whom|none|anew|told|heard|said)(?:_|$)",
    )
});

static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^[^:]+: (?:what|who|whom|where|when|how|that|of|a|an|the|no|only|its|one)\b|\b(?:is|are|was|were|has|have|may)\b",
    )
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the expressions of this file compile")
}

/// Checks that comments and documents are plain English.
pub(super) fn expressions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| !file.is_generated()) {
        for paragraph in paragraphs(file) {
            let found =
                EXPRESSIONS.iter().filter_map(|expression| hit(file, &paragraph, expression));
            findings.extend(found.map(|text| Finding::line(&file.path, paragraph.line, text)));
        }
    }
    findings
}

/// Returns the paragraphs that people read in a file: comments of sources, all of a document.
fn paragraphs(file: &File) -> Vec<Paragraph> {
    match (&file.rust, file.ending()) {
        (Some(views), _) => of_comments(&views.comments, &["///", "//!", "//"]),
        (None, "proto" | "ts" | "js") => of_comments(&file.text, &["//"]),
        (None, "toml" | "yaml") => of_comments(&file.text, &["#"]),
        (None, "md") => of_markdown(&file.text),
        (None, _) => Vec::new(),
    }
}

fn hit(file: &File, paragraph: &Paragraph, expression: &Expression) -> Option<String> {
    let mut found = expression.pattern.find_iter(&paragraph.text).map(|hit| hit.as_str());
    let excepted = |text: &str| {
        EXCEPTIONS.iter().any(|known| known.path == file.path && text.contains(known.text))
    };
    let text = found.find(|text| !text.ends_with(" longer") && !excepted(text))?;
    Some(format!("`{}` reads like a translation: {}", text.trim(), expression.way_out))
}

/// Checks that test names are short and plain.
pub(super) fn test_names(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, views) in tree.rust() {
        for (line, name) in tests_in(&views.code) {
            let words = name.split('_').count();
            let message = if words > WORDS_OF_A_TEST {
                format!(
                    "`{name}` has {words} words of {WORDS_OF_A_TEST}: say condition and outcome"
                )
            } else if TEST_NAME.is_match(name) {
                format!("`{name}` reads like a translation: say condition and outcome")
            } else {
                continue;
            };
            findings.push(Finding::line(&file.path, line, message));
        }
    }
    findings
}

/// Returns the functions marked as tests, with their lines.
fn tests_in(code: &str) -> Vec<(usize, &str)> {
    let mut is_marked = false;
    let mut found = Vec::new();
    for (at, line) in code.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_marked = true;
        }
        let name = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
        if let Some((name, _)) = name.filter(|_| is_marked) {
            found.push((at + 1, name));
            is_marked = false;
        }
    }
    found
}

/// Checks that subjects of commits say area, verb and object. A clone without history has nothing to check.
pub(super) fn subjects(_: &Tree) -> Vec<Finding> {
    let since = format!("--since={SUBJECTS_SINCE}");
    let log = shell::output("git", &["log", "--no-merges", "--format=%h %s", &since]);
    let log = log.unwrap_or_default();
    let lines = log.lines().filter_map(|line| line.split_once(' '));
    lines
        .filter_map(|(commit, subject)| {
            let message = wrong_subject(subject)?;
            Some(Finding::file(&format!("commit {commit}"), format!("`{subject}`: {message}")))
        })
        .collect()
}

fn wrong_subject(subject: &str) -> Option<String> {
    if subject.chars().count() > CHARACTERS_OF_A_SUBJECT {
        return Some(format!("more than {CHARACTERS_OF_A_SUBJECT} characters"));
    }
    let Some((_, rest)) = subject.split_once(": ") else {
        return Some("write `area: verb object`".to_owned());
    };
    if rest.starts_with(char::is_uppercase) || subject.ends_with('.') {
        return Some("begin with a small letter and end without a full stop".to_owned());
    }
    SUBJECT.is_match(subject).then(|| "begin with an imperative verb".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(files: &[(&str, &str)], check: fn(&Tree) -> Vec<Finding>) -> Vec<usize> {
        Tree::found(files, check).into_iter().filter_map(|(_, line)| line).collect()
    }

    #[test]
    fn translated_comments_are_found() {
        let source = "//! A.\n\n/// What is kept of it.\nfn a() {}\n// Asks, also of who is told,\n// twice.\nfn b() {}\n// What is it?\nconst C: &str = \"What is text.\";\n";
        assert_eq!(lines(&[("a.rs", source)], expressions), [3, 5, 5, 5]);
    }

    #[test]
    fn plain_comments_pass() {
        let source =
            "//! Stores results.\n\n/// Returns the key if it is no longer valid.\nfn a() {}\n";
        assert_eq!(lines(&[("a.rs", source)], expressions), Vec::<usize>::new());
    }

    #[test]
    fn fenced_blocks_and_generated_files_are_skipped() {
        let files = [
            ("docs/a.md", "# A\n\n```sh\n# What is kept.\n```\n\n- Whoever asks waits.\n"),
            ("clients/gen/a.ts", "// What is kept.\n"),
        ];
        assert_eq!(lines(&files, expressions), [7]);
    }

    #[test]
    fn test_names_are_short_and_plain() {
        let source = "//! A.\n#[test]\nfn who_asks_waits() {}\n#[tokio::test]\nasync fn a_b_c_d_e_f_g_h_i() {}\n#[test]\nfn read_key_is_refused() {}\nfn who_is_no_test() {}\n";
        assert_eq!(lines(&[("a.rs", source)], test_names), [3, 5]);
    }

    #[test]
    fn subjects_need_area_verb_and_object() {
        assert_eq!(wrong_subject("notify: repeat alerts after an hour"), None);
        for subject in [
            "Notify people",
            "judge: what is written",
            "judge: Decide",
            "judge: decide it.",
            &"x: y".repeat(20),
        ] {
            assert!(wrong_subject(subject).is_some(), "{subject}");
        }
    }
}
