//! Transport to the ACME server, with the product's own HTTP client. The operator chooses the
//! server, so it may be in a private network.

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{DATE, HeaderMap, RETRY_AFTER};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use url::Url;

/// Time limit of one exchange.
const EXCHANGE_WITHIN: Duration = Duration::from_secs(30);
/// Maximum pause that a server may request.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(24);

/// Sends the requests of one attempt.
pub(super) struct AcmeTransport {
    pub(super) client: probe::Client,
    pub(super) retry_after: std::sync::Arc<RetryAfter>,
}

/// The pause that the server requests in `Retry-After`.
#[derive(Debug, Default)]
pub(super) struct RetryAfter(Mutex<Option<Duration>>);

impl RetryAfter {
    /// Returns the pause that the server requested in a refusal.
    pub(super) fn get(&self) -> Option<Duration> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record<B>(&self, answer: &Response<B>) {
        if answer.status().is_success() || answer.status().is_redirection() {
            return;
        }
        let pause = parse_retry_after(answer.headers()).map(|pause| pause.min(RETRY_AFTER_MAX));
        let mut wished = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *wished = pause.or(*wished);
    }
}

/// Returns the pause in a response: seconds, or the time until a date by the clock of the response (RFC
/// 9110 §10.2.3).
fn parse_retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let delay = text(RETRY_AFTER)?;
    if let Ok(seconds) = delay.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = |text| httpdate::parse_http_date(text).ok();
    date(delay)?.duration_since(date(text(DATE)?)?).ok()
}

type ResponseFuture = Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>>;

impl HttpClient for AcmeTransport {
    fn request(&self, request: Request<BodyWrapper<Bytes>>) -> ResponseFuture {
        let (client, retry_after) = (self.client.clone(), std::sync::Arc::clone(&self.retry_after));
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let other = |why: String| Error::Other(why.into());
            let url = Url::parse(&parts.uri.to_string());
            let url = url.map_err(|why| other(format!("the ACME server's address: {why}")))?;
            let Ok(body) = body.collect().await;
            let headers = parts.headers.iter();
            let request = probe::Request {
                method: parts.method,
                url,
                headers: headers.map(|(name, value)| (name.clone(), value.clone())).collect(),
                body: body.to_bytes(),
            };
            let answer = client.send(&request, EXCHANGE_WITHIN).await;
            let answer = answer.map_err(|failure| {
                other(format!("the ACME server cannot be asked: {}", failure.detail))
            })?;
            if answer.truncated {
                return Err(other("the ACME server's answer does not end".to_owned()));
            }
            let mut response = Response::new(Full::new(answer.body));
            *response.status_mut() = answer.status;
            *response.headers_mut() = answer.headers;
            retry_after.record(&response);
            Ok(BytesResponse::from(response))
        })
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    // issue 7: respect the rate limits of the ACME server
    #[test]
    fn retry_after_is_recorded_from_refusals_only() {
        let wished = |status: StatusCode, header: &'static str| {
            let retry_after = RetryAfter::default();
            let answer = Response::builder().status(status).header(RETRY_AFTER, header);
            retry_after.record(&answer.body(()).unwrap());
            retry_after.get().map(|pause| pause.as_secs())
        };
        assert_eq!(wished(StatusCode::TOO_MANY_REQUESTS, "3600"), Some(3_600));
        assert_eq!(wished(StatusCode::SERVICE_UNAVAILABLE, "999999999"), Some(86_400));
        assert_eq!(wished(StatusCode::TOO_MANY_REQUESTS, "soon"), None);
        assert_eq!(wished(StatusCode::OK, "3"), None);
    }

    #[test]
    fn retry_date_counts_from_the_response_date() {
        let pause = |date: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            let until = "Sun, 22 Nov 2026 03:00:00 GMT";
            headers.insert(RETRY_AFTER, http::HeaderValue::from_static(until));
            if let Some(date) = date {
                headers.insert(DATE, http::HeaderValue::from_static(date));
            }
            super::parse_retry_after(&headers).map(|pause| pause.as_secs())
        };
        assert_eq!(pause(Some("Sun, 22 Nov 2026 02:00:00 GMT")), Some(3_600));
        assert_eq!(pause(Some("Sun, 22 Nov 2026 04:00:00 GMT")), None);
        assert_eq!(pause(None), None);
    }
}
