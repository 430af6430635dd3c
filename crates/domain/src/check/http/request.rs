//! The request of one hop, complete except for the headers that the connection adds.

use ::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use url::Url;

use super::{BodyType, HttpPlan};

/// User agent, which lets operators of the target tell checks from visitors.
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("Aloft/", env!("CARGO_PKG_VERSION"), " (+uptime check)"));
/// Encodings that the probe can decode.
const ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br");

/// The request of one hop. Sent as it is, plus `Host` (or `:authority`) and `Content-Length`.
#[derive(Clone, Debug)]
pub struct Request {
    /// URL without credentials and fragment.
    pub url: Url,
    pub method: Method,
    /// All headers: the configured ones in order, then our defaults for names that are not
    /// configured.
    pub headers: HeaderMap,
    /// Authority, if it differs from that of the URL.
    pub authority: Option<HeaderValue>,
    /// Empty for a request without a body.
    pub body: Bytes,
    /// Number of preceding redirects: 0 for the first hop.
    pub redirects: u32,
}

impl HttpPlan {
    /// Creates the request of the first hop.
    pub fn request(&self) -> Request {
        Request {
            url: self.url.clone(),
            method: self.method.clone(),
            headers: with_ours(self.headers.clone(), self.body_type),
            authority: self.authority.clone(),
            body: self.body.clone(),
            redirects: 0,
        }
    }
}

impl BodyType {
    /// Returns the matching `Content-Type` value.
    pub const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
        })
    }
}

/// Adds our default headers for names that `headers` does not have.
pub(super) fn with_ours(mut headers: HeaderMap, body: Option<BodyType>) -> HeaderMap {
    let mut default = |name: HeaderName, value: HeaderValue| {
        headers.entry(name).or_insert(value);
    };
    default(USER_AGENT, AGENT);
    default(ACCEPT, HeaderValue::from_static("*/*"));
    default(ACCEPT_ENCODING, ENCODINGS);
    if let Some(body) = body {
        default(CONTENT_TYPE, body.content_type());
    }
    headers
}
