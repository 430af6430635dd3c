//! Reads YAML of a source as JSON, with the reader of configuration files: anchors, merge keys, places in
//! errors, and bounds.

use std::path::Path;

use serde_json::Value;

use crate::ImportError;
use crate::text::one_line;

/// Reads the only document of a text. An empty one is null.
pub(crate) fn read(path: &Path, text: &str) -> Result<Value, ImportError> {
    configuration::yaml_to_json(&path.display().to_string(), text).map_err(|problem| {
        let (line, column) = problem.at.map_or((1, 1), |at| (at.line, at.column));
        let problem = one_line(&problem.message);
        ImportError::Syntax { path: path.to_owned(), line, column, problem }
    })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use serde_json::json;

    use super::*;

    fn read_text(text: &str) -> Result<Value, String> {
        read(Path::new("a.yaml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn anchors_and_merge_keys_are_resolved() {
        let text =
            "a: &base {interval: 1m, n: 3}\nb:\n  <<: *base\n  n: 4\nc: [*base, '5', 6.5, yes]";
        let expected = json!({
            "a": {"interval": "1m", "n": 3},
            "b": {"n": 4, "interval": "1m"},
            "c": [{"interval": "1m", "n": 3}, "5", 6.5, "yes"],
        });
        assert_eq!(read_text(text), Ok(expected));
        assert_eq!(read_text(""), Ok(Value::Null));
    }

    #[test]
    fn plain_texts_keep_their_characters() {
        let text = "[00112233, +491701234567, 1.10, 5.0, 1e5, 12345678901234567890123, True, .5, -0, 7, -1, 6.5, true]";
        let expected = json!([
            "00112233",
            "+491701234567",
            "1.10",
            5.0,
            "1e5",
            "12345678901234567890123",
            true,
            ".5",
            "-0",
            7,
            -1,
            6.5,
            true
        ]);
        assert_eq!(read_text(text), Ok(expected));
    }

    #[test]
    fn errors_have_line_and_column() {
        for (text, expected) in [
            (
                "a: 1\na: 2",
                "`a.yaml`, line 2, column 1: has the key `a` twice; the first one is at 1:1",
            ),
            ("a:\n  - b\n c: 1", "`a.yaml`, line 3, column 2: "),
            ("? [a]\n: b", "`a.yaml`, line 1, column 3: must have a text as key"),
        ] {
            let error = read_text(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn deep_nesting_and_alias_bombs_are_rejected() {
        assert!(read_text(&"[".repeat(100)).unwrap_err().contains("nested deeper than"));
        // The scanner has another limit.
        assert!(read_text(&"[".repeat(100_000)).is_err());
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let aliases = format!("*a{}, ", level - 1).repeat(10);
            writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
        }
        assert!(read_text(&bomb).unwrap_err().contains("aliases included"));
        let text = "x".repeat(1_000_000);
        let long = format!("a: &a {text}\nb: [{}]", "*a, ".repeat(1_000));
        assert!(read_text(&long).unwrap_err().contains("aliases included"));
    }

    #[test]
    fn alias_inside_its_own_value_is_rejected() {
        assert!(read_text("a: &a [*a]").unwrap_err().contains("contains it"));
    }
}
