//! What search engines are told: pages that everybody may see are listed unless their owner does not want
//! it, all others never. A page that is not to be listed may still be fetched: an engine that is kept from
//! reading it never reads that it should not list it either (decision 0034).

use http::{HeaderName, HeaderValue};
use rules::AccessType;
use rules::status_page::StatusPage;

/// The header that tells engines.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-robots-tag");

/// Whether search engines may list a page.
pub(super) fn is_listed(page: &StatusPage) -> bool {
    page.allow_indexing && page.settings.effective_access() == AccessType::Public
}

/// What [`HEADER`] says of a page that is not to be listed; its head says the same.
pub(super) const fn not_listed() -> HeaderValue {
    HeaderValue::from_static("noindex")
}

/// `robots.txt` of a page at its own domain.
pub(super) fn text(page: &StatusPage) -> String {
    let about =
        if is_listed(page) { "" } else { "# Please read that none of it is to be listed.\n" };
    format!("{about}User-agent: *\nDisallow:\n")
}
