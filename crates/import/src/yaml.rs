//! Reads YAML into JSON values: anchors, aliases, merge keys and the types of the core schema, with
//! places in errors. Bounded in depth and in the size that aliases can produce.
//! Events: saphyr-parser. Merge keys: <https://yaml.org/type/merge.html>

use std::collections::HashMap;
use std::path::Path;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};
use serde_json::{Map, Value};

use crate::ImportError;

/// Maximum nesting of lists and mappings (ours).
const DEPTH_MAX: usize = 64;
/// Maximum number of values in a file, each alias counted with its content (ours).
const VALUES_MAX: usize = 1_000_000;
/// Bytes of text that count as another value, so that the bound also limits memory (ours).
const TEXT_BYTES: usize = 64;
/// Key of a mapping whose value is merged into it.
const MERGE: &str = "<<";

/// Reads the first document of a text. An empty one is null.
pub(crate) fn read(path: &Path, text: &str) -> Result<Value, ImportError> {
    let mut reader = Reader {
        path,
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        values: 0,
        open: Vec::new(),
    };
    reader.document()
}

/// A list or mapping whose end was not read yet.
struct Open {
    anchor: usize,
    content: Collection,
}

enum Collection {
    List(Vec<Value>),
    Mapping { fields: Map<String, Value>, merged: Vec<Value>, key: Option<String> },
}

struct Reader<'a> {
    path: &'a Path,
    parser: Parser<'a, StrInput<'a>>,
    /// Values by anchor, with the number of values in each.
    anchors: HashMap<usize, (Value, usize)>,
    values: usize,
    open: Vec<Open>,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, ImportError> {
        while let Some(next) = self.parser.next_event() {
            let (event, span) = next.map_err(|error| self.syntax(&error))?;
            if let Some(whole) = self.take(event, span)? {
                return Ok(whole);
            }
        }
        Ok(Value::Null)
    }

    /// Reads an event. Returns the document once it is complete.
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<Option<Value>, ImportError> {
        match event {
            Event::Nothing
            | Event::StreamStart
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::StreamEnd => Ok(None),
            Event::Alias(anchor) => {
                let Some((value, size)) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.problem(span, "the alias refers to a value that contains it"));
                };
                self.count(size, span)?;
                self.place(value, span)
            }
            Event::Scalar(text, style, anchor, tag) => {
                let size = size_of_text(&text);
                self.count(size, span)?;
                let value = Self::scalar(&text, style, tag.as_deref());
                if anchor > 0 {
                    self.count(size, span)?;
                    self.anchors.insert(anchor, (value.clone(), size));
                }
                self.place(value, span)
            }
            Event::SequenceStart(anchor, _) => {
                self.begin(anchor, Collection::List(Vec::new()), span)
            }
            Event::MappingStart(anchor, _) => {
                let fields = Map::new();
                self.begin(
                    anchor,
                    Collection::Mapping { fields, merged: Vec::new(), key: None },
                    span,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
        }
    }

    fn begin(
        &mut self,
        anchor: usize,
        content: Collection,
        span: Span,
    ) -> Result<Option<Value>, ImportError> {
        self.count(1, span)?;
        if self.open.len() >= DEPTH_MAX {
            let problem = format!("more than {DEPTH_MAX} levels of nesting; flatten the file");
            return Err(self.problem(span, &problem));
        }
        self.open.push(Open { anchor, content });
        Ok(None)
    }

    fn end(&mut self, span: Span) -> Result<Option<Value>, ImportError> {
        let Some(Open { anchor, content }) = self.open.pop() else { return Ok(None) };
        let value = match content {
            Collection::List(items) => Value::Array(items),
            Collection::Mapping { mut fields, merged, .. } => {
                for (key, value) in merged.into_iter().flat_map(fields_of) {
                    fields.entry(key).or_insert(value);
                }
                Value::Object(fields)
            }
        };
        if anchor > 0 {
            let size = size_of(&value);
            // The anchor keeps a copy.
            self.count(size, span)?;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        self.place(value, span)
    }

    /// Adds a complete value to the innermost list or mapping.
    fn place(&mut self, value: Value, span: Span) -> Result<Option<Value>, ImportError> {
        let Some(open) = self.open.last_mut() else { return Ok(Some(value)) };
        match &mut open.content {
            Collection::List(items) => items.push(value),
            Collection::Mapping { fields, merged, key } => match key.take() {
                None => match key_of(&value) {
                    Some(name) => *key = Some(name),
                    None => return Err(self.problem(span, "a key must be a text or a number")),
                },
                Some(name) if name == MERGE => merged.push(value),
                Some(name) => {
                    if fields.insert(name.clone(), value).is_some() {
                        let problem = format!("the key `{name}` appears twice in its mapping");
                        return Err(self.problem(span, &problem));
                    }
                }
            },
        }
        Ok(None)
    }

    fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
        if tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str") {
            return Value::from(text);
        }
        match style {
            ScalarStyle::Plain => plain(text),
            ScalarStyle::SingleQuoted
            | ScalarStyle::DoubleQuoted
            | ScalarStyle::Literal
            | ScalarStyle::Folded => Value::from(text),
        }
    }

    fn count(&mut self, more: usize, span: Span) -> Result<(), ImportError> {
        self.values = self.values.saturating_add(more);
        if self.values > VALUES_MAX {
            let problem =
                format!("more than {VALUES_MAX} values, aliases included; split the file");
            return Err(self.problem(span, &problem));
        }
        Ok(())
    }

    fn syntax(&self, error: &ScanError) -> ImportError {
        let marker = error.marker();
        self.at(marker.line(), marker.col(), error.info())
    }

    fn problem(&self, span: Span, problem: &str) -> ImportError {
        self.at(span.start.line(), span.start.col(), problem)
    }

    fn at(&self, line: usize, column: usize, problem: &str) -> ImportError {
        let problem = crate::text::one_line(problem);
        ImportError::Syntax { path: self.path.to_owned(), line, column: column + 1, problem }
    }
}

/// Returns the type of a plain scalar by the core schema. A number or boolean in another form than that
/// of JSON stays a text, so that a telephone number or a version keeps all its characters.
fn plain(text: &str) -> Value {
    let typed = match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(text.parse::<f64>().ok()),
        },
    };
    let written = typed.to_string();
    if written == text { typed } else { Value::from(text) }
}

fn key_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null => Some("null".to_owned()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the fields that a merge key adds: those of a mapping, or of a list of mappings.
fn fields_of(value: Value) -> Vec<(String, Value)> {
    match value {
        Value::Object(fields) => fields.into_iter().collect(),
        Value::Array(items) => items.into_iter().flat_map(fields_of).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Returns the number of values, long texts counted several times.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size_of).sum::<usize>(),
        Value::Object(fields) => {
            let sizes = fields.iter().map(|(name, value)| size_of_text(name) + size_of(value));
            1 + sizes.sum::<usize>()
        }
        Value::String(text) => size_of_text(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}

const fn size_of_text(text: &str) -> usize {
    1 + text.len() / TEXT_BYTES
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
            "True",
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
            ("a: 1\na: 2", "`a.yaml`, line 2, column 4: the key `a` appears twice in its mapping"),
            ("a:\n  - b\n c: 1", "`a.yaml`, line 3, column 2: "),
            ("? [a]\n: b", "`a.yaml`, line 1, column 5: a key must be a text or a number"),
        ] {
            let error = read_text(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn deep_nesting_and_alias_bombs_are_rejected() {
        assert!(read_text(&"[".repeat(100)).unwrap_err().contains("levels of nesting"));
        // The scanner has a limit of its own.
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
