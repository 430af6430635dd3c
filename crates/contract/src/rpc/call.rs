//! Calls by method name with JSON requests and responses, for callers without generated types. One
//! function makes every call. The service validates the JSON.

use std::error::Error as StdError;
use std::time::Duration;

use connectrpc::ErrorDetail;
use connectrpc::client::{ClientBody, ClientTransport as _, full_body};
use http::uri::Authority;
use http::{HeaderMap, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::Deserialize;
use serde_json::Value as Json;

use super::{Client, Code, Error, IDEMPOTENCY_KEY_HEADER, KEY_HEADER};

/// Connect headers of the protocol version and the timeout.
const VERSION: (&str, &str) = ("connect-protocol-version", "1");
const TIMEOUT_HEADER: &str = "connect-timeout-ms";
const JSON: &str = "application/json";

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Path of the method below the base URL, such as `/monitor.v1.MonitorService/GetMonitor`.
    pub method: &'a str,
    /// Request in the protocol's JSON.
    pub request: &'a Json,
    /// Timeout to send to the service. The caller has to enforce it.
    pub time: Duration,
    /// Key that makes retries of a create safe. See [`IDEMPOTENCY_KEY_HEADER`].
    pub idempotency_key: Option<&'a str>,
    /// Maximum size of the response, in bytes.
    pub response_bytes_max: usize,
}

impl Client {
    /// Makes a call and returns the response in the protocol's JSON. Fails with the error of the
    /// service, or with an error without a reason if the service sent none.
    pub async fn call(&self, call: &Call<'_>) -> Result<Json, Error> {
        let response = self.transport.send(self.request(call)?).await?;
        let (parts, body) = response.into_parts();
        let body = match Limited::new(body, call.response_bytes_max).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                return Err(unreadable_response(&*error, call).with_headers(parts.headers));
            }
        };
        if !parts.status.is_success() {
            return Err(decode_error(parts.status, &body).with_headers(parts.headers));
        }
        let answer = is_json(&parts.headers).and_then(|()| {
            serde_json::from_slice(&body)
                .map_err(|error| Error::internal(format!("failed to decode response: {error}")))
        });
        answer.map_err(|error| error.with_headers(parts.headers))
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<ClientBody>, Error> {
        let mut request = Request::post(address(&self.base, call.method))
            .header(header::CONTENT_TYPE, JSON)
            .header(VERSION.0, VERSION.1)
            .header(TIMEOUT_HEADER, call.time.as_millis().to_string())
            .header(KEY_HEADER, &self.key);
        if let Some(key) = call.idempotency_key {
            request = request.header(IDEMPOTENCY_KEY_HEADER, key);
        }
        request
            .body(full_body(call.request.to_string().into()))
            .map_err(|error| Error::internal(format!("failed to build the request: {error}")))
    }
}

/// Returns the URL of a method. Only the path of the base URL is kept, not its query.
fn address(base: &Uri, method: &str) -> String {
    let scheme = base.scheme_str().unwrap_or("http");
    let authority = base.authority().map_or("", Authority::as_str);
    format!("{scheme}://{authority}{}{method}", base.path().trim_end_matches('/'))
}

/// Returns the error for a response that could not be read completely.
fn unreadable_response(error: &(dyn StdError + Send + Sync + 'static), call: &Call<'_>) -> Error {
    if error.is::<LengthLimitError>() {
        let most = call.response_bytes_max;
        return Error::resource_exhausted(format!("response body size exceeds limit {most}"));
    }
    Error::internal(format!("failed to read response body: {error}"))
}

/// Rejects a response of another content type, because it is not from the service.
fn is_json(headers: &HeaderMap) -> Result<(), Error> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let given = given.to_str().unwrap_or_default();
    if given.starts_with(JSON) {
        return Ok(());
    }
    Err(Error::unknown(format!("unexpected content-type: {given}")))
}

/// Decodes the error of the service, or of a proxy in front of it.
fn decode_error(status: StatusCode, body: &[u8]) -> Error {
    #[derive(Deserialize)]
    struct ErrorBody {
        code: Option<Code>,
        message: Option<String>,
        #[serde(default)]
        details: Vec<ErrorDetail>,
    }
    let Ok(said) = serde_json::from_slice::<ErrorBody>(body) else {
        let said = String::from_utf8_lossy(body);
        return Error::new(code(status), format!("HTTP error {}: {said}", status.as_u16()));
    };
    let code = said.code.unwrap_or_else(|| code(status));
    let mut error = Error::new(code, said.message.unwrap_or_default());
    error.details = said.details;
    error
}

/// Returns the code for a status without an error of the service.
///
/// Rules: <https://connectrpc.com/docs/protocol#http-to-error-code>
pub(super) const fn code(status: StatusCode) -> Code {
    match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        408 => Code::DeadlineExceeded,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_below_the_base_path() {
        for (base, whole) in [
            ("http://127.0.0.1:8080/rpc", "http://127.0.0.1:8080/rpc/a.v1.B/C"),
            ("https://example.com/aloft/rpc/", "https://example.com/aloft/rpc/a.v1.B/C"),
            ("https://example.com", "https://example.com/a.v1.B/C"),
            ("https://example.com/rpc?to=nowhere", "https://example.com/rpc/a.v1.B/C"),
        ] {
            assert_eq!(address(&base.parse().unwrap(), "/a.v1.B/C"), whole);
        }
    }

    #[test]
    fn foreign_response_is_an_error_by_status() {
        for (status, expected) in [
            (400, Code::Internal),
            (401, Code::Unauthenticated),
            (403, Code::PermissionDenied),
            (404, Code::Unimplemented),
            (408, Code::DeadlineExceeded),
            (429, Code::Unavailable),
            (503, Code::Unavailable),
            (500, Code::Unknown),
        ] {
            let refused = decode_error(StatusCode::from_u16(status).unwrap(), b"<html>");
            assert_eq!(refused.code, expected, "{status}");
        }
        let named = decode_error(StatusCode::NOT_FOUND, br#"{"code":"aborted","message":"m"}"#);
        assert_eq!((named.code, named.message.as_deref()), (Code::Aborted, Some("m")));
    }
}
