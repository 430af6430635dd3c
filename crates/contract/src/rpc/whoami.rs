//! `GET /v1/whoami` for clients (spec §4.1): the owner and scopes of a key. The endpoint is on the
//! same host as the services, but outside of their prefix.

use http::{HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use serde::Deserialize;

use super::http_status::code;
use super::{Error, KEY_HEADER, Transport};

/// Maximum size of the response, in bytes.
const RESPONSE_BYTES_MAX: usize = 64 * 1024;
const PATH: &str = "/v1/whoami";
/// Usual end of a base URL's path. The paths of other endpoints do not contain it.
const PREFIX: &str = "/rpc";

/// Identity of a key (spec §4.1).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Whoami {
    /// Name of the workspace.
    pub name: String,
    /// Slug of the workspace.
    pub slug: String,
    /// Plan of the workspace.
    pub plan: String,
    /// Caller.
    pub actor: Actor,
}

/// Caller and scopes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// `apiKey` for a key.
    pub r#type: String,
    /// ID of the key.
    pub key_id: String,
    /// `read` or `write`.
    pub scopes: Vec<String>,
}

/// Returns the identity of `key`. The caller has to set a timeout.
pub(super) async fn request(
    transport: &Transport,
    base: &Uri,
    key: &HeaderValue,
) -> Result<Whoami, Error> {
    let request = Request::get(address_beside(base, PATH))
        .header(KEY_HEADER, key)
        .body(Full::default())
        .map_err(|error| Error::internal(format!("failed to build the request: {error}")))?;
    let (parts, body) = transport.send(request).await?.into_parts();
    let body = match Limited::new(body, RESPONSE_BYTES_MAX).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Err(Error::internal(format!("failed to read the answer: {error}"))),
    };
    if parts.status == StatusCode::OK {
        return serde_json::from_slice(&body)
            .map_err(|error| Error::internal(format!("failed to decode the answer: {error}")));
    }
    let problem: Problem = serde_json::from_slice(&body).unwrap_or_default();
    let detail = problem.detail.unwrap_or_else(|| format!("HTTP error {}", parts.status.as_u16()));
    Err(Error::new(code(parts.status), detail).with_headers(parts.headers))
}

/// Error of `/v1`.
#[derive(Default, Deserialize)]
struct Problem {
    detail: Option<String>,
}

/// Returns the URL of an endpoint of the server that has the services at this base URL.
pub(super) fn address_beside(base: &Uri, path: &str) -> String {
    let prefix = base.path().trim_end_matches('/');
    let prefix = prefix.strip_suffix(PREFIX).unwrap_or(prefix);
    let scheme = base.scheme_str().unwrap_or("http");
    let authority = base.authority().map_or("", http::uri::Authority::as_str);
    format!("{scheme}://{authority}{prefix}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoami_path_is_beside_the_services() {
        for (base, endpoint) in [
            ("http://127.0.0.1:8080/rpc", "http://127.0.0.1:8080/v1/whoami"),
            ("https://example.com/aloft/rpc/", "https://example.com/aloft/v1/whoami"),
            ("https://example.com", "https://example.com/v1/whoami"),
        ] {
            assert_eq!(address_beside(&base.parse().unwrap(), PATH), endpoint);
        }
    }
}
