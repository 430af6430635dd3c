//! Base URLs as people write them.

use http::Uri;
use url::Url;

/// Parses a base URL. Encodes an internationalised host name (RFC 5890) and path, which [`Uri`]
/// rejects.
pub(in crate::rpc) fn base_uri(text: &str) -> Option<Uri> {
    let has_scheme = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if !(has_scheme("http://") || has_scheme("https://"))
        || text.contains(|it: char| it.is_whitespace() || it.is_control())
    {
        return None;
    }
    if text.is_ascii() {
        return text.parse().ok();
    }
    Url::parse(text).ok()?.as_str().parse().ok()
}
