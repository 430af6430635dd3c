//! Comments of the contract as `TSDoc`: names of fields and methods as TypeScript has them.

use std::collections::BTreeSet;

use super::{camel, lower_first};

/// Turns comments into `TSDoc`.
pub(super) struct Comments {
    fields: BTreeSet<String>,
    methods: BTreeSet<String>,
}

impl Comments {
    /// Of a contract with these names of fields and methods.
    pub(super) fn new((fields, methods): (BTreeSet<String>, BTreeSet<String>)) -> Self {
        Self { fields, methods }
    }

    /// A comment at this depth, with the line break at its end; nothing of nothing. `words` are values
    /// that stay as they are.
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

    /// Every other piece between backticks is code; between them stand names of methods.
    fn line(&self, line: &str, words: &[&str]) -> String {
        let mut pieces = Vec::new();
        for (at, piece) in line.split('`').enumerate() {
            pieces.push(if at % 2 == 0 { self.prose(piece) } else { self.code(piece, words) });
        }
        pieces.join("`").replace("*/", "*\\/")
    }

    /// Names of methods become code, as the client spells them.
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
        // Paths and lists of names, such as `name,monitor_ids`.
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
        Comments::new((fields, names(&["GetMonitor"]))).tsdoc(comment, words, 1)
    }

    #[test]
    fn fields_and_methods_are_spelled_as_in_typescript_and_values_are_not() {
        let comment = " See GetMonitor: `name,monitor_ids` of `page_token`, or `quiet_hours`.\n";
        let expected =
            "  /** See `getMonitor`: `name,monitorIds` of `pageToken`, or `quiet_hours`. */\n";
        assert_eq!(written(comment, &["quiet_hours"]), expected);
    }

    #[test]
    fn several_lines_stand_below_each_other_and_none_are_nothing() {
        assert_eq!(written(" One.\n\n Two.\n", &[]), "  /**\n   * One.\n   *\n   * Two.\n   */\n");
        assert_eq!(written("", &[]), "");
    }
}
