//! The JSONPath of an assertion (RFC 9535). Refuses paths whose evaluation could take more than a few
//! passes over the document.

use serde_json::Value;

use super::FormatError;

/// Maximum depth of brackets and parentheses.
const NESTING_MAX: usize = 8;
/// Maximum number of values that a filter compares.
const FILTER_VALUES_MAX: usize = 4;

/// A JSONPath, parsed.
#[derive(Clone, Debug)]
pub struct JsonPath(serde_json_path::JsonPath);

impl JsonPath {
    /// Parses a path. The error has the position and the reason.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        if !text.starts_with('$') {
            return Err(
                "must be a JSONPath, which begins with `$`, such as `$.items[0].name`".into()
            );
        }
        cheap(text)?;
        serde_json_path::JsonPath::parse(text).map(Self).map_err(|error| {
            let before = text.get(..error.position()).unwrap_or_default();
            let character = before.chars().count() + 1;
            // Its message for what no rule of the grammar expects.
            let reason = match error.message().lines().next().unwrap_or_default().trim() {
                "parser error" => "unexpected text",
                reason => reason,
            };
            format!(
                "must be a JSONPath such as `$.items[0].name`: {reason} at character {character}"
            )
            .into()
        })
    }

    /// Returns the values at the path, in the order of the document. None is not an error.
    pub fn select<'a>(&self, document: &'a Value) -> Vec<&'a Value> {
        self.0.query(document).all()
    }
}

/// Refuses what multiplies the passes over a document: `..` twice, several selectors in one bracket, and
/// filters that start from the root or compare many values. Deep nesting would also need much stack.
fn cheap(text: &str) -> Result<(), FormatError> {
    let (mut descents, mut roots, mut compared) = (0, 0, 0);
    let mut open = Vec::new();
    let mut previous = None;
    let mut characters = text.chars().enumerate();
    while let Some((index, character)) = characters.next() {
        let at = index + 1;
        match character {
            '\'' | '"' => skip_text(&mut characters, character),
            '[' | '(' => open.push(character),
            ']' | ')' => {
                open.pop();
            }
            '.' if previous == Some('.') => descents += 1,
            '$' => roots += 1,
            '@' => compared += 1,
            ',' if open.last() == Some(&'[') => {
                return Err(expensive("several selectors in one bracket", at));
            }
            _ => {}
        }
        if open.len() > NESTING_MAX {
            return Err(expensive("more than 8 nested brackets", at));
        }
        if descents > 1 {
            return Err(expensive("a second `..`", at));
        }
        if compared > FILTER_VALUES_MAX {
            return Err(expensive("a fifth `@`", at));
        }
        if roots > 1 {
            return Err(expensive("a second `$`", at));
        }
        previous = Some(character);
    }
    Ok(())
}

/// Skips a quoted text up to its closing quote.
fn skip_text(characters: &mut impl Iterator<Item = (usize, char)>, quote: char) {
    while let Some((_, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return;
        }
    }
}

fn expensive(what: &str, at: usize) -> FormatError {
    format!("must be a simpler JSONPath, without {what} at character {at}").into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn path_selects_values_in_order() {
        let document = json!({"a": [{"b": 1, "c": "x"}, {"b": 2}], "d e": null});
        for (path, expected) in [
            ("$", json!([document])),
            ("$.a[0].b", json!([1])),
            ("$.a[-1].b", json!([2])),
            ("$.a[*].b", json!([1, 2])),
            ("$..b", json!([1, 2])),
            ("$.a[?@.b > 1].b", json!([2])),
            ("$.a[?@.c == 'x, $ .. [(']", json!([])),
            ("$['d e']", json!([null])),
            ("$.a[0:1].c", json!(["x"])),
            ("$.a[?length(@.c) == 1].b", json!([1])),
            ("$.nope", json!([])),
        ] {
            let selected = JsonPath::parse(path).unwrap().select(&document);
            assert_eq!(json!(selected), expected, "{path}");
        }
    }

    #[test]
    fn invalid_path_names_position_and_reason() {
        let refusals: Vec<String> =
            ["", "status", "$.", "$.a[", "$.a[?match(@.b, 'x')]", "$ .a b", "$.é['x"]
                .into_iter()
                .map(|path| format!("{path:?} {}", JsonPath::parse(path).unwrap_err()))
                .collect();
        insta::assert_snapshot!(refusals.join("\n"), @r#"
        "" must be a JSONPath, which begins with `$`, such as `$.items[0].name`
        "status" must be a JSONPath, which begins with `$`, such as `$.items[0].name`
        "$." must be a JSONPath such as `$.items[0].name`: in dot member name, must start with lowercase alpha or '_' at character 3
        "$.a[" must be a JSONPath such as `$.items[0].name`: unexpected text at character 4
        "$.a[?match(@.b, 'x')]" must be a JSONPath such as `$.items[0].name`: in long-hand segment, function name 'match' is not defined at character 6
        "$ .a b" must be a JSONPath such as `$.items[0].name`: unexpected text at character 5
        "$.é['x" must be a JSONPath such as `$.items[0].name`: in long-hand segment, expected an ending quote at character 7
        "#);
    }

    #[test]
    fn expensive_path_is_refused() {
        for (path, expected) in [
            ("$..a..b", "must be a simpler JSONPath, without a second `..` at character 6"),
            (
                "$['a','b']",
                "must be a simpler JSONPath, without several selectors in one bracket at character 6",
            ),
            ("$[?@.a == $.b]", "must be a simpler JSONPath, without a second `$` at character 11"),
            (
                "$..[?@==1||@==2||@==3||@==4||@==5]",
                "must be a simpler JSONPath, without a fifth `@` at character 30",
            ),
            (
                "$[?((((((((@.a))))))))]",
                "must be a simpler JSONPath, without more than 8 nested brackets at character 11",
            ),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap_err().to_string(), expected, "{path}");
        }
    }
}
