//! Assertions on status and body.

use proptest::prelude::*;
use rules::monitor::{HttpCheck, StatusCodeAssertion, TextAssertion};
use rules::{Method, NumberComparator, TextComparator};

use super::{a_check, assess, seen};
use crate::check::HttpObservation;

fn with_status(comparator: NumberComparator, target: u16) -> HttpCheck {
    let mut check = a_check("http://example.com/");
    check.status_code_assertions = vec![StatusCodeAssertion { target, comparator }];
    check
}

fn with_body(comparator: TextComparator, target: &str) -> HttpCheck {
    let mut check = a_check("http://example.com/");
    check.body_assertions = vec![TextAssertion { target: target.to_owned(), comparator }];
    check
}

// design: §5 "Without a status assertion the final answer must be 2xx"
#[test]
fn status_must_be_2xx_without_status_assertions() {
    let plain = a_check("http://example.com/");
    let body = with_body(TextComparator::NotContains, "error");
    for check in [&plain, &body] {
        for status in [200, 204, 299] {
            assert!(assess(check, &seen(status, &[], "")).reasons.is_empty(), "{status}");
        }
        for status in [101, 199, 300, 301, 404, 500, 999] {
            let found = assess(check, &seen(status, &[], ""));
            assert_eq!(found.reasons, [format!("status is {status}, expected 2xx")]);
        }
    }
}

// design: §5 "with status assertions they alone judge the status"
#[test]
fn status_assertions_alone_decide_the_status() {
    use NumberComparator::{Eq, Gt, Gte, Lt, Lte, Neq};
    for (comparator, target, status, reason) in [
        (Eq, 500, 500, ""),
        (Eq, 200, 500, "status is 500, expected 200"),
        (Neq, 200, 500, ""),
        (Neq, 200, 200, "status is 200, expected anything but 200"),
        (Gt, 399, 400, ""),
        (Gt, 400, 400, "status is 400, expected more than 400"),
        (Gte, 400, 400, ""),
        (Gte, 401, 400, "status is 400, expected at least 401"),
        (Lt, 401, 400, ""),
        (Lt, 400, 400, "status is 400, expected less than 400"),
        (Lte, 400, 400, ""),
        (Lte, 399, 400, "status is 400, expected at most 399"),
    ] {
        let found = assess(&with_status(comparator, target), &seen(status, &[], ""));
        assert_eq!(found.reasons.join("; "), reason);
        assert_eq!(found.assertions.len(), 1);
        assert_eq!(found.assertions[0].passed, reason.is_empty());
    }
}

// design: §5 "All assertions must hold, on the final answer"
#[test]
fn each_assertion_is_required_and_reported() {
    let mut check = with_status(NumberComparator::Lt, 500);
    check.body_assertions = ["ok", "fine", "…"]
        .map(|target| TextAssertion {
            target: target.to_owned(),
            comparator: TextComparator::Contains,
        })
        .to_vec();
    let found = assess(&check, &seen(404, &[], "all\nis ok"));
    insta::assert_debug_snapshot!(found, @r#"
    Findings {
        reasons: [
            "body does not contain `fine`",
            "body does not contain `…`",
        ],
        assertions: [
            AssertionResult {
                assertion: "status lt 500",
                passed: true,
                actual: "404",
            },
            AssertionResult {
                assertion: "body contains `ok`",
                passed: true,
                actual: "all is ok",
            },
            AssertionResult {
                assertion: "body contains `fine`",
                passed: false,
                actual: "all is ok",
            },
            AssertionResult {
                assertion: "body contains `…`",
                passed: false,
                actual: "all is ok",
            },
        ],
        lacks_memory: false,
    }
    "#);
}

#[test]
fn plain_success_allocates_no_vector() {
    let found = assess(&a_check("http://example.com/"), &seen(200, &[], "ok"));
    assert_eq!((found.reasons.capacity(), found.assertions.capacity()), (0, 0));
}

#[test]
fn final_response_is_assessed() {
    let mut exchange = seen(302, &[], "");
    exchange.hops.extend(seen(200, &[], "").hops);
    assert!(assess(&a_check("http://example.com/"), &exchange).reasons.is_empty());
}

#[test]
fn exchange_without_response_fails() {
    let check = a_check("http://example.com/");
    assert_eq!(assess(&check, &HttpObservation::default()).reasons, ["no response received"]);
}

// design: §5 "a HEAD answer's body is empty"
#[test]
fn body_of_head_response_is_empty() {
    for (comparator, holds) in [(TextComparator::Empty, true), (TextComparator::NotEmpty, false)] {
        let mut check = with_body(comparator, "");
        check.method = Method::Head;
        let mut exchange = seen(200, &[], "stray");
        exchange.body.truncated = true;
        assert_eq!(assess(&check, &exchange).assertions[0].passed, holds);
    }
}

// design: §5 "text by its charset"
#[test]
fn body_is_compared_in_its_charset() {
    let check = with_body(TextComparator::Eq, "grün");
    let latin = [("content-type", "text/plain; charset=iso-8859-1")];
    assert!(assess(&check, &seen(200, &latin, &b"gr\xFCn"[..])).reasons.is_empty());
    assert!(!assess(&check, &seen(200, &[], &b"gr\xFCn"[..])).reasons.is_empty());
}

// design: §5 "an assertion that the rest could still change fails as undecidable"
#[test]
fn undecided_assertion_on_truncated_body_fails() {
    let check = with_body(TextComparator::NotContains, "error");
    let mut exchange = seen(200, &[], "all is well");
    assert!(assess(&check, &exchange).reasons.is_empty());
    exchange.body.truncated = true;
    assert_eq!(
        assess(&check, &exchange).reasons,
        ["expected body to not contain `error`, but the body was too long to decide"]
    );
}

#[test]
fn actual_values_are_shortened() {
    let check = with_body(TextComparator::Eq, &"a".repeat(10_000));
    let found = assess(&check, &seen(200, &[], "é".repeat(10_000)));
    assert_eq!(found.assertions[0].actual.chars().count(), 128);
    assert!(found.reasons[0].chars().count() < 400, "{}", found.reasons[0]);
    assert!(found.assertions[0].assertion.chars().count() < 200);
}

proptest! {
    #[test]
    fn assessing_any_response_never_panics(
        status in 0_u16..1_000,
        content_type in "[ -~]{0,40}",
        body: Vec<u8>,
        truncated: bool,
        target: String,
        which in 0..TextComparator::ALL.len(),
    ) {
        let comparator = TextComparator::ALL[which];
        let target = if rules::Pattern::parse(&target).is_ok() { target } else { "a".to_owned() };
        let mut exchange = seen(status, &[("content-type", &content_type)], body);
        exchange.body.truncated = truncated;
        let found = assess(&with_body(comparator, &target), &exchange);
        let failing = found.assertions.iter().filter(|result| !result.passed).count();
        let status_reasons = usize::from(!(200..300).contains(&status));
        prop_assert_eq!(found.reasons.len(), failing + status_reasons);
    }

    #[test]
    fn assertion_and_negation_disagree_on_whole_body(body: Vec<u8>, target: String) {
        let exchange = seen(200, &[], body);
        let holds = |comparator| assess(&with_body(comparator, &target), &exchange).assertions[0].passed;
        for (one, other) in [
            (TextComparator::Contains, TextComparator::NotContains),
            (TextComparator::Eq, TextComparator::Neq),
            (TextComparator::Empty, TextComparator::NotEmpty),
        ] {
            prop_assert_ne!(holds(one), holds(other));
        }
    }
}
