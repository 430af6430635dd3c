//! What must hold of status and body.

use proptest::prelude::*;
use rules::monitor::{HttpCheck, StatusCodeAssertion, TextAssertion};
use rules::{Method, NumberComparator, TextComparator};

use super::{a_check, assess, seen};
use crate::check::HttpSeen;

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
fn without_status_assertions_the_status_must_be_2xx() {
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
fn status_assertions_alone_judge_the_status() {
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
        assert_eq!(found.assertions[0].holds, reason.is_empty());
    }
}

// design: §5 "All assertions must hold, on the final answer"
#[test]
fn all_assertions_must_hold_and_each_is_told() {
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
            holds: true,
            seen: "404",
        },
        AssertionResult {
            assertion: "body contains `ok`",
            holds: true,
            seen: "all is ok",
        },
        AssertionResult {
            assertion: "body contains `fine`",
            holds: false,
            seen: "all is ok",
        },
        AssertionResult {
            assertion: "body contains `…`",
            holds: false,
            seen: "all is ok",
        },
    ],
}
"#);
}

#[test]
fn a_plain_success_allocates_no_vector() {
    let found = assess(&a_check("http://example.com/"), &seen(200, &[], "ok"));
    assert_eq!((found.reasons.capacity(), found.assertions.capacity()), (0, 0));
}

#[test]
fn the_final_answer_of_several_is_judged() {
    let mut exchange = seen(302, &[], "");
    exchange.hops.extend(seen(200, &[], "").hops);
    assert!(assess(&a_check("http://example.com/"), &exchange).reasons.is_empty());
}

#[test]
fn an_exchange_without_an_answer_fails() {
    let check = a_check("http://example.com/");
    assert_eq!(assess(&check, &HttpSeen::default()).reasons, ["no answer came"]);
}

// design: §5 "a HEAD answer's body is empty"
#[test]
fn the_body_of_a_head_answer_is_empty() {
    for (comparator, holds) in [(TextComparator::Empty, true), (TextComparator::NotEmpty, false)] {
        let mut check = with_body(comparator, "");
        check.method = Method::Head;
        let mut exchange = seen(200, &[], "stray");
        exchange.body.truncated = true;
        assert_eq!(assess(&check, &exchange).assertions[0].holds, holds);
    }
}

// design: §5 "text by its charset"
#[test]
fn the_body_is_compared_as_text_of_its_charset() {
    let check = with_body(TextComparator::Eq, "grün");
    let latin = [("content-type", "text/plain; charset=iso-8859-1")];
    assert!(assess(&check, &seen(200, &latin, &b"gr\xFCn"[..])).reasons.is_empty());
    assert!(!assess(&check, &seen(200, &[], &b"gr\xFCn"[..])).reasons.is_empty());
}

// design: §5 "an assertion that the rest could still change fails as undecidable"
#[test]
fn what_only_the_rest_of_a_long_body_could_say_fails_as_undecidable() {
    let check = with_body(TextComparator::NotContains, "error");
    let mut exchange = seen(200, &[], "all is well");
    assert!(assess(&check, &exchange).reasons.is_empty());
    exchange.body.truncated = true;
    assert_eq!(
        assess(&check, &exchange).reasons,
        ["expected body to not contain `error`, which the part that was not read decides"]
    );
}

#[test]
fn what_is_seen_is_shortened() {
    let check = with_body(TextComparator::Eq, &"a".repeat(10_000));
    let found = assess(&check, &seen(200, &[], "é".repeat(10_000)));
    assert_eq!(found.assertions[0].seen.chars().count(), 128);
    assert!(found.reasons[0].chars().count() < 400, "{}", found.reasons[0]);
    assert!(found.assertions[0].assertion.chars().count() < 200);
}

proptest! {
    #[test]
    fn no_answer_makes_assessing_panic(
        status in 0_u16..1_000,
        content_type in "[ -~]{0,40}",
        body: Vec<u8>,
        truncated: bool,
        target: String,
        which in 0_usize..10,
    ) {
        let comparator = TextComparator::ALL[which];
        let mut exchange = seen(status, &[("content-type", &content_type)], body);
        exchange.body.truncated = truncated;
        let found = assess(&with_body(comparator, &target), &exchange);
        let failing = found.assertions.iter().filter(|result| !result.holds).count();
        let status_reasons = usize::from(!(200..300).contains(&status));
        prop_assert_eq!(found.reasons.len(), failing + status_reasons);
    }

    #[test]
    fn an_assertion_and_its_negation_never_agree_on_a_whole_body(body: Vec<u8>, target: String) {
        let exchange = seen(200, &[], body);
        let holds = |comparator| assess(&with_body(comparator, &target), &exchange).assertions[0].holds;
        for (one, other) in [
            (TextComparator::Contains, TextComparator::NotContains),
            (TextComparator::Eq, TextComparator::Neq),
            (TextComparator::Empty, TextComparator::NotEmpty),
        ] {
            prop_assert_ne!(holds(one), holds(other));
        }
    }
}
