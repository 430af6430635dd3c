//! Keys of rendered bodies: a representation, a badge or a detail page, in a language and with the
//! links of an address. Representations are few, and all are cached. Badges and detail pages are
//! many, so their cache is limited.

use super::super::badge::BadgeQuery;
use super::super::html::DetailKey;
use super::super::i18n::Strings;
use super::Representation;

/// Key of a rendered representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RepresentationKey {
    pub(crate) representation: Representation,
    pub(crate) variant: Variant,
}

/// Key of a rendered badge or detail page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DetailBodyKey {
    pub(crate) content: DetailContent,
    pub(crate) variant: Variant,
}

/// Badge or detail page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DetailContent {
    Badge(BadgeQuery),
    Page(DetailKey),
}

/// Variant of a response: its language and the style of its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub(crate) words: &'static Strings,
    pub(crate) link_style: LinkStyle,
}

/// Style of the links in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LinkStyle {
    /// Below the path of the page's slug.
    Slug,
    /// At the root of the page's own domain.
    Domain,
}
