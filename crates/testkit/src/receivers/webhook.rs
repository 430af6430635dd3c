//! A user's endpoint that verifies webhooks like the libraries of Standard Webhooks, and validates
//! bodies against our own schema.
//! Reference:
//! <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#verifying-webhook-authenticity>

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use rules::{Secret, Timestamp};
use serde_json::json;
use sha2::Sha256;
use web::context::Context;

use super::schema;
use super::validation::{Rejection, Validation, json as answer, object, path, refuse};
use crate::target::{Received, ScriptedResponse};

/// Path of the endpoint.
pub(super) const PATH: &str = "hook";
/// Name and value of the user-defined header that it requires.
pub(super) const OWN_HEADER: (&str, &str) = ("X-Team", "core & more");

/// Maximum difference between the clocks of sender and receiver.
const TOLERANCE: Duration = Duration::from_mins(5);

/// Verifies signatures and timestamps.
#[derive(Debug)]
pub(super) struct Verifier {
    /// Accepted secrets.
    pub(super) secrets: Vec<Secret<Vec<u8>>>,
    /// Clock of the receiver.
    pub(super) ctx: Context,
}

impl Verifier {
    pub(super) fn validate(&self, request: &Received) -> Validation {
        if path(request) != [PATH] {
            return Err(wrong(404, "not found"));
        }
        if request.header(&OWN_HEADER.0.to_lowercase()) != Some(OWN_HEADER.1) {
            return Err(wrong(401, "the user-defined header is missing"));
        }
        self.verify(request).map_err(|why| wrong(401, why))?;
        let Some(body) = object(request) else {
            return Err(wrong(400, "the body is not JSON"));
        };
        match schema::mismatch(&body) {
            Some(mismatch) => Err(wrong(400, &mismatch)),
            None => Ok(ScriptedResponse::status(204)),
        }
    }

    fn verify(&self, request: &Received) -> Result<(), &'static str> {
        let header = |name| request.header(name).filter(|value| !value.is_empty());
        let id = header("webhook-id").ok_or("webhook-id is missing")?;
        let at = header("webhook-timestamp").ok_or("webhook-timestamp is missing")?;
        let signatures = header("webhook-signature").ok_or("webhook-signature is missing")?;
        let seconds: i64 = at.parse().map_err(|_| "webhook-timestamp is not a number")?;
        let sent = Timestamp::from_millis(seconds.saturating_mul(1_000));
        let now = self.ctx.now();
        // Timestamps are truncated to seconds, so a new message seems slightly old.
        let apart = sent.since(now).max(now.since(sent));
        if apart > TOLERANCE + Duration::from_secs(1) {
            return Err("webhook-timestamp is too old or too new");
        }
        let mut given = signatures.split(' ').filter_map(|it| it.strip_prefix("v1,"));
        let is_ours = |given: &str| {
            let Ok(signature) = BASE64_STANDARD.decode(given) else { return false };
            self.secrets.iter().any(|secret| {
                let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose())
                    .expect("HMAC accepts keys of any length");
                mac.update(format!("{id}.{seconds}.").as_bytes());
                mac.update(request.body.as_bytes());
                mac.verify_slice(&signature).is_ok()
            })
        };
        given.any(is_ours).then_some(()).ok_or("no signature matches")
    }
}

fn wrong(status: u16, why: &str) -> Box<Rejection> {
    refuse(why, answer(status, &json!({ "error": why })))
}
