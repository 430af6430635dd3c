//! Layer in front of the gate that normalizes headers for the RPC library. Media types and
//! codings are case-insensitive (RFC 9110 §8.3.1, §8.4.1). Malformed deadlines are rejected; the
//! library would ignore them.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use contract::rpc;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use rules::{Violation, Violations};

use crate::edge::Protocol;

/// Headers whose values are codings.
const CODINGS: [HeaderName; 6] = [
    CONTENT_ENCODING,
    ACCEPT_ENCODING,
    HeaderName::from_static("connect-content-encoding"),
    HeaderName::from_static("connect-accept-encoding"),
    HeaderName::from_static("grpc-encoding"),
    HeaderName::from_static("grpc-accept-encoding"),
];
/// Timeout of a call in Connect, in milliseconds: at most ten digits.
const CONNECT_TIMEOUT: &str = "connect-timeout-ms";
const CONNECT_TIMEOUT_DIGITS: usize = 10;
/// Timeout of a call in gRPC: at most eight digits and a unit.
const GRPC_TIMEOUT: &str = "grpc-timeout";
const GRPC_TIMEOUT_DIGITS: usize = 8;
const GRPC_TIMEOUT_UNITS: &[u8] = b"HMSmun";

/// Normalizes the headers of a request and rejects malformed deadlines.
pub(crate) async fn normalize_headers(mut request: Request, next: Next) -> Response {
    in_lower_case(request.headers_mut());
    match deadline(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(violation) => {
            Protocol::Rpc.refuse(rpc::invalid(&Violations(vec![violation])), &request)
        }
    }
}

/// Converts the media type and the codings to lower case. Parameters stay unchanged.
fn in_lower_case(headers: &mut HeaderMap) {
    if let Some(value) = headers.get_mut(CONTENT_TYPE) {
        let end = value.as_bytes().iter().position(|byte| *byte == b';');
        lower(value, end.unwrap_or(value.len()));
    }
    for name in CODINGS {
        if let Some(value) = headers.get_mut(name) {
            let end = value.len();
            lower(value, end);
        }
    }
}

fn lower(value: &mut HeaderValue, end: usize) {
    let mut bytes = value.as_bytes().to_vec();
    if bytes[..end].iter().any(u8::is_ascii_uppercase) {
        bytes[..end].make_ascii_lowercase();
        *value = HeaderValue::from_bytes(&bytes).expect("a header's value stays one in lower case");
    }
}

/// Validates the deadlines of a request.
fn deadline(headers: &HeaderMap) -> Result<(), Violation> {
    let digits =
        |text: &[u8], most| (1..=most).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    if let Some(given) = headers.get(CONNECT_TIMEOUT)
        && !digits(given.as_bytes(), CONNECT_TIMEOUT_DIGITS)
    {
        let allowed = "must be milliseconds of at most 10 digits";
        return Err(Violation::new(CONNECT_TIMEOUT, excerpt(given), allowed));
    }
    if let Some(given) = headers.get(GRPC_TIMEOUT)
        && !given.as_bytes().split_last().is_some_and(|(unit, text)| {
            GRPC_TIMEOUT_UNITS.contains(unit) && digits(text, GRPC_TIMEOUT_DIGITS)
        })
    {
        let allowed = "must be at most 8 digits and one of the units H, M, S, m, u and n";
        return Err(Violation::new(GRPC_TIMEOUT, excerpt(given), allowed));
    }
    Ok(())
}

fn excerpt(given: &HeaderValue) -> String {
    String::from_utf8_lossy(given.as_bytes()).chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))])
    }

    #[test]
    fn media_types_and_encodings_become_lower_case() {
        for (name, given, expected) in [
            ("content-type", "Application/JSON; Charset=UTF-8", "application/json; Charset=UTF-8"),
            ("content-type", "APPLICATION/GRPC+PROTO", "application/grpc+proto"),
            ("content-encoding", "GZIP", "gzip"),
            ("grpc-accept-encoding", "Identity, GZip", "identity, gzip"),
            ("x-service-key", "Aloft_X", "Aloft_X"),
        ] {
            let mut headers = headers(name, given);
            in_lower_case(&mut headers);
            assert_eq!(headers[name], expected);
        }
    }

    #[test]
    fn only_protocol_deadlines_are_accepted() {
        for (name, value, is_fine) in [
            ("connect-timeout-ms", "5000", true),
            ("connect-timeout-ms", "9999999999", true),
            ("connect-timeout-ms", "99999999999", false),
            ("connect-timeout-ms", "-1", false),
            ("connect-timeout-ms", "soon", false),
            ("connect-timeout-ms", "", false),
            ("grpc-timeout", "100m", true),
            ("grpc-timeout", "99999999n", true),
            ("grpc-timeout", "100", false),
            ("grpc-timeout", "m", false),
            ("grpc-timeout", "999999999S", false),
            ("grpc-timeout", "1s", false),
        ] {
            assert_eq!(deadline(&headers(name, value)).is_ok(), is_fine, "{name}: {value}");
        }
    }
}
