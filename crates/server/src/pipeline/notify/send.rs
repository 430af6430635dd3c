//! One delivery attempt: composes the message, acquires a permit, sends it and classifies the
//! response. It holds and queries nothing in the database meanwhile.

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use domain::notify::{
    Disposition, Envelope, EventBatch, HttpMessage, Message, Unconfigured, VendorConfig,
    VendorResponse, classify_response, compose, quote_response, thread,
};
use http::HeaderValue;
use http::header::RETRY_AFTER;
use pages::SubscriberTokens;
use probe::{Client, Request};
use rules::notification::ChannelSettings;
use rules::{ChannelId, ProviderType, Secret, Timestamp, WorkspaceId, limits};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use web::context::Context;

use super::concurrency::{ConcurrencyLimits, Permit};
use super::outcome::{AttemptOutcome, SendDisposition, SendError};
use super::smtp::Mailer;

/// Maximum duration of an attempt, from the DNS lookup to the response.
pub(super) const ATTEMPT_WITHIN: Duration = limits::DELIVERY_ATTEMPT_TIMEOUT;
/// Receiver that all emails count towards.
const MAIL_SERVER: &str = "mail server";

/// Recipient of a message and the context of the attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendTarget<'t> {
    pub(super) workspace: WorkspaceId,
    pub(super) channel: ChannelId,
    pub(super) settings: &'t ChannelSettings,
    /// Signing secrets of webhooks, newest first.
    pub(super) signing: &'t [Secret<Vec<u8>>],
    /// Link to more details; see `links`.
    pub(super) link: Option<&'t str>,
}

/// Dependencies of sending.
#[derive(Debug)]
pub(super) struct Sender {
    pub(super) ctx: Context,
    pub(super) client: Client,
    pub(super) mailer: Option<Mailer>,
    pub(super) vendors: VendorConfig,
    /// URL of this server, without a trailing slash.
    pub(super) public_url: Option<String>,
    pub(super) concurrency: ConcurrencyLimits,
    /// Tokens in the links to subscribers.
    pub(super) tokens: SubscriberTokens,
}

impl Sender {
    /// Sends `batch` to a channel once, in its turn. `key` identifies it and is the same in every
    /// attempt.
    ///
    /// Returns `None` if `stop` is cancelled first; then nothing was sent.
    pub(super) async fn send_batch(
        &self,
        target: SendTarget<'_>,
        batch: EventBatch<'_>,
        key: &str,
        stop: &CancellationToken,
    ) -> Option<AttemptOutcome> {
        let whose = (target.workspace, target.settings.provider.kind());
        self.send_composed(whose, || self.compose(target, batch, key), stop).await
    }

    /// Sends the message that `compose` creates once, in the turn of its workspace. The response is
    /// classified as this kind.
    ///
    /// Returns `None` if `stop` is cancelled first; then nothing was sent.
    pub(super) async fn send_composed(
        &self,
        (workspace, kind): (WorkspaceId, ProviderType),
        compose: impl Fn() -> Result<Message, Unconfigured>,
        stop: &CancellationToken,
    ) -> Option<AttemptOutcome> {
        let composed = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            composed = self.compose_with_permit(workspace, compose) => composed,
        };
        Some(match composed {
            Ok((message, permit)) => {
                let sent = self.send(kind, &message).await;
                drop(permit);
                sent
            }
            Err(missing) => {
                AttemptOutcome::give_up(self.ctx.now(), Duration::ZERO, missing.to_string())
            }
        })
    }

    async fn send(&self, kind: ProviderType, message: &Message) -> AttemptOutcome {
        let (at, start) = (self.ctx.now(), Instant::now());
        let response = match message {
            Message::Http(message) => self.over_http(message, at).await,
            Message::Mail(mail) => match &self.mailer {
                Some(mailer) => mailer.send(mail, at, ATTEMPT_WITHIN).await,
                None => Err(SendError::Impossible("this server has no mail server".to_owned())),
            },
        };
        let took = start.elapsed();
        let password = self.mailer.as_ref().and_then(Mailer::password);
        let without_secrets = |mut words: String| {
            message.hide_secrets(&mut words, password);
            words
        };
        let response = match response {
            Ok(response) | Err(SendError::Responded(response)) => response,
            Err(SendError::Impossible(why)) => return AttemptOutcome::give_up(at, took, why),
            Err(SendError::NoResponse(why)) => {
                let response = without_secrets(why);
                return AttemptOutcome {
                    at,
                    took,
                    status: None,
                    response,
                    disposition: SendDisposition::Retry(None),
                };
            }
        };
        let (words, disposition) = match classify_response(kind, &response) {
            Disposition::Accepted => (quote_response(&response), SendDisposition::Accepted),
            Disposition::Again { after, why } => (why, SendDisposition::Retry(after)),
            Disposition::Rejected(refusal) => (refusal.why, SendDisposition::GiveUp),
        };
        let text = without_secrets(words);
        AttemptOutcome { at, took, status: Some(response.status), response: text, disposition }
    }

    /// Returns the message with its permit. A message that waited is composed again, because
    /// signatures are valid only for minutes.
    async fn compose_with_permit(
        &self,
        workspace: WorkspaceId,
        compose: impl Fn() -> Result<Message, Unconfigured>,
    ) -> Result<(Message, Permit), Unconfigured> {
        let message = compose()?;
        let receiver = receiver(&message);
        if let Some(permit) = self.concurrency.try_acquire(workspace, &receiver) {
            return Ok((message, permit));
        }
        let permit = self.concurrency.acquire(workspace, &receiver).await;
        Ok((compose()?, permit))
    }

    fn compose(
        &self,
        target: SendTarget<'_>,
        batch: EventBatch<'_>,
        key: &str,
    ) -> Result<Message, Unconfigured> {
        let thread = match batch {
            EventBatch::One(event) => thread(event),
            EventBatch::Digest(_) => key.to_owned(),
        };
        let envelope = Envelope {
            channel: target.channel,
            key,
            thread: &thread,
            now: self.ctx.now(),
            signing: target.signing,
            link: target.link.map(str::to_owned),
        };
        let ChannelSettings { provider, name, .. } = target.settings;
        compose(provider, name.as_deref(), &self.vendors, batch, &envelope)
    }

    async fn over_http(
        &self,
        message: &HttpMessage,
        now: Timestamp,
    ) -> Result<VendorResponse, SendError> {
        let request = request(message).map_err(SendError::Impossible)?;
        let sent = self.client.send(&request, ATTEMPT_WITHIN).await;
        let response = sent.map_err(|failure| SendError::NoResponse(failure.detail))?;
        if response.endless && response.status.is_success() {
            // The receiver may have accepted the message. A retry has the same key.
            let status = response.status.as_u16();
            return Err(SendError::NoResponse(format!("answered {status} with an endless body")));
        }
        let retry_after = response.headers.get(RETRY_AFTER);
        Ok(VendorResponse {
            status: response.status.as_u16(),
            retry_after: retry_after.and_then(|value| parse_retry_after(value.to_str().ok()?, now)),
            body: String::from_utf8_lossy(&response.body).into_owned(),
        })
    }
}

/// Returns the receiver that the permits are counted for.
fn receiver(message: &Message) -> String {
    let Message::Http(message) = message else { return MAIL_SERVER.to_owned() };
    let Ok(url) = url::Url::parse(message.url.expose()) else { return String::new() };
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// Builds the HTTP request. Header values may be any bytes except line ends; URLs are normalized as
/// in browsers.
fn request(message: &HttpMessage) -> Result<Request, String> {
    let url = message.url.expose().parse();
    let url = url.map_err(|why| format!("invalid URL of the channel: {why}"))?;
    let header = |(name, value): &(http::HeaderName, Secret<String>)| {
        let mut value = HeaderValue::from_bytes(value.expose().as_bytes())
            .map_err(|_| format!("invalid character in the header `{name}`"))?;
        value.set_sensitive(true);
        Ok((name.clone(), value))
    };
    Ok(Request {
        method: message.method.clone(),
        url,
        headers: message.headers.iter().map(header).collect::<Result<_, String>>()?,
        body: Bytes::copy_from_slice(&message.body),
    })
}

/// Parses `retry-after`: seconds or a date (RFC 9110 §10.2.3).
fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    let since_1970 = date.duration_since(UNIX_EPOCH).ok()?;
    let date = Timestamp::from_millis(i64::try_from(since_1970.as_millis()).ok()?);
    Some(date.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_millis(1_445_412_420_000);
        let cases = [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(60)),
            ("Wed, 21 Oct 2015 07:26:00 GMT", Some(0)),
            ("soon", None),
            ("-5", None),
            ("99999999999999999999", None),
        ];
        for (text, seconds) in cases {
            assert_eq!(parse_retry_after(text, now), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
