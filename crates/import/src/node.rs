//! The tree of a configuration file, and its text as YAML. Only block style is written, and every
//! text that YAML could read as something else is quoted.

use std::fmt::Write as _;

/// Spaces of one level.
const INDENT: usize = 2;

/// A value of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Integer(i64),
    Bool(bool),
    /// Name of the environment variable that holds the text.
    Environment(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl Node {
    /// Returns the map of the fields that have a value.
    pub(crate) fn map(fields: impl IntoIterator<Item = (impl Into<String>, Option<Self>)>) -> Self {
        let set = fields.into_iter().filter_map(|(name, node)| Some((name.into(), node?)));
        Self::Map(set.collect())
    }

    /// Returns the YAML of a document.
    pub(crate) fn to_yaml(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, text: &mut String, indent: usize) {
        match self {
            Self::Map(fields) => {
                for (index, (name, node)) in fields.iter().enumerate() {
                    // The first field follows the dash of its item.
                    if index > 0 || text.is_empty() || text.ends_with('\n') {
                        push_spaces(text, indent);
                    }
                    push_scalar(text, name);
                    text.push(':');
                    node.write_after_key(text, indent);
                }
            }
            Self::List(items) => {
                for item in items {
                    push_spaces(text, indent);
                    text.push_str("- ");
                    item.write_inline(text, indent + INDENT);
                }
            }
            Self::Text(_) | Self::Integer(_) | Self::Bool(_) | Self::Environment(_) => {
                self.write_inline(text, indent);
            }
        }
    }

    fn write_after_key(&self, text: &mut String, indent: usize) {
        match self {
            Self::Map(fields) if !fields.is_empty() => {
                text.push('\n');
                self.write(text, indent + INDENT);
            }
            Self::List(items) if !items.is_empty() => {
                text.push('\n');
                self.write(text, indent + INDENT);
            }
            Self::Map(_)
            | Self::List(_)
            | Self::Text(_)
            | Self::Integer(_)
            | Self::Bool(_)
            | Self::Environment(_) => {
                text.push(' ');
                self.write_inline(text, indent);
            }
        }
    }

    fn write_inline(&self, text: &mut String, indent: usize) {
        match self {
            Self::Text(value) => push_scalar(text, value),
            Self::Integer(number) => write!(text, "{number}").expect("a string takes all writes"),
            Self::Bool(value) => text.push_str(if *value { "true" } else { "false" }),
            Self::Environment(name) => {
                text.push_str("{env: ");
                push_scalar(text, name);
                text.push('}');
            }
            Self::Map(fields) if fields.is_empty() => text.push_str("{}"),
            Self::List(items) if items.is_empty() => text.push_str("[]"),
            Self::Map(_) => return self.write(text, indent),
            Self::List(_) => {
                text.push('\n');
                return self.write(text, indent);
            }
        }
        text.push('\n');
    }
}

fn push_spaces(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

/// Writes a text, quoted unless it is a word that no YAML parser reads as anything else.
fn push_scalar(text: &mut String, value: &str) {
    if is_plain(value) {
        text.push_str(value);
        return;
    }
    text.push('"');
    for character in value.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            _ if must_escape(character) => {
                let code = u32::from(character);
                let written = if code > 0xffff {
                    write!(text, "\\U{code:08x}")
                } else {
                    write!(text, "\\u{code:04x}")
                };
                written.expect("a string takes all writes");
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

/// Returns whether YAML forbids a character in a text, reads it as a line break, or an editor would not
/// show it.
fn must_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                | '\u{fffe}' | '\u{ffff}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..
        )
}

fn is_plain(value: &str) -> bool {
    let is_inner =
        |character: char| character.is_ascii_alphanumeric() || "_-./@+%?=&: ".contains(character);
    let starts = value.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let is_word = starts
        && value.chars().all(is_inner)
        && !value.ends_with([':', ' '])
        && !value.contains(": ")
        && !value.contains(" :");
    let is_period = value.len() > 1
        && value.ends_with(['s', 'm', 'h'])
        && value[..value.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
    is_period || (is_word && !is_reserved(value))
}

/// Returns whether a version of YAML reads a word as null or as a boolean.
fn is_reserved(value: &str) -> bool {
    let words = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    words.iter().any(|word| word.eq_ignore_ascii_case(value))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn reads_as(node: &Node) -> Value {
        match node {
            Node::Text(text) => text.as_str().into(),
            Node::Integer(number) => (*number).into(),
            Node::Bool(value) => (*value).into(),
            Node::Environment(name) => json!({ "env": name }),
            Node::List(items) => items.iter().map(reads_as).collect(),
            Node::Map(fields) => {
                fields.iter().map(|(name, node)| (name.clone(), reads_as(node))).collect()
            }
        }
    }

    fn any_node() -> impl Strategy<Value = Node> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Node::Text),
            "[a-z0-9:# .&*!|>%@`'\"-]{0,12}".prop_map(Node::Text),
            any::<i64>().prop_map(Node::Integer),
            any::<bool>().prop_map(Node::Bool),
            "[A-Z_]{1,8}".prop_map(Node::Environment),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let fields = proptest::collection::btree_map("[a-z<:. ]{1,6}", inner.clone(), 0..4);
            let fields = fields.prop_map(|fields| {
                Node::Map(fields.into_iter().filter(|(name, _)| name != "<<").collect())
            });
            prop_oneof![proptest::collection::vec(inner, 0..4).prop_map(Node::List), fields]
        })
    }

    proptest! {
        #[test]
        fn written_yaml_reads_back_equal(node in any_node()) {
            let document = Node::Map(vec![("root".to_owned(), node)]);
            let text = document.to_yaml();
            let read = crate::yaml::read(Path::new("written.yaml"), &text);
            prop_assert_eq!(read.expect(&text), reads_as(&document), "{}", text);
        }
    }

    #[test]
    fn blocks_are_indented() {
        let item = Node::Map(vec![
            ("key".to_owned(), Node::Text("Accept".to_owned())),
            ("value".to_owned(), Node::Environment("A".to_owned())),
        ]);
        let node = Node::Map(vec![
            ("headers".to_owned(), Node::List(vec![item.clone(), item])),
            ("periodicity".to_owned(), Node::Text("30s".to_owned())),
            ("name".to_owned(), Node::Text("yes".to_owned())),
            ("url".to_owned(), Node::Text("https://example.com:80/a?b=c".to_owned())),
        ]);
        let expected = "headers:\n  - key: Accept\n    value: {env: A}\n  - key: Accept\n    value: {env: A}\n\
            periodicity: 30s\nname: \"yes\"\nurl: https://example.com:80/a?b=c\n";
        assert_eq!(node.to_yaml(), expected);
    }
}
