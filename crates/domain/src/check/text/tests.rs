//! Text comparison: the table of design §5, and properties of any text.

use proptest::prelude::*;
use rules::TextComparator::{
    self, Contains, Empty, Eq, Gt, Gte, Lt, Lte, Neq, NotContains, NotEmpty,
};

use super::*;

// design: §5 "where the target is a number, …; otherwise text by code point"
#[test]
fn whole_texts_are_compared() {
    for (text, comparator, target, held) in [
        ("all ok", Contains, "ok", Held::Yes),
        ("all ok", Contains, "OK", Held::No),
        ("", Contains, "", Held::Yes),
        ("all ok", NotContains, "ok", Held::No),
        ("all ok", NotContains, "ko", Held::Yes),
        ("ok", Eq, "ok", Held::Yes),
        ("ok\n", Eq, "ok", Held::No),
        ("ok\n", Neq, "ok", Held::Yes),
        ("1.0", Eq, "1", Held::No),
        ("", Empty, "ignored", Held::Yes),
        (" ", Empty, "", Held::No),
        ("", NotEmpty, "", Held::No),
        (" ", NotEmpty, "", Held::Yes),
        ("9", Lt, "10", Held::Yes),
        ("10", Gt, "9", Held::Yes),
        ("-1e3", Lt, "-999.5", Held::Yes),
        (" 42\n", Gte, "42", Held::Yes),
        ("42.0", Lte, "42", Held::Yes),
        ("42", Gt, "42", Held::No),
        ("nine", Lt, "10", Held::NoNumber),
        ("", Gte, "0", Held::NoNumber),
        ("0x10", Gt, "1", Held::NoNumber),
        ("inf", Gt, "1", Held::NoNumber),
        ("b", Gt, "a", Held::Yes),
        ("B", Gt, "a", Held::No),
        ("v1.10", Lt, "v1.9", Held::Yes),
        ("ab", Gt, "a", Held::Yes),
        ("a", Gte, "a", Held::Yes),
        ("a", Lte, "a", Held::Yes),
        ("\u{FFFF}", Lt, "\u{10000}", Held::Yes),
        ("10", Gt, "9 lives", Held::No),
    ] {
        assert_eq!(
            Text::whole(text).holds(comparator, target),
            held,
            "{text:?} {comparator} {target:?}"
        );
    }
}

// design: §5 "an assertion that the rest could still change fails as undecidable"
#[test]
fn incomplete_text_decides_only_known_results() {
    for (known, comparator, target, held) in [
        ("all ok", Contains, "ok", Held::Yes),
        ("all", Contains, "ok", Held::Undecidable),
        ("all ok", NotContains, "ok", Held::No),
        ("all", NotContains, "ok", Held::Undecidable),
        ("all", Eq, "all ok", Held::Undecidable),
        ("all", Eq, "all", Held::No),
        ("all", Eq, "al", Held::No),
        ("all", Eq, "any", Held::No),
        ("all", Neq, "all ok", Held::Undecidable),
        ("all", Neq, "all", Held::Yes),
        ("all", Neq, "any", Held::Yes),
        ("all", Empty, "", Held::No),
        ("", Empty, "", Held::No),
        ("", NotEmpty, "", Held::Yes),
        ("b", Gt, "a", Held::Yes),
        ("b", Gt, "c", Held::No),
        ("b", Gt, "b", Held::Yes),
        ("b", Lte, "b", Held::No),
        ("b", Gt, "bc", Held::Undecidable),
        ("bd", Gt, "bc", Held::Yes),
        ("1", Gt, "5", Held::Undecidable),
        (" \n1e", Gt, "5", Held::Undecidable),
        ("<html>", Gt, "5", Held::NoNumber),
        ("12 monkeys", Lt, "500", Held::NoNumber),
    ] {
        let text = Text { known, goes_on: true };
        assert_eq!(text.holds(comparator, target), held, "{known:?}… {comparator} {target:?}");
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
    let told: Vec<_> = TextComparator::ALL
        .iter()
        .map(|comparator| {
            let words = words("body", *comparator, "5");
            format!("{words}: expected to {}", wish(*comparator, "5"))
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
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
"#);
}

proptest! {
    #[test]
    fn decided_beginning_equals_whole_text(
        text in "[ab1. -]{1,6}|.{1,6}", target in "[ab1. -]{0,6}|.{0,6}", cut in 0_usize..6,
    ) {
        let cut = text.char_indices().map(|(index, _)| index).nth(cut).unwrap_or(0);
        for comparator in TextComparator::ALL {
            let beginning = Text { known: &text[..cut], goes_on: true }.holds(*comparator, &target);
            if beginning != Held::Undecidable {
                let whole = Text::whole(&text).holds(*comparator, &target);
                prop_assert_eq!(beginning, whole, "{} {} {}", text, comparator, target);
            }
        }
    }

    #[test]
    fn whole_text_is_decided_and_negations_disagree(text: String, target: String) {
        let whole = Text::whole(&text);
        for comparator in TextComparator::ALL {
            prop_assert_ne!(whole.holds(*comparator, &target), Held::Undecidable);
        }
        let holds = |comparator| whole.holds(comparator, &target) == Held::Yes;
        prop_assert_ne!(holds(Contains), holds(NotContains));
        prop_assert_ne!(holds(Eq), holds(Neq));
        prop_assert_ne!(holds(Empty), holds(NotEmpty));
        if number(&target).is_none() {
            prop_assert_ne!(holds(Gt), holds(Lte));
            prop_assert_ne!(holds(Lt), holds(Gte));
        }
    }

    #[test]
    fn numbers_are_ordered_as_numbers(text in -1e9_f64..1e9, target in -1e9_f64..1e9) {
        let (text, written) = (format!("{text}"), format!("{target}"));
        let held = Text::whole(&text).holds(Gt, &written) == Held::Yes;
        prop_assert_eq!(held, text.parse::<f64>().unwrap() > target);
    }
}
