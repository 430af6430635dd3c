//! Signing in with a passkey, without a password. A script asks for options, lets the browser answer
//! them, and posts the answer.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;

use super::finish::{SignInWay, local_path, start_session};
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::with_retry_after;
use crate::origin::Client;
use crate::passkey_ceremonies::{Assertion, CeremonyError, Credential};
use crate::route::{Access, Route};
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[
    Route::post("/login/passkey/options", Access::Anyone, || post(options)),
    Route::post("/login/passkey", Access::Anyone, || post(submit)),
];

/// The form that the script posts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SignInAnswer {
    /// JSON of the browser's answer.
    credential: String,
    next: Option<String>,
}

/// Returns the options of a sign-in.
pub(crate) async fn options(State(state): State<Dashboard>, client: Client) -> Response {
    if let Err(retry_after) = state.limits.acquire_beginning(client.address) {
        let why = ScreenError::TooManyAttempts { retry_after }.to_string();
        return with_retry_after(refuse(StatusCode::TOO_MANY_REQUESTS, &why), retry_after);
    }
    match state.passkeys.start_sign_in() {
        Ok(options) => json(options),
        Err(error) => refuse(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
    }
}

/// Signs in, and returns the path to go to.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    client: Client,
    Posted(given): Posted<SignInAnswer>,
) -> Result<Response, ScreenError> {
    let attempt = match state.limits.acquire_anonymous(client.address) {
        Ok(attempt) => attempt,
        Err(retry_after) => {
            let why = ScreenError::TooManyAttempts { retry_after }.to_string();
            let refused = refuse(StatusCode::TOO_MANY_REQUESTS, &why);
            return Ok(with_retry_after(refused, retry_after));
        }
    };
    let unknown = || refuse(StatusCode::UNAUTHORIZED, "no account has this passkey");
    let answer = match Assertion::parse(&given.credential) {
        Ok(answer) => answer,
        Err(error) => return Ok(refuse(StatusCode::BAD_REQUEST, &error.to_string())),
    };
    let credential_id = answer.credential_id();
    let found = state.look_up(&attempt, state.store.passkeys().find(&credential_id)).await?;
    let Some(passkey) = found else { return Ok(unknown()) };
    let credential = Credential {
        id: passkey.credential_id,
        public_key: passkey.public_key,
        state: passkey.state,
    };
    let handle = state.handle_of(passkey.user);
    let verified = state.passkeys.finish_sign_in(&answer, &credential, &handle);
    let new_state = match verified {
        Ok(new_state) => new_state,
        Err(error) => {
            let why = match &error {
                CeremonyError::Refused(why) => why.clone(),
                CeremonyError::Unavailable
                | CeremonyError::Busy
                | CeremonyError::Malformed
                | CeremonyError::UnknownChallenge => error.to_string(),
            };
            let who = (passkey.user, client.address);
            state.audit(who, "user.passkey_refuse", why).await;
            return Ok(refuse(StatusCode::UNAUTHORIZED, &error.to_string()));
        }
    };
    state.limits.give_back(&attempt);
    state.store.passkeys().record_use(passkey.id, new_state, state.ctx.now()).await?;
    let cookie = start_session(&state, passkey.user, &client, SignInWay::Passkey).await?;
    let mut response = (StatusCode::OK, local_path(given.next)).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}

/// Returns options for the script.
pub(crate) fn json(options: String) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    (StatusCode::OK, headers, options).into_response()
}

/// Returns a message for the script.
pub(crate) fn refuse(status: StatusCode, why: &str) -> Response {
    (status, [(CACHE_CONTROL, "no-store")], sentence(why)).into_response()
}
