//! Scalars of YAML 1.2: their types by the core schema, and how to write a text.

/// Value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scalar {
    Null,
    Bool(bool),
    /// An integer of 64 bits, and its text as written.
    Integer(i64, String),
    /// Another number than an integer of 64 bits, as written.
    Number(String),
    Text(String),
}

/// Returns the value of a scalar without quotes, by the core schema of YAML 1.2.
pub(crate) fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    let radix = |prefix, radix| {
        let digits: &str = text.strip_prefix(prefix)?;
        i64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))
    };
    if let Some(number) = radix("0o", 8).or_else(|| radix("0x", 16)) {
        return Scalar::Integer(number, text.to_owned());
    }
    if let Ok(number) = text.parse() {
        return Scalar::Integer(number, text.to_owned());
    }
    if is_number(text) {
        return Scalar::Number(text.to_owned());
    }
    Scalar::Text(text.to_owned())
}

/// Writes a text as a scalar: without quotes if it is plain for people and parsers, else in double
/// quotes.
pub(crate) fn written(text: &str) -> String {
    let begins_plain =
        text.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '/');
    let is_plain = begins_plain
        && text.chars().all(|it| it.is_alphanumeric() || " _-./:@+".contains(it))
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !is_word_of_older_versions(text)
        && plain(text) == Scalar::Text(text.to_owned());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Writes a text in double quotes.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Byte order marks, and the line breaks of older versions.
            other if other.is_control() || "\u{2028}\u{2029}\u{feff}".contains(other) => {
                let code = u32::from(other);
                quoted.extend(["\\U", &format!("{code:08x}")]);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether a parser of YAML 1.1 reads another type: a boolean, or a number of base 60.
fn is_word_of_older_versions(text: &str) -> bool {
    let words = ["y", "n", "yes", "no", "on", "off"];
    words.contains(&text.to_ascii_lowercase().as_str())
        || text.chars().all(|it| it.is_ascii_digit() || ":_.+-".contains(it))
}

fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let special = [".inf", ".Inf", ".INF"].contains(&unsigned);
    let nan = [".nan", ".NaN", ".NAN"].contains(&text);
    let digits = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    special || nan || (digits && unsigned.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_types_of_core_schema() {
        let text = |text: &str| Scalar::Text(text.to_owned());
        let integer = |number, written: &str| Scalar::Integer(number, written.to_owned());
        for (given, expected) in [
            ("", Scalar::Null),
            ("~", Scalar::Null),
            ("True", Scalar::Bool(true)),
            ("yes", text("yes")),
            ("42", integer(42, "42")),
            ("-7", integer(-7, "-7")),
            ("0x1F", integer(31, "0x1F")),
            ("0o17", integer(15, "0o17")),
            ("1e3", Scalar::Number("1e3".to_owned())),
            ("99999999999999999999", Scalar::Number("99999999999999999999".to_owned())),
            (".inf", Scalar::Number(".inf".to_owned())),
            ("30s", text("30s")),
            ("22:00", text("22:00")),
            ("inf", text("inf")),
            ("+49151", integer(49151, "+49151")),
        ] {
            assert_eq!(plain(given), expected, "{given}");
        }
    }

    #[test]
    fn ambiguous_texts_are_quoted() {
        for (given, expected) in [
            ("On call", "On call"),
            ("https://example.com/a", "https://example.com/a"),
            ("30s", "30s"),
            ("Zürich", "Zürich"),
            ("", "\"\""),
            ("yes", "\"yes\""),
            ("22:00", "\"22:00\""),
            ("123", "\"123\""),
            ("true", "\"true\""),
            ("a: b", "\"a: b\""),
            ("- a", "\"- a\""),
            ("a #b", "\"a #b\""),
            ("a\nb\"\\", "\"a\\nb\\\"\\\\\""),
            ("\u{7}", "\"\\U00000007\""),
            (" a", "\" a\""),
        ] {
            assert_eq!(written(given), expected);
        }
    }
}
