//! Keys of rendered bodies: a representation, a badge or a detail page, in a language and with the
//! links of an address. Representations are few, and all are cached. Badges and detail pages are
//! many, so their cache is limited.

use std::hash::{Hash, Hasher};

use super::super::badge::BadgeQuery;
use super::super::html::DetailKey;
use super::super::i18n::Strings;
use super::Representation;

/// Key of a rendered representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RepresentationKey {
    pub(crate) representation: Representation,
    pub(crate) locale: Locale,
}

/// Key of a rendered badge or detail page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DetailBodyKey {
    pub(crate) content: DetailContent,
    pub(crate) locale: Locale,
}

/// Badge or detail page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DetailContent {
    Badge(BadgeQuery),
    Page(DetailKey),
}

/// Language and link style of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Locale {
    pub(crate) words: &'static Strings,
    /// Whether links are those of the page's own domain.
    pub(crate) is_domain: bool,
}

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
