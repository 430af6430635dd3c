//! What every service asks of a call: who makes it, what a change is signed with, and whether it is
//! the repetition of another.

use contract::monitor::Secrets;
use contract::rpc::{self, Error, RequestContext};
use rules::{Violation, Violations, limits};
use store::{Actor, Change, Idempotency};

use crate::app::App;
use crate::auth::Caller;

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

/// The key that makes repetitions of a create one with it, where the caller sent one.
pub(super) fn idempotency(
    context: &RequestContext,
    method: &'static str,
) -> Result<Option<Idempotency>, Error> {
    let Some(header) = context.header(rpc::IDEMPOTENCY_KEY_HEADER) else { return Ok(None) };
    let max = limits::IDEMPOTENCY_KEY_CHARS_MAX as usize;
    match header.to_str() {
        Ok(key) if (1..=max).contains(&key.len()) => {
            Ok(Some(Idempotency { method, key: key.to_owned() }))
        }
        Ok(_) | Err(_) => {
            let allowed = format!("must be 1 to {max} characters of ASCII");
            let violation = Violation::unseen(rpc::IDEMPOTENCY_KEY_HEADER, allowed);
            Err(rpc::invalid(&Violations::from(violation)))
        }
    }
}
