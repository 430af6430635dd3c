//! The passkeys of an account: a script adds one, and forms rename and remove them.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http::{HeaderMap, StatusCode};
use rules::{PasskeyId, UserId};
use serde::Deserialize;
use store::{AddedPasskey, NewPasskey, Passkeys, StoreError};

use super::confirmation::is_recent;
use super::screen::{PasskeyProblem, Problems, render};
use crate::emails::AccountEmail;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::html::{redirect_with_notice, with_retry_after};
use crate::passkey_ceremonies::{CeremonyError, HANDLE_BYTES, Handle};
use crate::route::{Access, Route};
use crate::session::SignedIn;
use crate::sign_in::passkey::{json, refuse};
use crate::sign_in_limits::OwnAction;
use crate::state::Dashboard;

/// Maximum length of a name, in characters.
const NAME_CHARS_MAX: usize = 64;

pub(crate) const ROUTES: &[Route] = &[
    Route::post("/account/passkeys/options", Access::SignedIn, || post(options)),
    Route::post("/account/passkeys", Access::SignedIn, || post(add)),
    Route::post("/account/passkeys/{passkey}/name", Access::SignedIn, || post(rename)),
    Route::post("/account/passkeys/{passkey}/remove", Access::SignedIn, || post(remove)),
];

/// The form that the script posts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    /// JSON of the browser's answer.
    credential: String,
    name: String,
}

/// Reason not to add a passkey.
const OLD_SESSION: &str =
    "sign out and in again first; a passkey needs a sign-in of the last 15 minutes";

/// Form of a name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Name {
    name: String,
}

impl Dashboard {
    /// Returns the identifier of a user for authenticators. Only this server can tell whose it is.
    pub(crate) fn handle_of(&self, user: UserId) -> Handle {
        let derived = self.signer().derive("passkey user", user.to_string().as_bytes());
        let mut handle = [0; HANDLE_BYTES];
        handle.copy_from_slice(&derived[..HANDLE_BYTES]);
        handle
    }
}

/// Returns the options of a new passkey.
pub(crate) async fn options(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
) -> Result<Response, ScreenError> {
    if !is_recent(&state, &signed_in) {
        return Ok(refuse(StatusCode::FORBIDDEN, OLD_SESSION));
    }
    if let Err(retry_after) = state.limits.acquire_own(signed_in.user.id, OwnAction::NewPasskey) {
        let why = ScreenError::TooManyAttempts { retry_after }.to_string();
        let refused = refuse(StatusCode::TOO_MANY_REQUESTS, &why);
        return Ok(with_retry_after(refused, retry_after));
    }
    let user = &signed_in.user;
    let existing = state.store.passkeys().list(user.id).await?;
    let existing = existing.into_iter().map(|it| it.credential_id).collect();
    let handle = state.handle_of(user.id);
    Ok(match state.passkeys.start_registration(&handle, &user.email, existing) {
        Ok(options) => json(options),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    })
}

/// Adds a passkey, and returns the path to go to.
pub(crate) async fn add(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Posted(given): Posted<Answer>,
) -> Result<Response, ScreenError> {
    if !is_recent(&state, &signed_in) {
        return Ok(refuse(StatusCode::FORBIDDEN, OLD_SESSION));
    }
    let user = &signed_in.user;
    let verified = state.passkeys.finish_registration(&state.handle_of(user.id), &given.credential);
    let credential = match verified {
        Ok(credential) => credential,
        Err(error) => {
            if let CeremonyError::Refused(why) = &error {
                state.audit((user.id, signed_in.address), "user.passkey_refuse", why.clone()).await;
            }
            return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()));
        }
    };
    let new = NewPasskey {
        id: state.ctx.new_id(),
        user: user.id,
        credential_id: credential.id,
        public_key: credential.public_key,
        state: credential.state,
        name: valid_name(&given.name).unwrap_or_else(|| "Passkey".to_owned()),
    };
    let added = state.store.passkeys().add(new, state.change_by(user.id, signed_in.address)).await;
    match added {
        Ok(AddedPasskey::Stored) => {}
        Ok(AddedPasskey::LimitReached) => {
            let why = format!("you have {} passkeys; remove one first", Passkeys::MAX);
            return Ok(refuse(StatusCode::UNPROCESSABLE_ENTITY, &why));
        }
        Err(StoreError::AlreadyExists { .. }) => {
            return Ok(refuse(StatusCode::CONFLICT, "this passkey was added already"));
        }
        Err(error) => return Err(error.into()),
    }
    state.email_later(user.id, AccountEmail {
        to: user.email.clone(),
        subject: "A passkey was added to your account",
        text: "It signs in without the password. If it was not you, remove it and change your password."
            .to_owned(),
        link: None,
    });
    let mut response = redirect_with_notice("/account", "The passkey was added.");
    *response.status_mut() = StatusCode::OK;
    let (parts, _) = response.into_parts();
    Ok((parts, "/account").into_response())
}

/// Renames a passkey.
pub(crate) async fn rename(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Path(passkey): Path<String>,
    request: HeaderMap,
    Posted(given): Posted<Name>,
) -> Result<Response, ScreenError> {
    let id = PasskeyId::parse(&passkey).map_err(|_| ScreenError::NotFound)?;
    let Some(name) = valid_name(&given.name) else {
        let why = format!("The name of a passkey has 1 to {NAME_CHARS_MAX} characters.");
        let passkey = Some(PasskeyProblem { id, why, entered_name: Some(given.name) });
        let problems = Problems { passkey, ..Problems::default() };
        return render(&state, &signed_in, &request, problems).await;
    };
    let user = signed_in.user.id;
    let change = state.change_by(user, signed_in.address);
    state.store.passkeys().rename(user, id, name, change).await?;
    Ok(redirect_with_notice("/account", "The passkey was renamed."))
}

/// Removes a passkey.
pub(crate) async fn remove(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Path(passkey): Path<String>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let id = PasskeyId::parse(&passkey).map_err(|_| ScreenError::NotFound)?;
    if !is_recent(&state, &signed_in) {
        let why = "Sign out and in again first; a removal needs a sign-in of the last 15 minutes.";
        let passkey = Some(PasskeyProblem { id, why: why.to_owned(), entered_name: None });
        let problems = Problems { passkey, ..Problems::default() };
        return render(&state, &signed_in, &request, problems).await;
    }
    let user = &signed_in.user;
    state.store.passkeys().remove(user.id, id, state.change_by(user.id, signed_in.address)).await?;
    state.email_later(user.id, AccountEmail {
        to: user.email.clone(),
        subject: "A passkey was removed from your account",
        text: "It no longer signs in. If it was not you, change your password and add the passkey again."
            .to_owned(),
        link: None,
    });
    Ok(redirect_with_notice("/account", "The passkey was removed."))
}

fn valid_name(given: &str) -> Option<String> {
    let name = given.trim();
    let is_valid = !name.is_empty()
        && name.chars().count() <= NAME_CHARS_MAX
        && !name.chars().any(char::is_control);
    is_valid.then(|| name.to_owned())
}
