//! Calls of the services: with messages, or by method name with JSON for callers without generated
//! types. One function makes every call. The service validates the JSON.

use std::error::Error as StdError;
use std::sync::LazyLock;
use std::time::Duration;

use buffa::Message;
use bytes::Bytes;
use connectrpc::{CompressionRegistry, ErrorDetail, GzipProvider};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE};
use http::uri::Authority;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use proto::MethodRequest;
use serde::Deserialize;
use serde_json::Value as Json;

use super::http_status::code;
use super::{Client, Code, Error, IDEMPOTENCY_KEY_HEADER, KEY_HEADER};

/// Connect headers of the protocol version and the timeout.
const VERSION: (&str, &str) = ("connect-protocol-version", "1");
const TIMEOUT_HEADER: &str = "connect-timeout-ms";
/// Content types of both formats.
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/proto";

/// Encodings of responses that the client accepts: gzip, as the service offers.
static ENCODINGS: LazyLock<CompressionRegistry> =
    LazyLock::new(|| CompressionRegistry::new().register(GzipProvider::new()));

/// One call with JSON.
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

/// An encoded call.
struct Sent<'a> {
    method: &'a str,
    content_type: &'static str,
    body: Bytes,
    time: Duration,
    idempotency_key: Option<&'a str>,
    response_bytes_max: usize,
}

/// Body of a response.
struct Received {
    headers: HeaderMap,
    body: Bytes,
}

impl Client {
    /// Calls the method of this request and returns its response.
    pub async fn send<Q: MethodRequest>(&self, request: Q) -> Result<Q::Response, Error> {
        self.send_message(&request, None).await
    }

    /// Like [`Client::send`], for a create. `key` is random per call, and the same in its retries.
    pub async fn create<Q: MethodRequest>(
        &self,
        request: Q,
        key: &str,
    ) -> Result<Q::Response, Error> {
        self.send_message(&request, Some(key)).await
    }

    async fn send_message<Q: MethodRequest>(
        &self,
        request: &Q,
        idempotency_key: Option<&str>,
    ) -> Result<Q::Response, Error> {
        let sent = Sent {
            method: Q::PATH,
            content_type: PROTOBUF,
            body: request.encode_to_bytes(),
            time: self.limits.timeout,
            idempotency_key,
            response_bytes_max: self.limits.response_bytes_max,
        };
        let time = self.limits.timeout;
        let late = |_| {
            let seconds = time.as_secs_f64();
            Error::new(Code::DeadlineExceeded, format!("no response within {seconds} s"))
        };
        let received = tokio::time::timeout(time, self.exchange(sent)).await;
        let Received { headers, body } = received.map_err(late)??;
        Q::Response::decode_from_slice(&body).map_err(|error| undecodable(&error, headers))
    }

    /// Makes a call and returns the response in the protocol's JSON. Fails with the error of the
    /// service, or with an error without a reason if the service sent none.
    pub async fn call(&self, call: &Call<'_>) -> Result<Json, Error> {
        let sent = Sent {
            method: call.method,
            content_type: JSON,
            body: call.request.to_string().into(),
            time: call.time,
            idempotency_key: call.idempotency_key,
            response_bytes_max: call.response_bytes_max,
        };
        let Received { headers, body } = self.exchange(sent).await?;
        serde_json::from_slice(&body).map_err(|error| undecodable(&error, headers))
    }

    /// Sends a call and receives its response.
    async fn exchange(&self, sent: Sent<'_>) -> Result<Received, Error> {
        let (content_type, most) = (sent.content_type, sent.response_bytes_max);
        let response = self.transport.send(self.request(sent)?).await?;
        let (parts, body) = response.into_parts();
        let body = match Limited::new(body, most).collect().await {
            Ok(body) => decompress(&parts.headers, body.to_bytes(), most),
            Err(error) => Err(unreadable_response(&*error, most)),
        };
        let body = match body {
            Ok(body) => body,
            Err(error) => return Err(error.with_headers(parts.headers)),
        };
        if !parts.status.is_success() {
            return Err(decode_error(parts.status, &body).with_headers(parts.headers));
        }
        match require_type(&parts.headers, content_type) {
            Ok(()) => Ok(Received { headers: parts.headers, body }),
            Err(error) => Err(error.with_headers(parts.headers)),
        }
    }

    fn request(&self, sent: Sent<'_>) -> Result<Request<Full<Bytes>>, Error> {
        let mut request = Request::post(address(&self.base, sent.method))
            .header(CONTENT_TYPE, sent.content_type)
            .header(ACCEPT_ENCODING, ENCODINGS.accept_encoding_header())
            .header(VERSION.0, VERSION.1)
            .header(TIMEOUT_HEADER, sent.time.as_millis().to_string())
            .header(KEY_HEADER, &self.key);
        if let Some(key) = sent.idempotency_key {
            request = request.header(IDEMPOTENCY_KEY_HEADER, key);
        }
        request
            .body(Full::new(sent.body))
            .map_err(|error| Error::internal(format!("failed to build the request: {error}")))
    }
}

/// Returns the URL of a method. Only the path of the base URL is kept, not its query.
fn address(base: &Uri, method: &str) -> String {
    let scheme = base.scheme_str().unwrap_or("http");
    let authority = base.authority().map_or("", Authority::as_str);
    format!("{scheme}://{authority}{}{method}", base.path().trim_end_matches('/'))
}

/// Decompresses a body of at most `most` bytes by its `content-encoding`.
fn decompress(headers: &HeaderMap, body: Bytes, most: usize) -> Result<Bytes, Error> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(body) };
    let encoding = encoding.to_str().unwrap_or_default().to_ascii_lowercase();
    ENCODINGS.decompress_with_limit(&encoding, body, most).map_err(|error| {
        if error.code == Code::ResourceExhausted {
            return too_large(most);
        }
        Error::internal(format!("failed to decompress the response: {error}"))
    })
}

/// Returns the error for a response that could not be read completely.
fn unreadable_response(error: &(dyn StdError + Send + Sync + 'static), most: usize) -> Error {
    if error.is::<LengthLimitError>() {
        return too_large(most);
    }
    Error::internal(format!("failed to read response body: {error}"))
}

fn too_large(most: usize) -> Error {
    Error::resource_exhausted(format!("response body size exceeds limit {most}"))
}

fn undecodable(error: &dyn StdError, headers: HeaderMap) -> Error {
    Error::internal(format!("failed to decode response: {error}")).with_headers(headers)
}

/// Rejects a response of another content type, because it is not from the service.
fn require_type(headers: &HeaderMap, expected: &str) -> Result<(), Error> {
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let given = given.to_str().unwrap_or_default();
    if given.starts_with(expected) {
        return Ok(());
    }
    Err(Error::unknown(format!("unexpected content-type: {given}")))
}

/// Decodes the error of the service, or of a proxy in front of it.
pub fn decode_error(status: StatusCode, body: &[u8]) -> Error {
    #[derive(Deserialize)]
    struct ErrorBody {
        code: Option<Code>,
        message: Option<String>,
        #[serde(default)]
        details: Vec<ErrorDetail>,
    }
    let Ok(error_body) = serde_json::from_slice::<ErrorBody>(body) else {
        let text = String::from_utf8_lossy(body);
        return Error::new(code(status), format!("HTTP error {}: {text}", status.as_u16()));
    };
    let code = error_body.code.unwrap_or_else(|| code(status));
    let mut error = Error::new(code, error_body.message.unwrap_or_default());
    error.details = error_body.details;
    error
}

#[cfg(test)]
mod tests;
