//! Durations as Go writes them: `1m30s`, `500ms`; a number counts nanoseconds.
//! Format: <https://pkg.go.dev/time#ParseDuration>

use serde_json::Value;

use crate::preview::Entry;
use crate::record::Record;

/// Nanoseconds of a second.
const NANOS: f64 = 1e9;

/// Takes a duration in seconds.
pub(super) fn take(record: &mut Record, field: &str, entry: &mut Entry) -> Option<f64> {
    let value = record.take(field)?;
    let length = seconds(&value);
    if length.is_none() {
        entry.lose(format!("`{field}: {value}`"), "give a duration such as `30s` or `5m`");
    }
    length.filter(|seconds| *seconds > 0.0)
}

/// Returns a duration in seconds.
pub(super) fn seconds(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().map(|nanos| nanos / NANOS),
        Value::String(text) => parse(text.trim()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn parse(text: &str) -> Option<f64> {
    if text == "0" {
        return Some(0.0);
    }
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits =
            rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|character: char| character.is_ascii_digit()).unwrap_or(rest.len());
        total += number * unit(&rest[..end])?;
        rest = &rest[end..];
    }
    (!text.is_empty() && f64::is_finite(total)).then_some(total)
}

fn unit(word: &str) -> Option<f64> {
    match word {
        "ns" => Some(1.0 / NANOS),
        "us" | "µs" | "μs" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn durations_of_go_are_read() {
        for (written, expected) in [
            (json!("1m30s"), Some(90.0)),
            (json!("500ms"), Some(0.5)),
            (json!("1.5h"), Some(5400.0)),
            (json!(60_000_000_000_i64), Some(60.0)),
            (json!("0"), Some(0.0)),
            (json!("60"), None),
            (json!("1 day"), None),
            (json!(""), None),
        ] {
            assert_eq!(seconds(&written), expected, "{written}");
        }
    }
}
