//! Keys of rendered bodies: a representation, a badge or a detail page, in a language and with the
//! links of an address.

use std::hash::{Hash, Hasher};

use super::super::badge::BadgeQuery;
use super::super::html::DetailKey;
use super::super::i18n::Strings;
use super::Representation;

/// Key of a rendered body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RepresentationKey {
    pub(crate) content: RequestedContent,
    pub(crate) locale: Locale,
}

/// Language and link style of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Locale {
    pub(crate) words: &'static Strings,
    /// Whether links are those of the page's own domain.
    pub(crate) is_domain: bool,
}

/// Requested content of a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestedContent {
    /// A representation. They are few, and cached as long as the page is unchanged.
    Representation(Representation),
    /// A badge. The number of different badges and detail pages is unbounded, so their cache is
    /// limited.
    Badge(BadgeQuery),
    /// A detail page.
    Details(DetailKey),
}

impl RequestedContent {
    /// Returns the representation, or `None` if it is something else.
    pub(crate) const fn representation(&self) -> Option<Representation> {
        match self {
            Self::Representation(representation) => Some(*representation),
            Self::Badge(_) | Self::Details(_) => None,
        }
    }
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
