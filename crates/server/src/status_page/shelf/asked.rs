//! Cache keys of rendered bodies: a representation, a badge or a detail page, in a language and
//! with the links of an address.

use std::hash::{Hash, Hasher};

use super::super::badge::Wish;
use super::super::html::Wanted;
use super::super::words::Words;
use super::Form;

/// Key of a rendered body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Asked {
    pub(in crate::status_page) what: What,
    pub(in crate::status_page) tongue: Tongue,
}

/// Language and link style of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Tongue {
    pub(in crate::status_page) words: &'static Words,
    /// Whether links are those of the page's own domain.
    pub(in crate::status_page) is_domain: bool,
}

/// Requested content of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) enum What {
    /// A representation. They are few, and cached as long as the page is unchanged.
    Form(Form),
    /// A badge. The number of different badges and detail pages is unbounded, so their cache is
    /// limited.
    Badge(Wish),
    /// A detail page.
    Behind(Wanted),
}

impl What {
    /// Returns the representation, or `None` if it is something else.
    pub(super) const fn form(&self) -> Option<Form> {
        match self {
            Self::Form(form) => Some(*form),
            Self::Badge(_) | Self::Behind(_) => None,
        }
    }
}

// A language has one set of words.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        self.lang == other.lang
    }
}

impl Eq for Words {}

impl Hash for Words {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lang.hash(state);
    }
}
