//! Addresses of pages: by slug below the server's own URL, or at the root of a custom domain.
//! Links, cookie paths and feed URLs follow from them. The server's host router determines the
//! domain of a request and inserts a [`PageDomain`] into it.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;
use rules::DomainName;
use rules::field::Shape;
use rules::tables::STATUS_PAGE;

/// Path prefix of pages addressed by slug.
pub(crate) const PATH_PREFIX: &str = "/status/";
/// Name of the route parameter of the slug.
pub(super) const SLUG: &str = "slug";
const SLUG_SHAPE: Shape = STATUS_PAGE.shape_of(SLUG);

/// How a visitor addresses a page.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PageAddress {
    /// By its slug, below [`PATH_PREFIX`].
    Slug(String),
    /// By its custom domain, in the normalized form of lookups. All paths at that host belong to
    /// the page.
    Domain(String),
}

/// Custom domain of a request, stored in its extensions. It is in the normalized form of lookups,
/// see [`rules::DomainName`].
#[derive(Clone, Debug)]
pub struct PageDomain(pub String);

/// Token in a path, as sent by the visitor.
#[derive(Clone, Debug)]
pub(crate) struct TokenSegment(pub(crate) String);

impl PageAddress {
    /// Returns the prefix of all paths of the page: `/status/acme`, or nothing at a custom domain.
    pub(crate) fn base(&self) -> String {
        match self {
            Self::Slug(slug) => format!("{PATH_PREFIX}{slug}"),
            Self::Domain(_) => String::new(),
        }
    }

    /// Returns the path of the page and its cookies: `/status/acme` or `/`.
    pub(crate) fn home(&self) -> String {
        home(&self.base()).to_owned()
    }

    /// Returns the absolute URL of the page without a trailing slash. `origin` is the public URL of
    /// the server. If it is unknown, only the path is returned.
    pub fn url(&self, origin: Option<&str>) -> String {
        match self {
            Self::Slug(_) => format!("{}{}", origin.unwrap_or_default(), self.base()),
            Self::Domain(domain) => format!("https://{domain}"),
        }
    }

    /// Returns whether this is an address of the page with this slug and custom domain.
    pub(super) fn is_address_of(&self, page_slug: &str, page_domain: Option<&DomainName>) -> bool {
        match self {
            Self::Slug(slug) => slug == page_slug,
            Self::Domain(name) => page_domain.is_some_and(|domain| domain.as_str() == name),
        }
    }

    /// Returns whether the address is valid. An invalid slug is not looked up.
    pub fn is_valid(&self) -> bool {
        match self {
            Self::Slug(slug) => SLUG_SHAPE.takes(slug),
            // The domain was matched against those in the database.
            Self::Domain(_) => true,
        }
    }
}

/// Returns the path of the page itself below `base`.
pub(super) const fn home(base: &str) -> &str {
    if base.is_empty() { "/" } else { base }
}

impl<S: Send + Sync> FromRequestParts<S> for PageAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        if let Some(slug) = path_parameter(parts, state, |name| name == SLUG).await {
            return Ok(Self::Slug(slug));
        }
        let domain = parts.extensions.get::<PageDomain>();
        // A request with neither names no page. No page has an empty slug.
        Ok(domain.map_or(Self::Slug(String::new()), |PageDomain(name)| Self::Domain(name.clone())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for TokenSegment {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self(path_parameter(parts, state, |name| name != SLUG).await.unwrap_or_default()))
    }
}

/// Returns the first route parameter whose name satisfies the predicate.
async fn path_parameter<S: Send + Sync>(
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
    fn links_start_at_slug_path_or_domain_root() {
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
    fn invalid_slug_is_not_looked_up() {
        let (_, most) = SLUG_SHAPE.characters().unwrap();
        let slug = |text: &str| PageAddress::Slug(text.to_owned()).is_valid();
        assert!(slug("acme") && slug(&"a".repeat(most as usize)));
        for never in ["", "\0", "Acme", "a b", "../acme", &"a".repeat(most as usize + 1)] {
            assert!(!slug(never), "{never}");
        }
    }
}
