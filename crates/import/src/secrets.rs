//! Secrets of a configuration: which texts are secrets, and the names of the environment variables
//! that replace them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use rules::field::{Field, Redaction, Shape};
use serde_json::Value;

/// Shortest value of a variable that the preview hides. A shorter one could be part of any word.
const HIDDEN_BYTES_MIN: usize = 4;
/// Words in names of headers, parameters and bodies whose values are secrets.
const SECRET_WORDS: [&str; 10] =
    ["auth", "bearer", "cookie", "credential", "key", "pass", "pwd", "secret", "sig", "token"];
/// Headers whose values are never secrets. The values of all others may be.
const PLAIN_HEADERS: [&str; 12] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "host",
    "origin",
    "pragma",
    "referer",
    "user-agent",
    "x-requested-with",
];

/// How secrets are written into a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretStyle {
    /// As names of environment variables.
    Named,
    /// As they are.
    Inline,
}

/// A secret and the environment variable that holds it. `Debug` does not print the value.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct NamedSecret {
    pub(crate) name: String,
    /// `None` if the source names a variable that is not set here.
    value: Option<String>,
}

/// The secrets of a configuration, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets {
    listed: Vec<NamedSecret>,
    names: BTreeSet<String>,
    /// Variables that the source itself names, by their value.
    references: HashMap<String, NamedSecret>,
    /// Texts in which the source expands a variable, each with the value of the variable.
    expanded: Vec<(String, String)>,
    /// Values of variables of the source with their names, the longest value first.
    variables: BTreeMap<(Reverse<usize>, String), String>,
}

impl std::fmt::Debug for NamedSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}=…", self.name)
    }
}

impl Secrets {
    /// Remembers that the source reads `text` from the environment variable `name`. The configuration
    /// will do the same. `is_set` tells whether `text` is its value, and not a placeholder.
    pub(crate) fn refer(&mut self, name: &str, text: &str, is_set: bool) {
        let value = is_set.then(|| text.to_owned());
        if is_set {
            self.hide_value(text, name);
        }
        self.references.insert(text.to_owned(), NamedSecret { name: name.to_owned(), value });
    }

    /// Remembers that `whole` has the value of the variable `name` in it. The configuration reads the
    /// whole text, and every part of it that has the value, from a variable of its own.
    pub(crate) fn refer_in(&mut self, whole: &str, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        self.expanded.push((whole.to_owned(), value.to_owned()));
        self.hide_value(value, name);
    }

    fn hide_value(&mut self, value: &str, name: &str) {
        self.variables.insert((Reverse(value.len()), value.to_owned()), name.to_owned());
    }

    fn is_expanded(&self, text: &str) -> bool {
        self.expanded.iter().any(|(whole, value)| {
            let in_json = Value::from(whole.as_str()).to_string();
            let is_related = || {
                whole.contains(text)
                    || text.contains(whole)
                    || text.contains(in_json.trim_matches('"'))
            };
            text.contains(value) && is_related()
        })
    }

    /// Returns whether `text` has the value of a variable of the source in it.
    pub(crate) fn has_variable(&self, text: &str) -> bool {
        self.variables.keys().any(|(_, value)| text.contains(value))
    }

    /// Replaces values of the source's variables by their names.
    pub(crate) fn hide_variables(&self, text: &mut String) {
        for ((_, value), name) in &self.variables {
            if value.len() >= HIDDEN_BYTES_MIN && text.contains(value) {
                *text = text.replace(value, &format!("${{{name}}}"));
            }
        }
    }

    /// Returns the variable that replaces `text` in the field at `path`, or `None` if it is not a secret.
    /// `label` distinguishes blocks of the same field, such as the name of a header.
    pub(crate) fn name_for(
        &mut self,
        style: SecretStyle,
        field: &Field,
        path: &str,
        label: &str,
        text: &str,
    ) -> Option<String> {
        if let Some(known) = self.references.get(text) {
            let known = known.clone();
            if style == SecretStyle::Inline && known.value.is_some() {
                return None;
            }
            if self.names.insert(known.name.clone()) {
                self.listed.push(known.clone());
            }
            return Some(known.name);
        }
        let is_secret = is_secret(field, label, text) || self.is_expanded(text);
        if style == SecretStyle::Inline || !is_secret {
            return None;
        }
        let label = if label.is_empty() { field.name } else { label };
        let base = variable(&format!("{path}_{label}"));
        let mut name = base.clone();
        let mut number = 1_usize;
        let named = |name: &str| self.references.values().any(|known| known.name == name);
        while named(&name) || !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.listed.push(NamedSecret { name: name.clone(), value: Some(text.to_owned()) });
        Some(name)
    }

    /// Returns the names of all variables, in the order of the configuration.
    pub(crate) fn names(&self) -> Vec<String> {
        self.listed.iter().map(|secret| secret.name.clone()).collect()
    }

    /// Returns the variables as lines that a shell can read. A variable whose value is unknown is a
    /// comment.
    pub(crate) fn to_lines(&self) -> String {
        let mut lines = String::new();
        for NamedSecret { name, value } in &self.listed {
            let written = match value {
                Some(value) => writeln!(lines, "{name}={}", quoted(value)),
                None => writeln!(lines, "# {name} is not set where the import ran"),
            };
            written.expect("writing to a string cannot fail");
        }
        lines
    }
}

/// Returns whether the text of a field is a secret, by its table and its content.
fn is_secret(field: &Field, label: &str, text: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    if field.sensitive || is_url_with_credentials(field, text) {
        return true;
    }
    match field.redaction {
        Redaction::Absent => !PLAIN_HEADERS.contains(&label.to_ascii_lowercase().as_str()),
        Redaction::Path => {
            url::Url::parse(text).map_or(true, |url| url.path() != "/" || url.query().is_some())
        }
        Redaction::Text => has_secret_word(text),
        Redaction::None => false,
    }
}

fn is_url_with_credentials(field: &Field, text: &str) -> bool {
    if !matches!(field.shape, Shape::HttpUrl { .. }) {
        return false;
    }
    url::Url::parse(text).is_ok_and(|url| {
        let parameter = |(name, _): (std::borrow::Cow<'_, str>, _)| has_secret_word(&name);
        !url.username().is_empty() || url.password().is_some() || url.query_pairs().any(parameter)
    })
}

fn has_secret_word(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| text.contains(word))
}

/// Returns a name for an environment variable: upper-case words joined by underscores.
fn variable(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_uppercase());
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    name.trim_end_matches('_').to_owned()
}

/// Quotes a value for POSIX shells, unless it has only characters without a meaning there.
fn quoted(value: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_./:@%+,=-".contains(character);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use rules::tables::{HTTP_MONITOR, NOTIFICATION};

    use super::*;

    #[test]
    fn secrets_are_found_by_table_and_content() {
        let block = |name: &str| &NOTIFICATION.block(name).fields[0];
        let header = &HTTP_MONITOR.block("headers").fields[1];
        let url = HTTP_MONITOR.field("url");
        for (field, label, text, expected) in [
            (block("slack"), "", "https://hooks.example/x", true),
            (block("webhook"), "", "https://example.com", false),
            (block("webhook"), "", "https://example.com/hook/1", true),
            (block("telegram"), "", "-100", false),
            (header, "Accept", "text/html", false),
            (header, "X-Anything", "1", true),
            (url, "", "https://example.com/a?b=c", false),
            (url, "", "https://ada:pw@example.com/", true),
            (url, "", "https://example.com/?access_token=x", true),
            (url, "", "https://example.com/?sv=1&sig=x", true),
            (url, "", "https://example.com/?key=x", true),
            (HTTP_MONITOR.field("body"), "", "user=a&pwd=b", true),
            (HTTP_MONITOR.field("body"), "", "{\"ping\":1}", false),
            (HTTP_MONITOR.field("body"), "", "{\"password\":1}", true),
        ] {
            assert_eq!(is_secret(field, label, text), expected, "{} {text}", field.name);
        }
    }

    #[test]
    fn generated_name_differs_from_named_ones() {
        let mut secrets = Secrets::default();
        let field = &NOTIFICATION.block("slack").fields[0];
        secrets.refer("CHANNEL_A_WEBHOOK_URL", "https://named.example/", true);
        let style = SecretStyle::Named;
        let other = secrets.name_for(style, field, "channel_a", "", "https://other.example/");
        assert_eq!(other.as_deref(), Some("CHANNEL_A_WEBHOOK_URL_2"));
        let named = secrets.name_for(style, field, "channel_b", "", "https://named.example/");
        assert_eq!(named.as_deref(), Some("CHANNEL_A_WEBHOOK_URL"));
    }

    #[test]
    fn equal_names_get_numbers() {
        let mut secrets = Secrets::default();
        let field = &NOTIFICATION.block("slack").fields[0];
        let first =
            secrets.name_for(SecretStyle::Named, field, "channel_a-b", "", "https://one.example/");
        let second =
            secrets.name_for(SecretStyle::Named, field, "channel_a_b", "", "https://it's.example/");
        assert_eq!(first.as_deref(), Some("CHANNEL_A_B_WEBHOOK_URL"));
        assert_eq!(second.as_deref(), Some("CHANNEL_A_B_WEBHOOK_URL_2"));
        let lines = "CHANNEL_A_B_WEBHOOK_URL=https://one.example/\n\
            CHANNEL_A_B_WEBHOOK_URL_2='https://it'\\''s.example/'\n";
        assert_eq!(secrets.to_lines(), lines);
    }
}
