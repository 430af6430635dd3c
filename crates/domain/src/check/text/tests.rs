//! Text comparison: the table of design §5, and properties of any text.

use proptest::prelude::*;
use rules::TextComparator::{
    self, Contains, Empty, Eq, Gt, Gte, Lt, Lte, Matches, Neq, NotContains, NotEmpty, NotMatches,
};

use super::*;

/// Returns the expectation. A target that is not an expression becomes `a`.
fn expected(comparator: TextComparator, target: &str) -> TextExpectation {
    TextExpectation::new(comparator, target)
        .unwrap_or_else(|_| TextExpectation::new(comparator, "a").expect("`a` is an expression"))
}

// design: §5 "where the target is a number, …; otherwise text by code point"
#[test]
fn whole_texts_are_compared() {
    for (text, comparator, target, held) in [
        ("all ok", Contains, "ok", Comparison::Yes),
        ("all ok", Contains, "OK", Comparison::No),
        ("", Contains, "", Comparison::Yes),
        ("all ok", NotContains, "ok", Comparison::No),
        ("all ok", NotContains, "ko", Comparison::Yes),
        ("ok", Eq, "ok", Comparison::Yes),
        ("ok\n", Eq, "ok", Comparison::No),
        ("ok\n", Neq, "ok", Comparison::Yes),
        ("1.0", Eq, "1", Comparison::No),
        ("", Empty, "ignored", Comparison::Yes),
        (" ", Empty, "", Comparison::No),
        ("", NotEmpty, "", Comparison::No),
        (" ", NotEmpty, "", Comparison::Yes),
        ("9", Lt, "10", Comparison::Yes),
        ("10", Gt, "9", Comparison::Yes),
        ("-1e3", Lt, "-999.5", Comparison::Yes),
        (" 42\n", Gte, "42", Comparison::Yes),
        ("42.0", Lte, "42", Comparison::Yes),
        ("42", Gt, "42", Comparison::No),
        ("nine", Lt, "10", Comparison::NotANumber),
        ("", Gte, "0", Comparison::NotANumber),
        ("0x10", Gt, "1", Comparison::NotANumber),
        ("inf", Gt, "1", Comparison::NotANumber),
        ("b", Gt, "a", Comparison::Yes),
        ("B", Gt, "a", Comparison::No),
        ("v1.10", Lt, "v1.9", Comparison::Yes),
        ("ab", Gt, "a", Comparison::Yes),
        ("a", Gte, "a", Comparison::Yes),
        ("a", Lte, "a", Comparison::Yes),
        ("\u{FFFF}", Lt, "\u{10000}", Comparison::Yes),
        ("10", Gt, "9 lives", Comparison::No),
        ("all ok", Matches, r"\bok$", Comparison::Yes),
        ("all OK", Matches, "(?i)ok", Comparison::Yes),
        ("all ok\n", Matches, "^ok$", Comparison::No),
        ("all\nok\n", Matches, "(?m)^ok$", Comparison::Yes),
        ("", Matches, "", Comparison::Yes),
        ("all ok", NotMatches, "o.", Comparison::No),
        ("all ok", NotMatches, "error|down", Comparison::Yes),
    ] {
        assert_eq!(
            Text::complete(text).compare(&expected(comparator, target).ready(&SearchBudget::new())),
            held,
            "{text:?} {comparator} {target:?}"
        );
    }
}

// design: §5 "an assertion that the rest could still change fails as undecidable"
#[test]
fn incomplete_text_decides_only_known_results() {
    for (known, comparator, target, held) in [
        ("all ok", Contains, "ok", Comparison::Yes),
        ("all", Contains, "ok", Comparison::Undecidable),
        ("all ok", NotContains, "ok", Comparison::No),
        ("all", NotContains, "ok", Comparison::Undecidable),
        ("all", Eq, "all ok", Comparison::Undecidable),
        ("all", Eq, "all", Comparison::No),
        ("all", Eq, "al", Comparison::No),
        ("all", Eq, "any", Comparison::No),
        ("all", Neq, "all ok", Comparison::Undecidable),
        ("all", Neq, "all", Comparison::Yes),
        ("all", Neq, "any", Comparison::Yes),
        ("all", Empty, "", Comparison::No),
        ("", Empty, "", Comparison::No),
        ("", NotEmpty, "", Comparison::Yes),
        ("b", Gt, "a", Comparison::Yes),
        ("b", Gt, "c", Comparison::No),
        ("b", Gt, "b", Comparison::Yes),
        ("b", Lte, "b", Comparison::No),
        ("b", Gt, "bc", Comparison::Undecidable),
        ("bd", Gt, "bc", Comparison::Yes),
        ("1", Gt, "5", Comparison::Undecidable),
        (" \n1e", Gt, "5", Comparison::Undecidable),
        ("<html>", Gt, "5", Comparison::NotANumber),
        ("12 monkeys", Lt, "500", Comparison::NotANumber),
        ("all ok and", Matches, "ok.*", Comparison::Yes),
        ("all ok", Matches, "ok$", Comparison::Undecidable),
        ("all ok", Matches, "down", Comparison::Undecidable),
        ("all ok and", NotMatches, "ok", Comparison::No),
        ("all ok", NotMatches, "down", Comparison::Undecidable),
    ] {
        let text = Text { known, has_more: true };
        assert_eq!(
            text.compare(&expected(comparator, target).ready(&SearchBudget::new())),
            held,
            "{known:?}… {comparator} {target:?}"
        );
    }
}

#[test]
fn only_decimal_numbers_parse() {
    for (text, expected) in [
        ("0", 0.0),
        ("+7", 7.0),
        ("-0.5", -0.5),
        ("007", 7.0),
        ("1e3", 1_000.0),
        ("1.5E-1", 0.15),
        ("\t12 \r\n", 12.0),
    ] {
        assert_eq!(number(text), Some(expected), "{text:?}");
    }
    for text in [
        "", "-", ".5", "5.", "1e", "1e+", "1 2", "1,000", "0x1", "NaN", "inf", "1_000", "--1",
        "１", "1.e3",
    ] {
        assert_eq!(number(text), None, "{text:?}");
    }
}

#[test]
fn assertions_and_expectations_read_as_text() {
    let reasons: Vec<_> = TextComparator::ALL
        .iter()
        .map(|comparator| {
            let words = describe("body", *comparator, "5");
            format!("{words}: expected to {}", expectation(*comparator, "5"))
        })
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
body contains `5`: expected to contain `5`
body not_contains `5`: expected to not contain `5`
body eq `5`: expected to be `5`
body neq `5`: expected to not be `5`
body empty: expected to be empty
body not_empty: expected to not be empty
body gt `5`: expected to be greater than `5`
body gte `5`: expected to be at least `5`
body lt `5`: expected to be less than `5`
body lte `5`: expected to be at most `5`
body matches `5`: expected to match `5`
body not_matches `5`: expected to not match `5`
"#);
}

proptest! {
    #[test]
    fn decided_beginning_equals_whole_text(
        text in "[ab1. -]{1,6}|.{1,6}", target in "[ab1. -]{0,6}|.{0,6}|[ab.*$|?]{1,6}", cut in 0_usize..6,
    ) {
        let cut = text.char_indices().map(|(index, _)| index).nth(cut).unwrap_or(0);
        for comparator in TextComparator::ALL {
            let beginning = Text { known: &text[..cut], has_more: true }.compare(&expected(*comparator, &target).ready(&SearchBudget::new()));
            if beginning != Comparison::Undecidable {
                let whole = Text::complete(&text).compare(&expected(*comparator, &target).ready(&SearchBudget::new()));
                prop_assert_eq!(beginning, whole, "{} {} {}", text, comparator, target);
            }
        }
    }

    #[test]
    fn whole_text_is_decided_and_negations_disagree(text: String, target: String) {
        let whole = Text::complete(&text);
        for comparator in TextComparator::ALL {
            prop_assert_ne!(whole.compare(&expected(*comparator, &target).ready(&SearchBudget::new())), Comparison::Undecidable);
        }
        let holds = |comparator| whole.compare(&expected(comparator, &target).ready(&SearchBudget::new())) == Comparison::Yes;
        prop_assert_ne!(holds(Contains), holds(NotContains));
        prop_assert_ne!(holds(Eq), holds(Neq));
        prop_assert_ne!(holds(Empty), holds(NotEmpty));
        prop_assert_ne!(holds(Matches), holds(NotMatches));
        if number(&target).is_none() {
            prop_assert_ne!(holds(Gt), holds(Lte));
            prop_assert_ne!(holds(Lt), holds(Gte));
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers(text in -1e9_f64..1e9, target in -1e9_f64..1e9) {
        let (text, written) = (format!("{text}"), format!("{target}"));
        let held = Text::complete(&text).compare(&expected(Gt, &written).ready(&SearchBudget::new())) == Comparison::Yes;
        prop_assert_eq!(held, text.parse::<f64>().unwrap() > target);
    }
}
