//! Writes HCL as `terraform fmt` leaves it: indentation, alignment, escapes. What is written belongs
//! to `export`.

/// Longest line that a list is written in.
const LINE_CHARS_MAX: usize = 100;
const INDENT: &str = "  ";

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// A text, whatever stands in it.
    Text(String),
    /// A whole number.
    Number(i64),
    /// Yes or no.
    Bool(bool),
    /// What is no text: a reference, a type, null.
    Word(String),
    /// A list or set.
    List(Vec<Expression>),
}

/// Attributes, then blocks.
#[derive(Debug, Default)]
pub(super) struct Body {
    attributes: Vec<(String, Expression)>,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    /// With its labels, as they are written.
    head: String,
    body: Body,
}

impl Body {
    /// Adds an attribute.
    pub(super) fn set(&mut self, name: impl Into<String>, value: Expression) {
        self.attributes.push((name.into(), value));
    }

    /// Adds a block of a kind with labels.
    pub(super) fn block(&mut self, kind: &str, labels: &[&str], body: Self) {
        let labels = labels.iter().map(|label| format!(" {}", quoted(label)));
        self.blocks.push(Block { head: kind.to_owned() + &labels.collect::<String>(), body });
    }

    /// The text, with a line break at its end; empty where there is nothing.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, text: &mut String) {
        let indent = INDENT.repeat(depth);
        self.write_attributes(&indent, text);
        for (at, Block { head, body }) in self.blocks.iter().enumerate() {
            if at > 0 || !self.attributes.is_empty() {
                text.push('\n');
            }
            text.extend([&indent, head, " {\n"]);
            body.write(depth + 1, text);
            text.extend([&indent, "}\n"]);
        }
    }

    /// Equals signs stand below each other in neighbouring lines; a list of several lines parts them.
    fn write_attributes(&self, indent: &str, text: &mut String) {
        let lines: Vec<_> = self
            .attributes
            .iter()
            .map(|(name, value)| (name.as_str(), in_line(value), value))
            .collect();
        let long = |(name, line, value): &(&str, String, &Expression)| {
            matches!(value, Expression::List(_))
                && indent.len() + name.len() + line.chars().count() > LINE_CHARS_MAX
        };
        for run in lines.chunk_by(|one, next| !long(one) && !long(next)) {
            let width = run.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
            for line @ (name, written, value) in run {
                let written = if long(line) { in_lines(value, indent) } else { written.clone() };
                let name = format!("{name:<width$}");
                text.extend([indent, &name, " = ", &written, "\n"]);
            }
        }
    }
}

/// A text in quotes, in which nothing is an expression.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut characters = text.chars().peekable();
    let mut before = None;
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // Doubled, it is itself; of three, nobody knows which two belong together.
            '$' | '%' if characters.peek() == Some(&'{') => {
                if before == Some(character) {
                    quoted.push_str(&unicode(character));
                } else {
                    quoted.extend([character, character]);
                }
            }
            unseen if is_unseen(unseen) => quoted.push_str(&unicode(unseen)),
            seen => quoted.push(seen),
        }
        before = Some(character);
    }
    quoted.push('"');
    quoted
}

fn in_line(value: &Expression) -> String {
    match value {
        Expression::Text(text) => quoted(text),
        Expression::Number(number) => number.to_string(),
        Expression::Bool(flag) => flag.to_string(),
        Expression::Word(word) => word.clone(),
        Expression::List(elements) => {
            format!("[{}]", elements.iter().map(in_line).collect::<Vec<_>>().join(", "))
        }
    }
}

/// A list with an element a line.
fn in_lines(value: &Expression, indent: &str) -> String {
    let Expression::List(elements) = value else { return in_line(value) };
    let lines = elements.iter().map(|it| format!("{indent}{INDENT}{},\n", in_line(it)));
    format!("[\n{}{indent}]", lines.collect::<String>())
}

/// Whether a reader of the file would not see that this is there, or see another order.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn unicode(character: char) -> String {
    format!("\\u{:04x}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_an_expression_or_ends_early() {
        for (text, written) in [
            ("", r#""""#),
            ("a \"b\" \\c", r#""a \"b\" \\c""#),
            ("a\r\n\tb\u{7}", r#""a\r\n\tb\u0007""#),
            ("${a} %{if b} $ % {", r#""$${a} %%{if b} $ % {""#),
            ("$${a} $%{ %%{", r#""$\u0024{a} $%%{ %\u0025{""#),
            ("für 監視 🚀", r#""für 監視 🚀""#),
            ("a\u{202e}b\u{2028}", r#""a\u202eb\u2028""#),
        ] {
            assert_eq!(quoted(text), written);
        }
    }

    #[test]
    fn equals_signs_stand_below_each_other_and_blocks_apart() {
        let texts = |count: usize| {
            Expression::List((0..count).map(|_| Expression::Text("region".to_owned())).collect())
        };
        let mut inner = Body::default();
        inner.set("key", Expression::Text("A".to_owned()));
        let mut body = Body::default();
        body.set("a", Expression::Number(-1));
        body.set("regions", texts(2));
        body.set("long", texts(11));
        body.set("reference", Expression::Word("a.b.id".to_owned()));
        body.set("c", Expression::Bool(false));
        body.block("headers", &[], inner);
        let mut root = Body::default();
        root.block("resource", &["kind", "name"], body);
        insta::assert_snapshot!(root.text(), @r#"
        resource "kind" "name" {
          a       = -1
          regions = ["region", "region"]
          long = [
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
            "region",
          ]
          reference = a.b.id
          c         = false

          headers {
            key = "A"
          }
        }
        "#);
    }
}
