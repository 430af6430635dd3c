//! Writes HCL in the format of `terraform fmt`: indentation, alignment, escapes. Leaves the content
//! to `export`.

use contract::hcl::quoted;

/// Maximum width of a list on one line.
const LINE_CHARS_MAX: usize = 100;
const INDENT: &str = "  ";

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// Any text, quoted and escaped.
    Text(String),
    Number(i64),
    Bool(bool),
    /// Unquoted word: a reference, a type, or null.
    Word(String),
    /// List or set.
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
    /// Kind and labels as written.
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

    /// Returns the text with a final line break. Empty for an empty body.
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

    /// Writes attributes. Equals signs align in adjacent lines. A list on several lines interrupts
    /// the alignment.
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

/// Formats a list with an element per line.
fn in_lines(value: &Expression, indent: &str) -> String {
    let Expression::List(elements) = value else { return in_line(value) };
    let lines = elements.iter().map(|it| format!("{indent}{INDENT}{},\n", in_line(it)));
    format!("[\n{}{indent}]", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_signs_align_and_blocks_are_separated() {
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
