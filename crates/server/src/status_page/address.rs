//! Where a page is reached: by its slug below the server's own address, or at the root of a domain of
//! its own. Links, cookies' paths and the addresses in feeds follow from it. Which domain a request
//! came for is not decided here: who knows it puts a [`PageDomain`] into the request.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use rules::field::Shape;
use rules::status_page::StatusPage;
use rules::tables::STATUS_PAGE;

/// Where pages are that are named by their slug.
pub(crate) const BELOW: &str = "/status/";
/// The name that routes have for the slug.
pub(super) const SLUG: &str = "slug";
const SLUG_SHAPE: Shape = STATUS_PAGE.shape_of(SLUG);

/// How a visitor names a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PageAddress {
    /// By its slug, below [`BELOW`].
    Slug(String),
    /// By its own domain, as domains are looked up; everything at that host is of the page.
    Domain(String),
}

/// The custom domain that a request came for, in its extensions: as domains are looked up, see
/// [`rules::DomainName`].
#[derive(Clone, Debug)]
pub(crate) struct PageDomain(pub(crate) String);

/// What a route names beside the page: the day, the component and so on, as the visitor wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Named(pub(crate) String);

impl PageAddress {
    /// What stands before the rest of each path: `/status/acme`, or nothing at a domain of its own.
    pub(crate) fn base(&self) -> String {
        match self {
            Self::Slug(slug) => format!("{BELOW}{slug}"),
            Self::Domain(_) => String::new(),
        }
    }

    /// The path of the page itself, which is that of its cookies, too: `/status/acme` or `/`.
    pub(crate) fn home(&self) -> String {
        home(&self.base()).to_owned()
    }

    /// The page's address for those who read it elsewhere, without a slash at its end. `origin` is
    /// where the server is reached from outside; where that is not known, only the path is.
    pub(crate) fn url(&self, origin: Option<&str>) -> String {
        match self {
            Self::Slug(_) => format!("{}{}", origin.unwrap_or_default(), self.base()),
            Self::Domain(domain) => format!("https://{domain}"),
        }
    }

    /// Whether this is an address of the page.
    pub(super) fn is_of(&self, page: &StatusPage) -> bool {
        match self {
            Self::Slug(slug) => *slug == page.settings.slug,
            Self::Domain(name) => {
                page.settings.custom_domain_name().is_some_and(|domain| domain.as_str() == name)
            }
        }
    }

    /// Whether a page may have this address at all: what is longer or has other letters than the
    /// rules allow is not looked for.
    pub(crate) fn is_possible(&self) -> bool {
        match self {
            Self::Slug(slug) => SLUG_SHAPE.takes(slug),
            // It was recognised as one that is stored.
            Self::Domain(_) => true,
        }
    }
}

/// The path of the page itself below `base`.
pub(super) const fn home(base: &str) -> &str {
    if base.is_empty() { "/" } else { base }
}

impl<S: Send + Sync> FromRequestParts<S> for PageAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        if let Some(slug) = named(parts, state, |name| name == SLUG).await {
            return Ok(Self::Slug(slug));
        }
        let domain = parts.extensions.get::<PageDomain>();
        // Without either no page is meant, and none has an empty slug.
        Ok(domain.map_or(Self::Slug(String::new()), |PageDomain(name)| Self::Domain(name.clone())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self(named(parts, state, |name| name != SLUG).await.unwrap_or_default()))
    }
}

/// The first part of the path whose name in the route is such a one.
async fn named<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
    is_wanted: impl Fn(&str) -> bool + Send,
) -> Option<String> {
    let params = RawPathParams::from_request_parts(parts, state).await.ok()?;
    params.iter().find(|(name, _)| is_wanted(name)).map(|(_, value)| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_begin_below_the_slug_and_at_the_root_of_a_domain() {
        // issue 7: "under `/status/{slug}` (a custom domain's root)"
        let slug = PageAddress::Slug("acme".to_owned());
        assert_eq!((slug.base().as_str(), slug.home().as_str()), ("/status/acme", "/status/acme"));
        assert_eq!(slug.url(Some("https://up.example")), "https://up.example/status/acme");
        assert_eq!(slug.url(None), "/status/acme");
        let domain = PageAddress::Domain("status.acme.example".to_owned());
        assert_eq!((domain.base().as_str(), domain.home().as_str()), ("", "/"));
        assert_eq!(domain.url(Some("https://up.example")), "https://status.acme.example");
    }

    // spec: §2.5 "slug"
    #[test]
    fn what_is_no_slug_by_the_rules_is_not_looked_for() {
        let (_, most) = SLUG_SHAPE.characters().unwrap();
        let slug = |text: &str| PageAddress::Slug(text.to_owned()).is_possible();
        assert!(slug("acme") && slug(&"a".repeat(most as usize)));
        for never in ["", "\0", "Acme", "a b", "../acme", &"a".repeat(most as usize + 1)] {
            assert!(!slug(never), "{never}");
        }
    }
}
