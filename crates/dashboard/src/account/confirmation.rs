//! Confirms a change of an account with its password, or by a recent sign-in, so that a borrowed
//! browser is not enough.

use std::time::Duration;

use rules::Secret;

use crate::error::{ScreenError, sentence};
use crate::origin::Client;
use crate::session::SignedIn;
use crate::state::Dashboard;

/// Age of a session in which a person may add another way to sign in.
const RECENT: Duration = Duration::from_mins(15);

/// Returns whether the person signed in a moment ago.
pub(super) fn is_recent(state: &Dashboard, signed_in: &SignedIn) -> bool {
    state.ctx.now().since(signed_in.session.created_at) <= RECENT
}

/// Checks the password of the person. Returns a message beside the field if it is not right.
pub(super) async fn confirm(
    state: &Dashboard,
    signed_in: &SignedIn,
    client: &Client,
    password: Secret<String>,
) -> Result<Result<(), String>, ScreenError> {
    let user = &signed_in.user;
    let attempt = match state.limits.acquire_confirmation(user.id, client.address) {
        Ok(attempt) => attempt,
        Err(retry_after) => {
            return Ok(Err(sentence(&ScreenError::TooManyAttempts { retry_after }.to_string())));
        }
    };
    let (_, hash) = state.look_up(&attempt, state.store.users().get(user.id)).await?;
    if hash.expose().is_empty() {
        let why =
            "Your account has no password. Set one with “Forgot your password?” on the login page.";
        return Ok(Err(why.to_owned()));
    }
    match state.passwords.verify(password, Some(hash)).await {
        Ok(true) => {
            state.limits.give_back(&attempt);
            Ok(Ok(()))
        }
        Ok(false) => {
            let who = (user.id, client.address);
            state.audit(who, "user.confirmation_refuse", String::new()).await;
            Ok(Err("This is not your password.".to_owned()))
        }
        Err(busy) => {
            state.limits.give_back(&attempt);
            Ok(Err(sentence(&busy.to_string())))
        }
    }
}
