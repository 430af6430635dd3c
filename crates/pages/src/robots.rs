//! Rules for search engines. Public pages are listed unless the owner opts out. Other pages are
//! never listed. A page that must not be listed can still be crawled. Otherwise a crawler could not
//! read that it must not list the page (decision 0034).

use http::{HeaderName, HeaderValue};
use rules::AccessType;
use rules::status_page::StatusPage;

/// Header with rules for search engines.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-robots-tag");

/// Returns whether search engines may list a page.
pub(super) fn is_listed(page: &StatusPage) -> bool {
    page.allow_indexing && page.settings.effective_access() == AccessType::Public
}

/// Returns the value of [`HEADER`] for a page that must not be listed. The HTML head repeats it.
pub(super) const fn not_listed() -> HeaderValue {
    HeaderValue::from_static("noindex")
}

/// Renders the `robots.txt` of a page at its custom domain.
pub(super) fn text(page: &StatusPage) -> String {
    let about = if is_listed(page) {
        ""
    } else {
        "# Search engines may read this page but must not list it (X-Robots-Tag: noindex).\n"
    };
    format!("{about}User-agent: *\nDisallow:\n")
}
