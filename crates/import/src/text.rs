//! Texts of a source as they may appear in a configuration: names in one line, and keys.

use std::collections::{HashMap, HashSet};

use configuration::KEY_CHARS_MAX;

/// Space that a number needs to make a key unique.
const SUFFIX_CHARS: usize = 8;

/// Replaces everything that could break a line or control a terminal by spaces, and trims.
pub(crate) fn one_line(text: &str) -> String {
    let breaks = |character: char| character.is_control() || is_invisible(character);
    text.replace(breaks, " ").trim().to_owned()
}

/// Returns whether a character separates lines or changes the direction of writing.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns at most `max` characters, the last one an ellipsis if some are missing.
pub(crate) fn shortened(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(max.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

/// Returns a name as lower-case words joined by hyphens, or `fallback` if no letter or digit of ASCII
/// is left.
pub(crate) fn slug(name: &str, fallback: &str, max: usize) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        if slug.len() >= max {
            break;
        }
        if character.is_ascii_alphanumeric() {
            slug.push(character.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { fallback.to_owned() } else { slug.to_owned() }
}

/// The keys of one kind of resources, each taken once.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    taken: HashSet<String>,
    /// Last number of each base.
    numbers: HashMap<String, usize>,
}

impl Keys {
    /// Returns a free key made of the name. The second object of a name gets the suffix `-2`, so the
    /// same source always gets the same keys.
    pub(crate) fn take(&mut self, name: &str, fallback: &str) -> String {
        self.claim(&slug(name, fallback, KEY_CHARS_MAX - SUFFIX_CHARS))
    }

    /// Returns `base` if it is free, or else with a suffix.
    pub(crate) fn claim(&mut self, base: &str) -> String {
        if self.taken.insert(base.to_owned()) {
            return base.to_owned();
        }
        let number = self.numbers.entry(base.to_owned()).or_insert(1);
        loop {
            *number += 1;
            let key = format!("{base}-{number}");
            if self.taken.insert(key.clone()) {
                return key;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_derive_from_names() {
        let mut keys = Keys::default();
        let given = ["Shop", "shop", "../etc/passwd", "商店", "", "A  b--c!", "SHOP"];
        let taken: Vec<String> = given.iter().map(|name| keys.take(name, "monitor")).collect();
        let expected = ["shop", "shop-2", "etc-passwd", "monitor", "monitor-2", "a-b-c", "shop-3"];
        assert_eq!(taken, expected);
    }

    #[test]
    fn long_name_gives_a_short_key() {
        let mut keys = Keys::default();
        for _ in 0..200 {
            let key = keys.take(&"x".repeat(10_000), "monitor");
            assert!(key.len() <= KEY_CHARS_MAX, "{key}");
        }
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(one_line(" a\u{1b}[31m\nb\u{202e} "), "a [31m b");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
