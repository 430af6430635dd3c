//! Identity of a language: its tag.

use std::hash::{Hash, Hasher};

use super::Strings;

// A language has one set of words.
impl PartialEq for Strings {
    fn eq(&self, other: &Self) -> bool {
        self.lang == other.lang
    }
}

impl Eq for Strings {}

impl Hash for Strings {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lang.hash(state);
    }
}
