//! Removes secrets from diagnostics. The schema marks the secret values.

use crate::Diagnostic;
use crate::value::{Number, Value};

/// Replacement of a secret.
const REDACTED: &str = "the value";

/// Removes a value and all of its parts from a diagnostic.
pub(super) fn redact(found: &mut Diagnostic, value: &Value) {
    match value {
        Value::Null | Value::Unknown(_) => {}
        Value::Bool(flag) => redact_text(found, &flag.to_string()),
        Value::Number(number) => {
            for sentence in [&mut found.summary, &mut found.detail] {
                *sentence = without_number(sentence, number);
            }
        }
        Value::String(text) => redact_text(found, text),
        Value::List(elements) | Value::Tuple(elements) => {
            for element in elements {
                redact(found, element);
            }
        }
        Value::Set(elements) => elements.iter().for_each(|element| redact(found, element)),
        // Map keys come from the configuration too, unlike the names of an object's attributes.
        Value::Map(elements) => elements.iter().for_each(|(key, element)| {
            redact_text(found, key);
            redact(found, element);
        }),
        Value::Object(object) => object.iter().for_each(|(_, value)| redact(found, value)),
        Value::Dynamic(_, inner) => redact(found, inner),
    }
}

/// Removes quoted occurrences of a text only, because a short secret may equal a word of the
/// sentence.
fn redact_text(found: &mut Diagnostic, text: &str) {
    for quoted in [format!("`{text}`"), format!("{text:?}")] {
        for sentence in [&mut found.summary, &mut found.detail] {
            *sentence = sentence.replace(&quoted, REDACTED);
        }
    }
}

/// Removes a number wherever the sentence contains it as a whole: `11` stays in `110`.
fn without_number(text: &str, number: &Number) -> String {
    let shown = number.to_string();
    if shown.contains('e') {
        return text.replace(&shown, REDACTED);
    }
    let digits = shown.trim_start_matches('-');
    let apart = |c: char| !(c.is_ascii_digit() || c == '.');
    let words = text.split_inclusive(apart).map(|word| {
        let bare = word.trim_end_matches(|c| apart(c) || c == '.');
        if bare == digits { word.replacen(bare, REDACTED, 1) } else { word.to_owned() }
    });
    let hidden: String = words.collect();
    if digits == shown { hidden } else { hidden.replace(&format!("-{REDACTED}"), REDACTED) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{IntoValue, Object};

    #[test]
    fn only_parts_of_a_secret_are_removed() {
        let key = |value: Value| Value::Map([("key".to_owned(), value)].into());
        let cases = [
            (
                11.into_value(),
                "11 is more than 110, by 11ms: (11).",
                "the value is more than 110, by the valuems: (the value).",
            ),
            ((-5).into_value(), "-5 is below 0", "the value is below 0"),
            (Value::Number("0.5".parse().unwrap()), "is 0.5.", "is the value."),
            (true.into_value(), "`true` is not so", "the value is not so"),
            (Value::list(["a", "b"]), "`a` or \"b\"", "the value or the value"),
            (Value::set(["a"]), "a is no `a`", "a is no the value"),
            (key("x".into_value()), "`key` has `x`", "the value has the value"),
            (Object::new().with("key", 7).into_value(), "`key` is 7", "`key` is the value"),
            (Value::Tuple(vec![1.into_value()]), "1 of 10", "the value of 10"),
            (Value::UNKNOWN, "`a` is 1", "`a` is 1"),
        ];
        for (value, sentence, left) in cases {
            let mut found = Diagnostic::error(sentence, sentence);
            redact(&mut found, &value);
            assert_eq!((found.summary.as_str(), found.detail.as_str()), (left, left), "{value:?}");
        }
    }
}
