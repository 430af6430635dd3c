//! Converts comments of the contract to `TSDoc`, with field and method names as in TypeScript.

use std::collections::BTreeSet;

use super::{camel, lower_first};

/// Converts comments to `TSDoc`.
pub(super) struct TsdocComments {
    fields: BTreeSet<String>,
    methods: BTreeSet<String>,
}

impl TsdocComments {
    /// Creates a converter for a contract with these names of fields and methods.
    pub(super) fn new((fields, methods): (BTreeSet<String>, BTreeSet<String>)) -> Self {
        Self { fields, methods }
    }

    /// Formats a comment at this depth, with a final line break. Returns an empty text for an empty
    /// comment. `words` are values that stay unchanged.
    pub(super) fn tsdoc(&self, comment: &str, words: &[&str], depth: usize) -> String {
        let indent = "  ".repeat(depth);
        let lines: Vec<String> =
            comment.trim_end().lines().map(|line| self.line(line.trim(), words)).collect();
        match lines.as_slice() {
            [] => String::new(),
            [line] => format!("{indent}/** {line} */\n"),
            lines => {
                let body: String = lines
                    .iter()
                    .map(|line| format!("{indent} * {line}").trim_end().to_owned() + "\n")
                    .collect();
                format!("{indent}/**\n{body}{indent} */\n")
            }
        }
    }

    /// Converts a line. Every second part between backticks is code. Method names occur between
    /// them.
    fn line(&self, line: &str, words: &[&str]) -> String {
        let mut pieces = Vec::new();
        for (at, piece) in line.split('`').enumerate() {
            pieces.push(if at % 2 == 0 { self.prose(piece) } else { self.code(piece, words) });
        }
        pieces.join("`").replace("*/", "*\\/")
    }

    /// Formats method names as code, as the client spells them.
    fn prose(&self, text: &str) -> String {
        let mut prose = String::with_capacity(text.len());
        for word in text.split_inclusive(|it: char| !it.is_ascii_alphanumeric()) {
            let name = word.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
            if self.methods.contains(name) {
                prose.extend([format!("`{}`", lower_first(name))]);
                prose.push_str(&word[name.len()..]);
            } else {
                prose.push_str(word);
            }
        }
        prose
    }

    fn code(&self, text: &str, words: &[&str]) -> String {
        let named = |name: &str| {
            let is_name = self.fields.contains(name) && !words.contains(&name);
            if is_name { camel(name) } else { name.to_owned() }
        };
        // Matches paths and lists of names, such as `name,monitor_ids`.
        let names = text.split_inclusive([',', '.']);
        names
            .map(|part| {
                let name = part.trim_end_matches([',', '.']);
                named(name) + &part[name.len()..]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(comment: &str, words: &[&str]) -> String {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let fields = names(&["page_token", "quiet_hours", "monitor_ids", "name"]);
        TsdocComments::new((fields, names(&["GetMonitor"]))).tsdoc(comment, words, 1)
    }

    #[test]
    fn only_fields_and_methods_are_renamed() {
        let comment = " See GetMonitor: `name,monitor_ids` of `page_token`, or `quiet_hours`.\n";
        let expected =
            "  /** See `getMonitor`: `name,monitorIds` of `pageToken`, or `quiet_hours`. */\n";
        assert_eq!(written(comment, &["quiet_hours"]), expected);
    }

    #[test]
    fn multi_line_comments_keep_their_lines() {
        assert_eq!(written(" One.\n\n Two.\n", &[]), "  /**\n   * One.\n   *\n   * Two.\n   */\n");
        assert_eq!(written("", &[]), "");
    }
}
