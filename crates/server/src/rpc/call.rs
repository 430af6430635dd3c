//! What every service asks of a call: who makes it, which resource it means, what a change is signed
//! with, whether it is the repetition of another, and what a caller is told of a refusal.

use std::fmt::Display;
use std::str::FromStr;

use contract::monitor::{Secrets, revision};
use contract::rpc::{self, Error, Message, RequestContext};
use rules::{Timestamp, Violation, Violations, limits};
use sha2::{Digest as _, Sha256};
use store::{Actor, Change, Idempotency, StoreError};

use crate::app::{App, refusal};
use crate::auth::Caller;

/// How often an edit is tried that meets others. Of those that meet one gets through each time, so that
/// as many may be made of one resource at once.
const TRIES: usize = 32;

/// The caller whom the gate let in.
pub(super) fn caller(context: &RequestContext) -> Caller {
    *context.extensions().get::<Caller>().expect("the gate stands before every method")
}

/// A change that this caller makes now.
pub(super) fn change(app: &App, caller: Caller) -> Change {
    Change { actor: Actor::Key(caller.key), at: app.ctx.now() }
}

/// Whether this caller reads secrets: who may write them does (design §4).
pub(super) const fn secrets(caller: Caller) -> Secrets {
    if caller.scope.may_write() { Secrets::Shown } else { Secrets::LeftOut }
}

/// Returns the key that identifies a create and its retries, if the caller sent one. `request` is what a
/// retry repeats.
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
            let violation = Violation::unseen(rpc::IDEMPOTENCY_KEY_HEADER, allowed);
            Err(rpc::invalid(&Violations::from(violation)))
        }
    }
}

/// The resource in a request, which is required under this name.
pub(super) fn given<T>(resource: &str, given: Option<T>) -> Result<T, Error> {
    given.ok_or_else(|| missing(resource))
}

/// Which resource an update means, as the resource itself says.
pub(super) fn named<Id: FromStr>(
    resource: &str,
    noun: &str,
    id: Option<String>,
) -> Result<Id, Error> {
    let id = id.filter(|id| !id.is_empty()).ok_or_else(|| missing(&format!("{resource}.id")))?;
    id.parse().map_err(|_| rpc::not_found(noun, &id))
}

/// Which resource a request means. A text that is no id of such a one is the id of none.
pub(super) fn id<Id: FromStr>(noun: &str, id: &str) -> Result<Id, Error> {
    if id.is_empty() {
        return Err(missing("id"));
    }
    id.parse().map_err(|_| rpc::not_found(noun, id))
}

/// Violations in a resource, with their paths from the request on.
pub(super) fn wrong(resource: &'static str) -> impl Fn(Violations) -> Error {
    move |violations| rpc::invalid(&violations.under(resource))
}

/// What a caller is told of an error of the store about a resource that was sent.
pub(super) fn refused(resource: &'static str) -> impl Fn(StoreError) -> Error {
    let under = |violation: &Violation| Violations::from(violation.clone()).under(resource);
    move |error| {
        if let StoreError::Taken(violation) = &error {
            return rpc::taken(&under(violation));
        }
        if let StoreError::Refused(violation) = &error {
            return rpc::invalid(&under(violation));
        }
        refusal(error)
    }
}

/// How a caller wants an object changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edit<'a> {
    /// Names of the fields that change; `None` replaces all arguments.
    pub(super) mask: Option<&'a [String]>,
    /// Revision that the stored object must have.
    pub(super) revision: Option<&'a str>,
}

impl Edit<'_> {
    /// Rejects the edit of an object that was last changed at this time, if the caller expects another revision.
    /// The store compares the time again in the transaction that writes.
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

/// Tries an edit until it meets no other; `attempt` answers `None` where it met one.
pub(super) async fn edited<T, F: Future<Output = Result<Option<T>, Error>>>(
    noun: &str,
    id: impl Display,
    mut attempt: impl FnMut() -> F,
) -> Result<T, Error> {
    for _ in 0..TRIES {
        if let Some(edited) = attempt().await? {
            return Ok(edited);
        }
    }
    let why = format!("{noun} `{id}` is being modified concurrently; retry");
    Err(rpc::conflict(why))
}

fn missing(field: &str) -> Error {
    rpc::invalid(&Violation::unseen(field, "must be given").into())
}
