//! Formats comments as Markdown: JSON names of fields, links to methods and objects, tables.

use std::collections::BTreeSet;

use super::contract::{Contract, package_of};

/// Suffixes of messages that have no section of their own.
const ENDS: [&str; 2] = ["Request", "Response"];

/// Replaces words of comments.
#[derive(Debug)]
pub(super) struct Prose<'a> {
    contract: &'a Contract,
    /// Fields whose JSON name differs, except for those that are also enum values.
    fields: BTreeSet<&'a str>,
}

impl<'a> Prose<'a> {
    /// Creates a formatter. `words` are enum values, which stay unchanged.
    pub(super) fn new(contract: &'a Contract, words: &BTreeSet<&str>) -> Self {
        let messages = contract.messages.values();
        let fields = messages.flat_map(|message| &message.fields).map(|field| field.name.as_str());
        let fields = fields.filter(|name| name.contains('_') && !words.contains(name));
        Self { contract, fields: fields.collect() }
    }

    /// Formats a text for the page of `package`.
    pub(super) fn text(&self, package: &str, text: &str) -> String {
        let mut result = String::new();
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                result.push_str(&format!("`{}`", self.in_json(part)));
            } else {
                self.link(package, part, &mut result);
            }
        }
        result
    }

    /// Returns a text without links, for documents in which they lead nowhere.
    pub(super) fn plain(&self, text: &str) -> String {
        let parts = text.split('`').enumerate();
        let parts = parts.map(|(at, part)| match at % 2 {
            1 => format!("`{}`", self.in_json(part)),
            _ => part.to_owned(),
        });
        parts.collect()
    }

    /// Returns the link to an object from the page of `package`.
    #[expect(clippy::unused_self, reason = "callers use one object for all links")]
    pub(super) fn object(&self, package: &str, full: &str) -> String {
        let name = full.rsplit('.').next().unwrap_or(full);
        format!("[{name}]({})", address(package, package_of(full), name))
    }

    /// Replaces the names of fields in code, alone or in a mask, by their JSON names.
    fn in_json(&self, code: &str) -> String {
        let is_field = |name: &str| self.fields.contains(name);
        if code.split(',').any(is_field) { camel(code) } else { code.to_owned() }
    }

    fn link(&self, package: &str, part: &str, result: &mut String) {
        let mut rest = part;
        while let Some(start) = rest.find(|letter: char| letter.is_ascii_uppercase()) {
            let word = &rest[start..];
            let end = word.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
            let (word, after) = word.split_at(end.unwrap_or(word.len()));
            result.push_str(&rest[..start]);
            // Parts of words are not links.
            let inside = rest[..start].ends_with(|letter: char| letter.is_alphanumeric());
            match self.target(package, word).filter(|_| !inside) {
                Some(link) => result.push_str(&link),
                None if is_reason(word) => result.push_str(&format!("`{word}`")),
                None => result.push_str(word),
            }
            rest = after;
        }
        result.push_str(rest);
    }

    /// Returns the link for a word that names a method or an object.
    fn target(&self, package: &str, word: &str) -> Option<String> {
        // A word with a single capital may be an ordinary word at the beginning of a sentence.
        word[1..].find(|letter: char| letter.is_ascii_uppercase())?;
        let method = ENDS.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        let mut methods = self.contract.methods().filter(|it| it.name == method);
        if let Some(found) = methods.next() {
            return Some(format!("[{method}]({})", address(package, found.package(), method)));
        }
        let mut objects: Vec<_> =
            self.contract.messages.values().filter(|it| it.name() == word).collect();
        objects.sort_by_key(|message| message.package() != package);
        objects.first().map(|message| self.object(package, &message.full))
    }
}

/// Converts `snake_case` to `lowerCamelCase`.
pub(super) fn camel(snake: &str) -> String {
    let mut result = String::new();
    let mut upper = false;
    for letter in snake.chars() {
        match letter {
            '_' => upper = true,
            letter if upper => {
                result.push(letter.to_ascii_uppercase());
                upper = false;
            }
            letter => result.push(letter),
        }
    }
    result
}

/// Formats a table. Cells may contain anything on one line.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let cells = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
    let mut text = line(&cells(head)) + &line(&cells(&vec!["---"; head.len()]));
    for row in rows {
        text += &line(&row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>());
    }
    // Formats empty cells with one space.
    text.replace("|  |", "| |").replace("|  |", "| |")
}

/// Formats words as code, separated by commas.
pub(super) fn codes<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the anchor of a headline on GitHub.
pub(super) fn anchor(headline: &str) -> String {
    let kept = headline.to_lowercase();
    let kept = kept.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn address(from: &str, package: &str, name: &str) -> String {
    let anchor = anchor(name);
    if from == package { format!("#{anchor}") } else { format!("{package}.md#{anchor}") }
}

fn is_reason(word: &str) -> bool {
    rules::Reason::WORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_json_names() {
        assert_eq!(camel("uptime_1d_millionths"), "uptime1dMillionths");
        assert_eq!(camel("name,monitor_ids"), "name,monitorIds");
    }

    #[test]
    fn anchor_matches_github() {
        assert_eq!(anchor("Update masks: what changes?"), "update-masks-what-changes");
        assert_eq!(anchor("CreateHttpMonitor"), "createhttpmonitor");
    }

    #[test]
    fn bar_in_a_cell_is_escaped() {
        let shown = table(&["a", "b"], &[vec!["x|y".into(), String::new()]]);
        assert_eq!(shown, "| a | b |\n| --- | --- |\n| x\\|y | |\n");
    }
}
