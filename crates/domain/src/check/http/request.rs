//! The request of one hop, complete but for what the connection itself adds.

use ::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method};
use bytes::Bytes;
use url::Url;

use super::{BodyType, HttpPlan};

/// What we call ourselves, so that who runs the target can tell checks from visitors.
const AGENT: HeaderValue =
    HeaderValue::from_static(concat!("Aloft/", env!("CARGO_PKG_VERSION"), " (+uptime check)"));
/// Encodings that the probe can undo.
const ENCODINGS: HeaderValue = HeaderValue::from_static("gzip, deflate, br");

/// The request of one hop. Sent as it is, plus `Host` (or `:authority`) and `Content-Length`.
#[derive(Clone, Debug)]
pub struct Request {
    /// Where it goes, without credentials and fragment.
    pub url: Url,
    /// Its method.
    pub method: Method,
    /// All its headers: the configured ones in their order, and ours where none of their name is
    /// configured.
    pub headers: HeaderMap,
    /// The authority to ask for where it is not the URL's.
    pub authority: Option<HeaderValue>,
    /// Its body; empty means none.
    pub body: Bytes,
    /// Redirects that led here: 0 for the first hop.
    pub redirects: u32,
}

impl HttpPlan {
    /// The request of the first hop.
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
    /// The value of `Content-Type` that says so.
    pub const fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Json => "application/json",
            Self::Text => "text/plain; charset=utf-8",
        })
    }
}

/// `headers`, and ours where they have none of the name.
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
