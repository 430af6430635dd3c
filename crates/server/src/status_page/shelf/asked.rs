//! What visitors ask of a page: one of its forms, or something behind the home page; in a language, with
//! the links of an address.

use std::hash::{Hash, Hasher};

use super::super::badge::Wish;
use super::super::html::Wanted;
use super::super::words::Words;
use super::Form;

/// What is asked of a page, and how it is to be said.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Asked {
    pub(in crate::status_page) what: What,
    pub(in crate::status_page) tongue: Tongue,
}

/// In which language something is said, and with the links of which address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) struct Tongue {
    pub(in crate::status_page) words: &'static Words,
    /// Whether that is the page's own domain.
    pub(in crate::status_page) is_domain: bool,
}

/// What is asked of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::status_page) enum What {
    /// A representation of it: there are few, and they are kept as long as it is as it is.
    Form(Form),
    /// A badge: of these and of the next there are as many as somebody thinks of.
    Badge(Wish),
    /// A page behind the home page.
    Behind(Wanted),
}

impl What {
    /// The form, where it is one.
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
