//! Converts names written by people to valid, readable Terraform names.

use std::collections::HashSet;

/// Maximum length taken from a name.
const CHARS_MAX: usize = 48;

/// Names already in use.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<String>);

impl Names {
    /// Returns the name, with a number appended if it is in use.
    pub(super) fn unique(&mut self, candidate: &str) -> String {
        let numbered = (2_usize..).map(|number| format!("{candidate}_{number}"));
        let name =
            std::iter::once(candidate.to_owned()).chain(numbered).find(|it| !self.0.contains(it));
        let name = name.expect("the range of numbers is larger than any set of names");
        self.0.insert(name.clone());
        name
    }
}

/// Returns the words of a text in lower case, joined by underscores. `None` if it has no ASCII
/// letter or digit.
pub(super) fn words(text: &str) -> Option<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let joined: String = words.join("_").to_ascii_lowercase().chars().take(CHARS_MAX).collect();
    let joined = joined.trim_end_matches('_');
    let first = joined.chars().next()?;
    // Terraform names must not begin with a digit.
    Some(if first.is_ascii_digit() { format!("_{joined}") } else { joined.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_words() {
        for (text, name) in [
            ("API", Some("api")),
            ("  On call <&> 24/7  ", Some("on_call_24_7")),
            ("Zahlungen für Ü", Some("zahlungen_f_r")),
            ("2xx only", Some("_2xx_only")),
            ("監視", None),
            ("", None),
        ] {
            assert_eq!(words(text).as_deref(), name, "{text}");
        }
        assert_eq!(words(&"ab ".repeat(99)).unwrap().len(), CHARS_MAX - 1);
    }

    #[test]
    fn repeated_name_gets_a_number() {
        let mut names = Names::default();
        let given = ["api", "api_2", "api", "api"].map(|candidate| names.unique(candidate));
        assert_eq!(given, ["api", "api_2", "api_3", "api_4"]);
    }
}
