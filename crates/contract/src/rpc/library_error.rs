//! Errors that the RPC library returns before any interceptor runs. Examples are a message that is
//! too large or cannot be decompressed, and an unsupported content type or verb. They are decoded
//! from the response in any protocol, in order to add the missing reason.

use http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::Deserialize;

use super::error::{Code, Error, Reason, reasoned, with_reason};

/// Bytes before each message of a stream: flags and length.
const ENVELOPE_BYTES: usize = 5;
/// Supported content types of a message.
const SUPPORTED_TYPES: &str =
    "application/json, application/proto, application/grpc or application/grpc-web";

/// Supported codings of a message.
const SUPPORTED_CODINGS: &str = "gzip, zstd";
/// Message of the library for an unsupported coding.
const UNKNOWN_CODING: &str = "unsupported compression encoding";

/// Response of the library.
#[derive(Clone, Copy, Debug)]
pub struct RawResponse<'a> {
    pub status: StatusCode,
    pub headers: &'a HeaderMap,
    /// Trailers, if any.
    pub trailers: Option<&'a HeaderMap>,
    pub body: &'a [u8],
}

/// Last message of a Connect stream.
#[derive(Deserialize)]
struct End {
    error: Option<Error>,
}

/// Returns the error of a call that did not reach a method, with its reason. Returns `None` if the
/// response is not an error.
pub fn library_error(verb: &Method, answered: RawResponse<'_>) -> Option<Error> {
    let RawResponse { status, headers, trailers, body } = answered;
    let error = match status {
        StatusCode::METHOD_NOT_ALLOWED => not_allowed(verb, headers),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => unsupported_type(),
        StatusCode::OK => {
            let error = from_headers(headers).or_else(|| from_headers(trailers?));
            let error = error.or_else(|| from_grpc_web(body)).or_else(|| from_stream(body))?;
            if is_unsupported_coding(&error) { unsupported_coding() } else { with_reason(error) }
        }
        status => {
            let error: Error = serde_json::from_slice(body).ok()?;
            if is_unsupported_coding(&error) {
                return Some(unsupported_coding());
            }
            let error = with_reason(error);
            // The status may differ from that of the code. Keep the library's status unless ours is
            // 413.
            let is_ours = error.http_status() == StatusCode::PAYLOAD_TOO_LARGE;
            if is_ours { error } else { error.with_http_status(status) }
        }
    };
    Some(error)
}

pub(super) fn unsupported_type() -> Error {
    let message = format!("unsupported content type; send {SUPPORTED_TYPES}");
    reasoned(Code::InvalidArgument, Reason::MediaType, message)
        .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

/// Returns whether an error reports an unsupported coding of a message.
fn is_unsupported_coding(error: &Error) -> bool {
    let message = error.message.as_deref().unwrap_or_default();
    error.code == Code::Unimplemented && message.starts_with(UNKNOWN_CODING)
}

/// Returns the error for an unsupported coding of a message (RFC 9110 §15.5.16).
fn unsupported_coding() -> Error {
    let message =
        format!("unsupported coding of the message; send one of {SUPPORTED_CODINGS}, or none");
    let mut error = reasoned(Code::Unimplemented, Reason::MediaType, message)
        .with_http_status(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    error
        .response_headers_mut()
        .insert(ACCEPT_ENCODING, HeaderValue::from_static(SUPPORTED_CODINGS));
    error
}

pub(super) fn not_allowed(verb: &Method, headers: &HeaderMap) -> Error {
    let allowed = headers.get(http::header::ALLOW).and_then(|allow| allow.to_str().ok());
    let message = format!("{verb} does not call this method; use {}", allowed.unwrap_or("POST"));
    reasoned(Code::InvalidArgument, Reason::Verb, message)
        .with_http_status(StatusCode::METHOD_NOT_ALLOWED)
}

/// Decodes the error of gRPC from headers or trailers.
fn from_headers(headers: &HeaderMap) -> Option<Error> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    from_grpc(text("grpc-status")?, text("grpc-message").unwrap_or_default())
}

/// Decodes the error of gRPC-Web. Its trailers are the last message of the body.
fn from_grpc_web(body: &[u8]) -> Option<Error> {
    let text = str::from_utf8(body.get(ENVELOPE_BYTES..)?).ok()?;
    let field = |name: &str| {
        text.lines().find_map(|line| Some(line.split_once(':')?).filter(|it| it.0 == name))
    };
    let message = field("grpc-message").map_or("", |(_, message)| message.trim());
    from_grpc(field("grpc-status")?.1.trim(), message)
}

/// Decodes the error of a Connect stream from its last message.
fn from_stream(body: &[u8]) -> Option<Error> {
    serde_json::from_slice::<End>(body.get(ENVELOPE_BYTES..)?).ok()?.error
}

fn from_grpc(status: &str, message: &str) -> Option<Error> {
    let code = Code::from_grpc_code(status.parse().ok()?)?;
    Some(Error::new(code, unescaped(message)))
}

/// Decodes `grpc-message`, in which bytes other than visible characters are written as `%XX`.
fn unescaped(message: &str) -> String {
    let mut bytes = Vec::with_capacity(message.len());
    let mut rest = message.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.filter(|_| first == b'%').and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::error::reason;
    use super::*;

    fn read(status: u16, header: Option<(&'static str, &str)>, body: &[u8]) -> Option<Error> {
        let mut headers = HeaderMap::new();
        for (name, value) in header.into_iter().chain([("grpc-message", "it is 5%25 %C3%BC")]) {
            headers.insert(name, value.parse().unwrap());
        }
        let status = StatusCode::from_u16(status).unwrap();
        let answered = RawResponse { status, headers: &headers, trailers: None, body };
        library_error(&Method::PUT, answered)
    }

    #[test]
    fn error_of_any_protocol_gets_a_reason() {
        let json = br#"{"code":"invalid_argument","message":"missing"}"#;
        let web = b"\x80\0\0\0\x2agrpc-status: 8\r\ngrpc-message: too large\r\n";
        let stream = b"\x02\0\0\0\x01{\"error\":{\"code\":\"unimplemented\"}}";
        for (answer, status, expected) in [
            (read(400, None, json), 400, "MALFORMED_MESSAGE"),
            (read(415, None, b""), 415, "UNSUPPORTED_MEDIA_TYPE"),
            (read(405, Some(("allow", "POST")), b""), 405, "METHOD_NOT_ALLOWED"),
            (read(200, Some(("grpc-status", "3")), b""), 400, "MALFORMED_MESSAGE"),
            (read(200, None, web), 413, "PAYLOAD_TOO_LARGE"),
            (read(200, None, stream), 501, "UNKNOWN_METHOD"),
            (read(429, None, br#"{"code":"resource_exhausted"}"#), 413, "PAYLOAD_TOO_LARGE"),
        ] {
            let error = answer.unwrap_or_else(|| panic!("no {expected}"));
            assert_eq!(reason(&error).as_deref(), Some(expected));
            assert_eq!(error.http_status(), status, "{expected}");
        }
        let grpc = read(200, Some(("grpc-status", "3")), b"").unwrap();
        assert_eq!(grpc.message.as_deref(), Some("it is 5% ü"));
        let verb = read(405, Some(("allow", "GET, POST")), b"").unwrap();
        let message = verb.message.unwrap();
        assert_eq!(message, "PUT does not call this method; use GET, POST");
    }

    #[test]
    fn success_has_no_error() {
        for body in [&b""[..], b"{}", b"\0\0\0\0\x02{}", b"\x02\0\0\0\x02{}"] {
            assert!(read(200, None, body).is_none(), "{body:?}");
        }
        assert!(read(200, Some(("grpc-status", "0")), b"").is_none());
        assert!(read(502, None, b"<html>").is_none());
    }
}
