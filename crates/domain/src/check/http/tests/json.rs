//! Assertions on values in a body of JSON.

use proptest::prelude::*;
use rules::TextComparator::{
    self, Contains, Empty, Eq, Gt, Lt, Matches, Neq, NotContains, NotEmpty, NotMatches,
};
use rules::monitor::JsonAssertion;

use super::{a_check, assess, plan, seen};
use crate::check::findings::Findings;

fn found(body: &str, path: &str, comparator: TextComparator, target: &str) -> Findings {
    let mut check = a_check("http://example.com/");
    check.json_assertions =
        vec![JsonAssertion { path: path.to_owned(), target: target.to_owned(), comparator }];
    assess(&check, &seen(200, &[], body.to_owned()))
}

const BODY: &str = r#"{
    "status": "up", "count": 3, "ratio": 1.0, "big": 9007199254740993, "ok": true, "none": null,
    "twice": 1, "twice": 2, "list": ["a", "b"], "no_list": [], "jobs": [{"lag": 2}, {"lag": 9}]
}"#;

#[test]
fn values_are_compared_by_type() {
    for (path, comparator, target, reason) in [
        ("$.status", Eq, "up", ""),
        ("$.status", Eq, "down", "JSON `$.status` is `up`, expected to be `down`"),
        ("$.status", Neq, "up", "JSON `$.status` is `up`"),
        ("$.status", Matches, "^(up|ok)$", ""),
        ("$.status", NotMatches, "u", "JSON `$.status` is `up`, expected to not match `u`"),
        ("$.count", Eq, "3", ""),
        ("$.count", Eq, "3.0", ""),
        ("$.ratio", Eq, "1", ""),
        ("$.ratio", Neq, "1", "JSON `$.ratio` is `1`"),
        ("$.big", Eq, "9007199254740993", ""),
        (
            "$.big",
            Eq,
            "9007199254740992",
            "JSON `$.big` is `9007199254740993`, expected to be `9007199254740992`",
        ),
        ("$.count", Gt, "5", "JSON `$.count` is `3`, expected to be greater than `5`"),
        (
            "$.status",
            Gt,
            "5",
            "JSON `$.status` is `up`, which is not a number, expected to be greater than `5`",
        ),
        ("$.ok", Eq, "true", ""),
        ("$.none", Eq, "null", ""),
        ("$.none", Empty, "", ""),
        ("$.no_list", Empty, "", ""),
        ("$.list", NotEmpty, "", ""),
        ("$.list", Empty, "", "JSON `$.list` is not empty"),
        ("$.list", Eq, r#"["a","b"]"#, ""),
        ("$.list", Contains, r#""b""#, ""),
        ("$.twice", Eq, "2", ""),
    ] {
        let found = found(BODY, path, comparator, target);
        assert_eq!(found.reasons.join("; "), reason, "{path} {comparator} {target}");
        assert_eq!(found.assertions[0].passed, reason.is_empty());
    }
}

#[test]
fn several_values_match_by_any_or_all() {
    for (path, comparator, target, reason) in [
        ("$.jobs[*].lag", Gt, "5", ""),
        ("$.jobs[*].lag", Lt, "2", "JSON `$.jobs[*].lag` is `2, 9`, expected to be less than `2`"),
        ("$.jobs[?@.lag > 5]", Empty, "", "JSON `$.jobs[?@.lag > 5]` is not empty"),
        ("$.jobs[?@.lag > 10]", Empty, "", ""),
        ("$.list[*]", Neq, "c", ""),
        ("$.list[*]", Neq, "b", "JSON `$.list[*]` is `b`"),
        ("$.list[*]", NotContains, "a", "JSON `$.list[*]` contains `a`"),
    ] {
        let found = found(BODY, path, comparator, target);
        assert_eq!(found.reasons.join("; "), reason, "{path} {comparator} {target}");
    }
}

#[test]
fn large_value_is_not_compared_again_and_again() {
    let text = "a".repeat(500_000);
    let body = format!("{}\"{text}\"{}", "[".repeat(100), "]".repeat(100));
    for (comparator, target) in [(Contains, "b"), (Matches, "b"), (Eq, "b"), (Gt, "1")] {
        let found = found(&body, "$..*", comparator, target);
        assert_eq!(found.assertions[0].actual, "too large to compare", "{comparator}");
        assert!(!found.assertions[0].passed && found.reasons.len() == 1, "{comparator}");
    }
    assert!(found(&body, "$..*", Contains, "a").assertions[0].passed);
}

#[test]
fn path_without_values_satisfies_negations() {
    for comparator in TextComparator::ALL {
        let found = found(BODY, "$.nope", *comparator, "1");
        let holds = matches!(comparator, Empty | Neq | NotContains | NotMatches);
        assert_eq!(found.assertions[0].passed, holds, "{comparator}");
        assert_eq!(found.assertions[0].actual, "no value");
    }
    assert_eq!(
        found(BODY, "$.nope", Eq, "1").reasons,
        ["JSON `$.nope` has no value, expected to be `1`"]
    );
}

#[test]
fn body_that_is_not_json_fails_once() {
    let deep = "[".repeat(200);
    let many = format!("[{}]", vec!["0"; 100_000].join(","));
    for (body, reason) in [
        ("", "the body is not JSON: EOF while parsing a value at line 1 column 0"),
        ("<html>", "the body is not JSON: expected value at line 1 column 1"),
        ("{} {}", "the body is not JSON: trailing characters at line 1 column 4"),
        ("[1e999]", "the body is not JSON: number out of range at line 1 column 6"),
        (&deep, "the body is not JSON: recursion limit exceeded at line 1 column 128"),
        (&many, "the body is not JSON: it has more than 100000 values at line 1 column 199999"),
    ] {
        let mut check = a_check("http://example.com/");
        let assertion =
            JsonAssertion { path: "$.a".to_owned(), target: String::new(), comparator: Empty };
        check.json_assertions = vec![assertion.clone(), assertion];
        let found = assess(&check, &seen(200, &[], body.to_owned()));
        assert_eq!(found.reasons, [reason], "{body:.20}");
        assert!(found.assertions.iter().all(|it| !it.passed && it.actual == "not JSON"));
        assert_eq!(found.assertions.len(), 2);
    }
}

#[test]
fn truncated_body_is_undecidable() {
    let mut check = a_check("http://example.com/");
    check.json_assertions =
        vec![JsonAssertion { path: "$".to_owned(), target: "1".to_owned(), comparator: Neq }];
    assert_eq!(plan(&check).body_kept, 1_048_576);
    let mut exchange = seen(200, &[], "{}");
    exchange.body.truncated = true;
    let found = assess(&check, &exchange);
    assert_eq!(
        found.reasons,
        ["expected JSON `$` to not be `1`, but the body was too long to decide"]
    );
    exchange.body.memory_exhausted = true;
    assert!(assess(&check, &exchange).lacks_memory);
}

#[test]
fn body_is_decoded_by_its_charset() {
    let mut check = a_check("http://example.com/");
    check.json_assertions =
        vec![JsonAssertion { path: "$".to_owned(), target: "grün".to_owned(), comparator: Eq }];
    let latin = [("content-type", "application/json; charset=iso-8859-1")];
    assert!(assess(&check, &seen(200, &latin, &b"\"gr\xFCn\""[..])).reasons.is_empty());
    let marked = "\u{FEFF}\"grün\"".to_owned();
    assert!(assess(&check, &seen(200, &[], marked)).reasons.is_empty());
}

proptest! {
    #[test]
    fn assessing_any_json_never_panics(
        body in r#"[\[\]{}:,"a-c0-9.e-]{0,40}|.{0,20}"#,
        path in r"\$(\.[a-c]|\[[0-9*]\]|\.\.[a-c*]|\[\?@\.[a-c] [<>] [0-9]\]){0,4}|.{0,20}",
        target in "[a-c0-9.]{0,4}",
        which in 0..TextComparator::ALL.len(),
    ) {
        if rules::JsonPath::parse(&path).is_ok() {
            let found = found(&body, &path, TextComparator::ALL[which], &target);
            prop_assert_eq!(found.reasons.is_empty(), found.assertions[0].passed);
        }
    }
}
