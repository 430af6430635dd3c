//! A request of the server itself, and its form on a connection. URL, headers and body may contain
//! secrets, so they are never printed.

use std::fmt;

use ::http::header::{HOST, USER_AGENT};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use bytes::Bytes;
use domain::check::{Failure, FailureKind};
use http_body_util::Full;
use url::{Position, Url};

use crate::transport::http::connection::is_connection_specific;

/// Default user agent.
const AGENT: &str = concat!("Aloft/", env!("CARGO_PKG_VERSION"));

/// A request of the server itself. `Debug` prints only its host.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    /// `http` or `https`. Credentials in it are not sent.
    pub url: Url,
    /// Headers in order; the client adds those of the connection (Host, Content-Length and others).
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

/// Origin of a connection: requests to the same origin can share connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) is_tls: bool,
    /// As in the URL, with IPv6 in brackets.
    pub(super) host: String,
    pub(super) port: u16,
}

impl Request {
    /// Returns the origin of its URL.
    pub(super) fn origin(&self) -> Result<Origin, Failure> {
        let is_tls = match self.url.scheme() {
            "https" => true,
            "http" => false,
            other => {
                return Err(invalid_request(&format_args!("`{other}` is neither http nor https")));
            }
        };
        let host = self.url.host_str().unwrap_or_default().to_owned();
        let port = self.url.port_or_known_default().unwrap_or(80);
        Ok(Origin { is_tls, host, port })
    }

    /// Creates the request for a connection of `version`.
    pub(super) fn to_http(
        &self,
        version: Version,
    ) -> Result<::http::Request<Full<Bytes>>, Failure> {
        let authority = &self.url[Position::BeforeHost..Position::AfterPort];
        let path = &self.url[Position::BeforePath..Position::AfterQuery];
        let mut headers = HeaderMap::with_capacity(self.headers.len() + 3);
        let uri: Uri = if version == Version::HTTP_2 {
            Uri::builder()
                .scheme(self.url.scheme())
                .authority(authority)
                .path_and_query(path)
                .build()
                .map_err(|error| invalid_request(&error))?
        } else {
            let host = HeaderValue::from_str(authority).map_err(|error| invalid_request(&error))?;
            headers.insert(HOST, host);
            path.parse().map_err(|error: ::http::uri::InvalidUri| invalid_request(&error))?
        };
        for (name, value) in &self.headers {
            if !is_connection_specific(name) {
                headers.append(name.clone(), value.clone());
            }
        }
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(AGENT));
        let mut written = ::http::Request::new(Full::new(self.body.clone()));
        *written.method_mut() = self.method.clone();
        *written.uri_mut() = uri;
        *written.headers_mut() = headers;
        Ok(written)
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.url.host_str())
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

/// Creates a failure without the URL, which may be secret as a whole.
fn invalid_request(why: &dyn fmt::Display) -> Failure {
    Failure::new(FailureKind::ProtocolBroken, format!("failed to build the request: {why}"))
}
