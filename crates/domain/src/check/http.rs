//! HTTP checks: the request to send, the target of a redirect, and the assertions on the response
//! (design §5, "HTTP"). `probe` connects, applies the egress policy and decodes content encodings.

mod assess;
mod charset;
mod client_auth;
mod json;
mod plan;
mod redirect;
mod request;
mod search;

use std::time::Duration;

use bytes::Bytes;
use rules::IpVersion;
use rules::monitor::StatusCodeAssertion;

pub(super) use assess::{assess, expiring_certificate};
pub(super) use charset::decode;
pub use client_auth::{ClientAuth, ClientIdentity};
pub use json::JsonExpectation;
pub use redirect::{Redirect, redirect};
pub use request::Request;
pub use search::Search;

use super::text::TextExpectation;

/// The request of an HTTP monitor, ready to be sent, and its assertions. The probe sends
/// [`Self::request`] and the requests that [`redirect`] derives from it.
#[derive(Debug)]
pub struct HttpPlan {
    /// URL of the first hop: host as A-label, without credentials and fragment.
    pub url: url::Url,
    /// Method of the first hop.
    pub method: ::http::Method,
    /// Configured headers, plus Basic authorization if the URL has credentials and none is
    /// configured. A configured `Host` is in [`Self::authority`] instead. All values are marked
    /// sensitive, so `Debug` does not print them.
    pub headers: ::http::HeaderMap,
    /// Authority from a configured `Host` header; the TLS name stays that of the URL.
    pub authority: Option<::http::HeaderValue>,
    /// Request body; empty unless the method is `POST`, `PUT` or `PATCH`.
    pub body: Bytes,
    /// Type of the body if no `Content-Type` is configured; `None` without a body.
    pub body_type: Option<BodyType>,
    pub follow_redirects: bool,
    pub ip_version: IpVersion,
    /// Time before the expiry of a certificate from which a success is degraded; `None` for never.
    pub certificate_warning: Option<Duration>,
    /// Certificate for servers that ask for one; [`Self::client_auth`] decides which ones get it. Boxed,
    /// because few monitors have one.
    pub(super) client_identity: Option<Box<ClientIdentity>>,
    /// Decoded bytes of the final body to keep, for evidence and for comparisons with the whole
    /// body.
    pub body_kept: usize,
    /// Decoded bytes of the final body to read: 1 MiB if there are assertions on it.
    pub body_read: usize,
    pub status_code_assertions: Vec<StatusCodeAssertion>,
    pub body_assertions: Vec<TextExpectation>,
    pub json_assertions: Vec<JsonExpectation>,
    pub header_assertions: Vec<HeaderExpectation>,
}

impl HttpPlan {
    /// Returns whether the monitor itself requires IPv6 for a hop: by its version, or by the address in
    /// its own URL, which is that of the first hop. A redirect is an answer of the target.
    pub fn requires_ipv6(&self, is_first_hop: bool) -> bool {
        let is_literal = matches!(self.url.host(), Some(url::Host::Ipv6(_)));
        self.ip_version == IpVersion::V6 || (is_first_hop && is_literal)
    }

    /// Returns whether the assessment of a response may take long: it parses JSON or runs expressions.
    pub(super) fn is_costly_to_assess(&self) -> bool {
        let headers = self.header_assertions.iter().map(|header| &header.expected);
        let mut texts = self.body_assertions.iter().chain(headers);
        !self.json_assertions.is_empty() || texts.any(TextExpectation::has_pattern)
    }
}

/// An expectation on a header of the response.
#[derive(Clone, Debug)]
pub struct HeaderExpectation {
    /// Name of the header, in any case.
    pub key: String,
    pub expected: TextExpectation,
}

/// Detected type of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// A JSON object or array. Other JSON values are sent as text.
    Json,
    Text,
}

#[cfg(test)]
mod tests;
