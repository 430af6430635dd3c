//! HTTP checks: the request to send, where a redirect leads, and what must hold of the answer
//! (design §5, "HTTP"). Connecting, the egress rule and undoing content-encodings belong to `probe`.

mod assess;
mod charset;
mod plan;
mod redirect;
mod request;
mod search;

use bytes::Bytes;
use rules::monitor::{HeaderAssertion, StatusCodeAssertion, TextAssertion};

pub(super) use assess::assess;
pub(super) use charset::decode;
pub use redirect::{Redirect, redirect};
pub use request::Request;
pub use search::Search;

/// The request of an HTTP monitor, ready to be sent, and its assertions. The probe sends
/// [`Self::request`], and what [`redirect`] makes of it.
#[derive(Debug)]
pub struct HttpPlan {
    /// Where the first hop goes: host as A-label, credentials and fragment taken out.
    pub url: url::Url,
    /// Method of the first hop.
    pub method: ::http::Method,
    /// Headers as configured, with Basic authorisation where the URL had credentials and none was
    /// configured. `Host`, where configured, is in [`Self::authority`] and not here. All are marked
    /// sensitive, so that `Debug` shows no value.
    pub headers: ::http::HeaderMap,
    /// The authority to ask for, where a `Host` header was configured; the TLS name stays the URL's.
    pub authority: Option<::http::HeaderValue>,
    /// Request body; empty unless the method is `POST`, `PUT` or `PATCH`.
    pub body: Bytes,
    /// What the body is where no `Content-Type` is sent along that says so; `None` without a body.
    pub body_type: Option<BodyType>,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
    /// Decoded bytes of the beginning of the final body to keep: for evidence, and to compare all of it.
    pub body_kept: usize,
    /// Decoded bytes of the final body to look at: 1 MiB where something is asserted of it.
    pub body_read: usize,
    /// What must hold of the status code.
    pub status_code_assertions: Vec<StatusCodeAssertion>,
    /// What must hold of the body.
    pub body_assertions: Vec<TextAssertion>,
    /// What must hold of the headers.
    pub header_assertions: Vec<HeaderAssertion>,
}

/// What a request's body is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// A JSON object or array. Other JSON values are texts just as well.
    Json,
    /// Anything else.
    Text,
}

#[cfg(test)]
mod tests;
