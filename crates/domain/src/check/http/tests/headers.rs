//! Assertions on headers.

use rules::TextComparator;
use rules::TextComparator::{
    Contains, Empty, Eq, Gt, Gte, Lt, Lte, Matches, Neq, NotContains, NotEmpty, NotMatches,
};
use rules::monitor::{HeaderAssertion, HttpCheck};

use super::{a_check, assess, seen};
use crate::check::findings::Findings;

fn with_header(key: &str, comparator: TextComparator, target: &str) -> HttpCheck {
    let mut check = a_check("http://example.com/");
    let assertion = HeaderAssertion { key: key.to_owned(), target: target.to_owned(), comparator };
    check.header_assertions = vec![assertion];
    check
}

fn found(values: &[&str], comparator: TextComparator, target: &str) -> Findings {
    let headers: Vec<_> = values.iter().map(|value| ("x-a", *value)).collect();
    assess(&with_header("X-A", comparator, target), &seen(200, &headers, ""))
}

// design: §5 "negative comparators need all of them, the others any"
#[test]
fn repeated_header_matches_by_any_or_all() {
    for (values, comparator, target, holds) in [
        (&["a", "b"][..], Eq, "b", true),
        (&["a", "b"], Eq, "a, b", false),
        (&["a", "b"], Contains, "b", true),
        (&["a", "b"], Contains, "c", false),
        (&["a", "b"], Neq, "c", true),
        (&["a", "b"], Neq, "b", false),
        (&["a", "b"], NotContains, "c", true),
        (&["a", "b"], NotContains, "b", false),
        (&["", "b"], NotEmpty, "", true),
        (&["", ""], NotEmpty, "", false),
        (&["", "b"], Empty, "", false),
        (&["", ""], Empty, "", true),
        (&["3", "7"], Gt, "5", true),
        (&["3", "7"], Lt, "5", true),
        (&["3", "4"], Gte, "5", false),
        (&["x", "7"], Gte, "7", true),
        (&["x", "y"], Lte, "7", false),
        (&["a", "b"], Matches, "^b$", true),
        (&["a", "b"], NotMatches, "^b$", false),
        (&["a", "b"], NotMatches, "c", true),
    ] {
        let found = found(values, comparator, target);
        assert_eq!(found.assertions[0].passed, holds, "{values:?} {comparator} {target}");
        assert_eq!(found.reasons.is_empty(), holds);
    }
}

// design: §5 "an absent header satisfies `empty`, `neq` and `not_contains`"
#[test]
fn absent_header_satisfies_negative_comparators() {
    for comparator in TextComparator::ALL {
        let found = found(&[], *comparator, "1");
        let holds = matches!(comparator, Empty | Neq | NotContains | NotMatches);
        assert_eq!(found.assertions[0].passed, holds, "{comparator}");
        assert_eq!(found.assertions[0].actual, "absent");
    }
    assert_eq!(
        found(&[], Contains, "a").reasons,
        ["header `X-A` is absent, expected to contain `a`"]
    );
}

#[test]
fn reasons_show_the_deciding_line() {
    for (values, comparator, target, reason) in [
        (&["a", "b"][..], Eq, "c", "header `X-A` is `a, b`, expected to be `c`"),
        (&["a", "b"], Neq, "b", "header `X-A` is `b`"),
        (&["ab", "b"], NotContains, "a", "header `X-A` contains `a`"),
        (&["", "b"], Empty, "", "header `X-A` is not empty"),
        (&[""], NotEmpty, "", "header `X-A` is empty"),
        (
            &["soon"],
            Lt,
            "5",
            "header `X-A` is `soon`, which is not a number, expected to be less than `5`",
        ),
        (&["6"], Lt, "5", "header `X-A` is `6`, expected to be less than `5`"),
    ] {
        assert_eq!(found(values, comparator, target).reasons, [reason]);
    }
}

#[test]
fn credentials_in_headers_are_compared_but_redacted() {
    let cookie = [("set-cookie", "id=hunter2")];
    for (comparator, target) in [(Eq, "id=hunter3"), (NotContains, "hunter2"), (Lt, "5")] {
        let check = with_header("Set-Cookie", comparator, target);
        let found = assess(&check, &seen(200, &cookie, ""));
        assert!(!found.assertions[0].passed);
        let debug = format!("{found:?}");
        assert!(!debug.contains("hunter") && !debug.contains("id="), "{debug}");
    }
    let location = [("location", "https://user:hunter2@example.com/")];
    let check = with_header("Location", NotContains, "example.com");
    let debug = format!("{:?}", assess(&check, &seen(200, &location, "")));
    assert!(debug.contains("https://example.com/") && !debug.contains("hunter"), "{debug}");
    let check = with_header("Set-Cookie", Contains, "hunter2");
    assert!(assess(&check, &seen(200, &cookie, "")).reasons.is_empty());
}

#[test]
fn invalid_header_name_counts_as_absent() {
    let check = with_header("no name", Empty, "");
    assert!(assess(&check, &seen(200, &[("x-a", "1")], "")).reasons.is_empty());
}
