//! Webhooks of users: versioned JSON, signed as in Standard Webhooks. The schema is
//! `docs/reference/webhook.schema.json`. Format:
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>

mod body;
mod sign;

use http::HeaderName;
use http::header::CONTENT_TYPE;
use rules::notification::Webhook;
use rules::{Secret, Timestamp};

pub use self::sign::signing_secret_text;

use self::body::body;
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::classify_status;

const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

pub(super) const KIND: Kind<Webhook> = Kind::new(compose, classify);

/// Composes the message. The user's headers may replace the content type, but not the signature
/// headers.
fn compose(webhook: &Webhook, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { batch, envelope, .. } = alert;
    let mut message = HttpMessage::json(&webhook.endpoint, &body(*batch, envelope));
    let own = webhook.headers.iter().filter_map(|header| {
        let name = HeaderName::from_bytes(header.key.as_bytes()).ok()?;
        Some((name, header.value.clone()))
    });
    let own: Vec<_> = own.collect();
    let replaced = |name: &HeaderName| own.iter().any(|(other, _)| other == name);
    message.headers.retain(|(name, _)| !replaced(name));
    message.headers.extend(own);
    if !message.headers.iter().any(|(name, _)| *name == CONTENT_TYPE) {
        message = message.with_header(CONTENT_TYPE, "application/json".to_owned());
    }
    signed(message, envelope.key, envelope.now, envelope.signing).into()
}

/// Signs `message`, replacing any signature headers.
pub(super) fn signed(
    mut message: HttpMessage,
    key: &str,
    now: Timestamp,
    signing: &[Secret<Vec<u8>>],
) -> HttpMessage {
    let seconds = now.as_millis().div_euclid(1_000);
    let signature = sign::signatures(signing, key, seconds, &message.body);
    for name in [ID, TIMESTAMP, SIGNATURE] {
        message.headers.retain(|(other, _)| *other != name);
    }
    message = message.with_header(ID, key.to_owned()).with_header(TIMESTAMP, seconds.to_string());
    match signature {
        Some(signature) => message.with_header(SIGNATURE, signature),
        None => message,
    }
}

/// Classifies a response by its status, as Standard Webhooks requires: 410 means that the endpoint
/// is gone.
fn classify(response: &VendorResponse) -> Disposition {
    classify_status(response, None, None)
}

#[cfg(test)]
pub(super) mod tests;
