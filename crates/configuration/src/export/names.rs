//! Keys and names of variables, from names that people wrote.

use std::collections::HashSet;

/// Maximum length taken from a name, so that a number still fits.
const CHARS_MAX: usize = 48;

/// Names in use.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Returns the name, with a number appended if it is in use.
    pub(super) fn unique(&mut self, candidate: &str, separator: &str) -> String {
        let numbered = (2_usize..).map(|number| format!("{candidate}{separator}{number}"));
        let mut names = std::iter::once(candidate.to_owned()).chain(numbered);
        let name = names.find(|name| !self.0.contains(name));
        let name = name.expect("the range of numbers is larger than any set of names");
        self.0.insert(name.clone());
        name
    }
}

/// Returns the words of a text in lower case, joined by hyphens. `None` if it has no ASCII letter or
/// digit.
pub(super) fn key(text: &str) -> Option<String> {
    let key = words(text, "-").to_ascii_lowercase();
    let key: String = key.chars().take(CHARS_MAX).collect();
    let key = key.trim_end_matches('-');
    (!key.is_empty()).then(|| key.to_owned())
}

/// Returns the name of a variable for a path.
pub(super) fn variable(path: &str) -> String {
    let name = words(path, "_").to_ascii_uppercase();
    let begins_with_digit = name.starts_with(|first: char| first.is_ascii_digit());
    if begins_with_digit { format!("_{name}") } else { name }
}

fn words(text: &str, separator: &str) -> String {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(separator)
}
