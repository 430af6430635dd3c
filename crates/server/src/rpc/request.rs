//! Functions that every service needs for a call: the caller, the requested resource, the author of
//! a change, idempotency and errors of the store.

use std::fmt::Display;
use std::str::FromStr;

use contract::SecretVisibility;
use contract::monitor::{decode_instant, revision};
use contract::rpc::{self, Error, Message, RequestContext};
use rules::{Role, Timestamp, Violation, Violations, limits};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use store::{AuditContext, FieldChanges, Idempotency, ResourceVersions, StoreError};

use crate::auth::{Caller, Principal};
use crate::rpc::{Services, rpc_error};

/// Maximum number of attempts of an edit. Each time edits conflict, one of them succeeds, so this
/// many concurrent edits of a resource are possible.
const ATTEMPTS_MAX: usize = 32;

/// Returns the caller that the gate authenticated.
pub(super) fn caller(context: &RequestContext) -> Caller {
    *context.extensions().get::<Caller>().expect("authentication runs before every method")
}

/// Returns the author and time of a change that this caller makes now.
pub(super) fn change(services: &Services, caller: Caller) -> AuditContext {
    caller.change(services.ctx.now())
}

/// Rejects a person with a lower role. Keys pass: their scope decides.
pub(super) fn require_role(caller: Caller, needed: Role) -> Result<(), Error> {
    match caller.principal {
        Principal::Key(_) => Ok(()),
        Principal::Member { .. } => require_person(caller, needed),
    }
}

/// Rejects a key, and a person with a lower role.
pub(super) fn require_person(caller: Caller, needed: Role) -> Result<(), Error> {
    match caller.principal {
        Principal::Member { role, .. } if role.includes(needed) => Ok(()),
        Principal::Member { .. } | Principal::Key(_) => {
            Err(rpc_error(StoreError::RoleRequired { role: needed }))
        }
    }
}

/// Returns the fields that differ between two versions of a resource, as a read key sees them.
/// `encode` returns the message of the contract.
pub(super) fn field_changes<R, M: Serialize>(
    [before, after]: [&R; 2],
    encode: impl Fn(&R, SecretVisibility) -> M,
) -> FieldChanges {
    let json = |version: &R, secrets| {
        let message = serde_json::to_value(encode(version, secrets));
        let message = message.expect("a message of the contract has a JSON form");
        let fields = message.as_object().into_iter().flatten();
        Value::Object(fields.map(|(name, value)| (snake_case(name), value.clone())).collect())
    };
    let versions = |secrets| [json(before, secrets), json(after, secrets)];
    let complete = versions(SecretVisibility::Visible);
    let redacted = versions(SecretVisibility::Redacted);
    FieldChanges::between(&ResourceVersions {
        complete: complete.each_ref(),
        redacted: redacted.each_ref(),
    })
}

/// Converts a field's name in JSON to its name in the contract.
fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// Returns whether this caller reads secrets. Write keys do (design §4).
pub(super) const fn secrets(caller: Caller) -> SecretVisibility {
    caller.secrets()
}

/// Returns the key that identifies a create and its retries, if the caller sent one. `request` must
/// be equal in a retry.
pub(super) fn idempotency(
    context: &RequestContext,
    method: &'static str,
    request: &impl Message,
) -> Result<Option<Idempotency>, Error> {
    let Some(header) = context.header(rpc::IDEMPOTENCY_KEY_HEADER) else { return Ok(None) };
    let max = limits::IDEMPOTENCY_KEY_CHARS_MAX as usize;
    match header.to_str() {
        Ok(key) if (1..=max).contains(&key.len()) => {
            let request = Sha256::digest(request.encode_to_vec()).into();
            Ok(Some(Idempotency { method, key: key.to_owned(), request }))
        }
        Ok(_) | Err(_) => {
            let allowed = format!("must be 1 to {max} characters of ASCII");
            let violation = Violation::without_value(rpc::IDEMPOTENCY_KEY_HEADER, allowed);
            Err(rpc::invalid(&Violations::from(violation)))
        }
    }
}

/// Returns the resource in a request. Rejects a request without it.
pub(super) fn require<T>(resource: &str, given: Option<T>) -> Result<T, Error> {
    given.ok_or_else(|| missing(resource))
}

/// Returns the ID in the resource of an update.
pub(super) fn require_id<Id: FromStr>(
    resource: &str,
    noun: &str,
    id: Option<String>,
) -> Result<Id, Error> {
    let id = id.filter(|id| !id.is_empty()).ok_or_else(|| missing(&format!("{resource}.id")))?;
    id.parse().map_err(|_| rpc::not_found(noun, &id))
}

/// Parses the ID in a request. A malformed ID is not found.
pub(super) fn id<Id: FromStr>(noun: &str, id: &str) -> Result<Id, Error> {
    if id.is_empty() {
        return Err(missing("id"));
    }
    id.parse().map_err(|_| rpc::not_found(noun, id))
}

/// Converts violations in a resource to an error with paths from the request on.
pub(super) fn invalid(resource: &'static str) -> impl Fn(Violations) -> Error {
    move |violations| rpc::invalid(&violations.under(resource))
}

/// Converts an error of the store about a resource in the request.
pub(super) fn store_error(resource: &'static str) -> impl Fn(StoreError) -> Error {
    let under = |violation: &Violation| Violations::from(violation.clone()).under(resource);
    move |error| {
        if let StoreError::Taken(violation) = &error {
            return rpc::taken(&under(violation));
        }
        if let StoreError::Refused(violation) = &error {
            return rpc::invalid(&under(violation));
        }
        rpc_error(error)
    }
}

/// Options of an edit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit<'a> {
    /// Names of the fields to change. `None` replaces all arguments.
    pub(super) mask: Option<&'a [String]>,
    /// Expected revision of the stored object.
    pub(super) revision: Option<&'a str>,
}

impl Edit<'_> {
    /// Rejects an edit if the caller expects another revision than that of the last change. The
    /// store compares the time again in the transaction that writes.
    pub(super) fn require_revision(
        &self,
        noun: &str,
        id: impl Display,
        updated_at: Timestamp,
    ) -> Result<(), Error> {
        let current = revision(updated_at);
        match self.revision {
            Some(expected) if expected != current => Err(rpc::stale(format!(
                "{noun} `{id}` has changed: its revision is `{current}`; fetch it again"
            ))),
            Some(_) | None => Ok(()),
        }
    }
}

/// Retries an edit until it does not conflict. `attempt` returns `None` on a conflict.
pub(super) async fn retry_edit<T, F: Future<Output = Result<Option<T>, Error>>>(
    noun: &str,
    id: impl Display,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Error> {
    for _ in 0..ATTEMPTS_MAX {
        if let Some(edited) = attempt().await? {
            return Ok(edited);
        }
    }
    let why = format!("{noun} `{id}` is being modified concurrently; retry");
    Err(rpc::conflict(why))
}

fn missing(field: &str) -> Error {
    rpc::invalid(&Violation::without_value(field, "must be given").into())
}

/// Converts a time in a request. Returns a violation if it is out of range.
pub(super) fn parse_time(
    given: Option<&contract::monitor::wire::Timestamp>,
    field: &'static str,
    wrong: &mut Vec<Violation>,
) -> Option<Timestamp> {
    let given = given?;
    let at = decode_instant(given);
    if at.is_none() {
        wrong.push(Violation::without_value(field, "must be a time of this age"));
    }
    at
}
