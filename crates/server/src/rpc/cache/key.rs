//! Cache key of a response: caller, method, request and format.

use axum::extract::Request;
use contract::SecretVisibility;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, Method};
use rules::WorkspaceId;

use crate::auth::Caller;
use crate::rpc::body::BufferedBody;

/// Maximum size of a message whose response is cached, in bytes. Messages of reads have some
/// hundred.
const MESSAGE_BYTES_MAX: usize = 4_096;

/// Headers that determine the format of a response: protocol, codec and compression. Timeouts are
/// not included, because a cached response is available at once.
const FORM: [HeaderName; 8] = [
    CONTENT_TYPE,
    CONTENT_ENCODING,
    ACCEPT_ENCODING,
    HeaderName::from_static("connect-protocol-version"),
    HeaderName::from_static("connect-content-encoding"),
    HeaderName::from_static("connect-accept-encoding"),
    HeaderName::from_static("grpc-encoding"),
    HeaderName::from_static("grpc-accept-encoding"),
];

/// Cache key. Requests with equal keys have equal responses until the stored data changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    workspace: WorkspaceId,
    /// Whether the key may write. Only such keys read secrets.
    sees_secrets: bool,
    method: &'static str,
    /// Verb, format, query and message. Each has a length prefix, so that keys are unambiguous.
    rest: Vec<u8>,
}

impl CacheKey {
    /// Returns the cache key of a buffered request, or `None` if the request is too large to be
    /// cached.
    pub(super) fn from_request(
        caller: Caller,
        method: &'static str,
        request: &Request,
    ) -> Option<Self> {
        let BufferedBody(message) = request.extensions().get::<BufferedBody>()?;
        let query = request.uri().query().unwrap_or_default();
        if message.len() > MESSAGE_BYTES_MAX || query.len() > MESSAGE_BYTES_MAX {
            return None;
        }
        let mut rest = encode_headers(request.method(), request.headers());
        push(&mut rest, query.as_bytes());
        push(&mut rest, message);
        let (workspace, sees_secrets) =
            (caller.workspace, caller.secrets() == SecretVisibility::Visible);
        Some(Self { workspace, sees_secrets, method, rest })
    }

    /// Returns the approximate memory use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.rest.len()
    }
}

fn encode_headers(verb: &Method, headers: &HeaderMap) -> Vec<u8> {
    let mut form = Vec::with_capacity(256);
    push(&mut form, verb.as_str().as_bytes());
    for name in &FORM {
        let values = headers.get_all(name);
        // Write the number of values first: no value differs from an empty one.
        form.extend_from_slice(&(values.iter().count() as u32).to_le_bytes());
        for value in values {
            push(&mut form, value.as_bytes());
        }
    }
    form
}

fn push(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&(part.len() as u32).to_le_bytes());
    to.extend_from_slice(part);
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, Bytes};
    use rules::{KeyId, Scope};

    use super::*;
    use crate::auth::Principal;

    const METHOD: &str = "/a.B/C";

    fn caller(workspace: u64, scope: Scope) -> Caller {
        let workspace = WorkspaceId::from_bits(workspace);
        let principal = Principal::Key(KeyId::from_bits(1));
        Caller { workspace, principal, scope, legacy: false, is_redacted: false, address: None }
    }

    fn request(headers: &[(&'static str, &'static str)], uri: &str, body: &str) -> Request {
        let mut request = http::Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let message = BufferedBody(Bytes::copy_from_slice(body.as_bytes()));
        request.extension(message).body(Body::empty()).unwrap()
    }

    fn cache_key(caller: Caller, request: &Request) -> CacheKey {
        CacheKey::from_request(caller, METHOD, request).unwrap()
    }

    #[test]
    fn relevant_difference_changes_the_key() {
        let write = caller(1, Scope::Write);
        let json = ("content-type", "application/json");
        let keys = [
            cache_key(write, &request(&[json], "/x", "{}")),
            cache_key(caller(2, Scope::Write), &request(&[json], "/x", "{}")),
            cache_key(caller(1, Scope::Read), &request(&[json], "/x", "{}")),
            cache_key(write, &request(&[("content-type", "application/grpc")], "/x", "{}")),
            cache_key(write, &request(&[json, ("accept-encoding", "gzip")], "/x", "{}")),
            cache_key(write, &request(&[json, ("accept-encoding", "")], "/x", "{}")),
            cache_key(write, &request(&[json, ("grpc-accept-encoding", "gzip")], "/x", "{}")),
            cache_key(write, &request(&[json, ("connect-protocol-version", "1")], "/x", "{}")),
            cache_key(write, &request(&[json], "/x?{}", "")),
            cache_key(write, &request(&[json], "/x", "{ }")),
            CacheKey::from_request(write, "/a.B/D", &request(&[json], "/x", "{}")).unwrap(),
        ];
        for (index, one) in keys.iter().enumerate() {
            assert!(!keys[index + 1..].contains(one), "key {index} is another's");
        }
    }

    #[test]
    fn irrelevant_difference_keeps_the_key() {
        let first = cache_key(caller(1, Scope::Read), &request(&[], "/x", "{}"));
        let other = [("x-request-id", "7"), ("user-agent", "x"), ("connect-timeout-ms", "5")];
        assert_eq!(cache_key(caller(1, Scope::Read), &request(&other, "/rpc/x", "{}")), first);
    }

    #[test]
    fn oversized_request_has_no_key() {
        let read = caller(1, Scope::Read);
        for (length, is_kept) in [(MESSAGE_BYTES_MAX, true), (MESSAGE_BYTES_MAX + 1, false)] {
            let text = "x".repeat(length);
            let is = |request| CacheKey::from_request(read, METHOD, &request).is_some();
            assert_eq!(is(request(&[], "/x", &text)), is_kept, "{length}");
            assert_eq!(is(request(&[], &format!("/x?{text}"), "")), is_kept, "{length}");
        }
    }
}
