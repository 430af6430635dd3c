//! Converts comments of the contract to docstrings, with method names as in Python.

use std::collections::BTreeSet;

use super::snake;

/// Converts comments to docstrings.
pub(super) struct Docstrings {
    methods: BTreeSet<String>,
}

impl Docstrings {
    /// Creates a converter for a contract with these names of methods.
    pub(super) fn new(methods: BTreeSet<String>) -> Self {
        Self { methods }
    }

    /// Formats a comment as a docstring at this depth, with a final line break. Returns an empty text for
    /// an empty comment.
    pub(super) fn docstring(&self, comment: &str, depth: usize) -> String {
        block(&self.lines(comment), depth)
    }

    /// Returns the lines of a comment.
    pub(super) fn lines(&self, comment: &str) -> Vec<String> {
        comment.trim_end().lines().map(|line| self.line(line.trim())).collect()
    }

    /// Formats method names as code, as the client spells them.
    fn line(&self, line: &str) -> String {
        let mut text = String::with_capacity(line.len());
        for (at, piece) in line.split('`').enumerate() {
            if at > 0 {
                text.push('`');
            }
            // Every second part is code already.
            let quote = if at % 2 == 0 { "`" } else { "" };
            for word in piece.split_inclusive(|it: char| !it.is_ascii_alphanumeric()) {
                let name = word.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
                if self.methods.contains(name) {
                    text.extend([quote, &snake(name), quote, &word[name.len()..]]);
                } else {
                    text.push_str(word);
                }
            }
        }
        text.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")
    }
}

/// Formats lines as a docstring at this depth.
pub(super) fn block(lines: &[String], depth: usize) -> String {
    let indent = "    ".repeat(depth);
    match lines {
        [] => String::new(),
        [line] => format!("{indent}\"\"\"{}\"\"\"\n", ending(line)),
        [first, others @ ..] => {
            let line = |line: &String| format!("{indent}{line}").trim_end().to_owned() + "\n";
            let body: String = others.iter().map(line).collect();
            format!("{indent}\"\"\"{first}\n{body}{indent}\"\"\"\n")
        }
    }
}

/// Returns the end of a docstring's last line, which must not be a quote.
fn ending(line: &str) -> String {
    match line.strip_suffix('"') {
        Some(rest) => format!("{rest}\\\""),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(comment: &str) -> String {
        Docstrings::new(BTreeSet::from(["GetMonitor".to_owned()])).docstring(comment, 1)
    }

    #[test]
    fn only_methods_are_renamed() {
        let expected = "    \"\"\"See `get_monitor`: `name` of `get_monitor`.\"\"\"\n";
        assert_eq!(written(" See GetMonitor: `name` of `GetMonitor`.\n"), expected);
    }

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        assert_eq!(written(" One.\n\n Two.\n"), "    \"\"\"One.\n\n    Two.\n    \"\"\"\n");
        assert_eq!(written(r#" A \ of "b""#), "    \"\"\"A \\\\ of \"b\\\"\"\"\"\n");
        assert_eq!(written(""), "");
    }
}
