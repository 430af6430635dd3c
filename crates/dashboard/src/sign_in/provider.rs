//! Signing in at the provider of single sign-on: the way there, and the way back. A signed cookie
//! binds the answer to the browser that asked.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::SET_COOKIE;
use rules::Secret;
use serde::{Deserialize, Serialize};
use store::{NewUser, ProviderAccount, StoreError};
use tokio::time::timeout;

use super::finish::{SignInWay, finish, local_path};
use crate::access::DATABASE_WITHIN;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::redirect;
use crate::origin::Client;
use crate::route::{Access, Route};
use crate::session::{Cookie, read_cookie};
use crate::sign_in_limits::Attempt;
use crate::signed_state::RefusedState;
use crate::single_sign_on::{
    CALLBACK, ProviderPerson, SignInSecrets, SingleSignOn, SingleSignOnError,
};
use crate::state::Dashboard;

const COOKIE_NAME: &str = "aloft_provider";
const PURPOSE: &str = "single sign-on";
/// Time that a person may spend at the provider.
const LIFETIME: Duration = Duration::from_mins(10);
/// Time for the requests to the provider, in seconds.
const SECONDS: u64 = 20;
/// Maximum length of a name from the provider, in characters.
const NAME_CHARS_MAX: usize = 256;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/login/provider", Access::Anyone, || get(begin)).within(SECONDS),
    Route::get(CALLBACK, Access::Anyone, || get(complete)).within(SECONDS),
];

/// Where to go after signing in.
#[derive(Debug, Deserialize)]
pub(crate) struct Wish {
    next: Option<String>,
}

/// Answer of the provider, in the URL. It is never printed, because a code is a secret.
#[derive(Deserialize)]
pub(crate) struct ProviderAnswer {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
    /// Issuer, if the provider names it (RFC 9207).
    iss: Option<String>,
}

/// State of a browser at the provider.
#[derive(Debug, Deserialize, Serialize)]
struct ProviderStep {
    /// Random bytes from which the secrets of this sign-in derive.
    seed: String,
    next: String,
}

/// Leads to the provider.
pub(crate) async fn begin(
    State(state): State<Dashboard>,
    Asked(wish): Asked<Wish>,
    client: Client,
) -> Result<Response, ScreenError> {
    let provider = state.single_sign_on.clone().ok_or(ScreenError::NotFound)?;
    if client.is_embedded {
        return Err(ScreenError::CrossSite);
    }
    let limited = state.limits.acquire_beginning(client.address);
    limited.map_err(|retry_after| ScreenError::TooManyAttempts { retry_after })?;
    let seed = URL_SAFE_NO_PAD.encode(state.ctx.secret_bytes());
    let secrets = secrets(&state, &seed);
    let url = provider.begin(&state.backend, &secrets, state.ctx.now()).await;
    let url = url.map_err(|error| {
        tracing::error!("single sign-on failed: {}", error.reason());
        ScreenError::SingleSignOn(error.to_string())
    })?;
    let step = ProviderStep { seed, next: local_path(wish.next) };
    let value = state.signer().sign(PURPOSE, step, LIFETIME);
    let cookie = Cookie { name: COOKIE_NAME, value: &value, lifetime: LIFETIME };
    let mut response = redirect(&url);
    response.headers_mut().append(SET_COOKIE, cookie.header(&client));
    Ok(response)
}

/// Signs in with the provider's answer.
pub(crate) async fn complete(
    State(state): State<Dashboard>,
    Asked(answer): Asked<ProviderAnswer>,
    client: Client,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let provider = state.single_sign_on.clone().ok_or(ScreenError::NotFound)?;
    if client.is_embedded {
        return Err(ScreenError::CrossSite);
    }
    let (accepted, attempt) = match begun(&state, &answer, &request) {
        Ok(begun) => {
            // Only answers of the provider to this browser count, so no other site uses attempts up.
            let attempt = state.limits.acquire_answer(client.address);
            let attempt =
                attempt.map_err(|retry_after| ScreenError::TooManyAttempts { retry_after })?;
            (accept(&state, &provider, answer, begun).await, Some(attempt))
        }
        Err(error) => (Err(error), None),
    };
    let (person, next) = match accepted {
        Ok(accepted) => accepted,
        Err(error) => return refuse(&state, &client, (error, attempt)).await,
    };
    let account = account(&state, &provider, person);
    let (author, address) = (state.clone(), client.address);
    let change = move |user| author.change_by(user, address);
    let stored = async {
        let signed_in = match state.store.identities().sign_in(account, change).await {
            Ok(signed_in) => signed_in,
            Err(error @ StoreError::NotSetUp) => {
                return Err(ScreenError::SingleSignOn(error.to_string()));
            }
            Err(error) => return Err(error.into()),
        };
        let end = (SignInWay::SingleSignOn, next.as_str());
        finish(&state, signed_in.user, &client, end).await
    };
    // The time of the route is for the provider, not for the database.
    let stored = timeout(DATABASE_WITHIN, Box::pin(stored)).await;
    let stored = stored.unwrap_or(Err(ScreenError::SlowDatabase));
    // The provider accepted the person, so that a failure is ours.
    if let Some(attempt) = attempt {
        state.limits.give_back(&attempt);
    }
    let mut response = stored?;
    let removal = Cookie::removal(COOKIE_NAME).header(&client);
    response.headers_mut().append(SET_COOKIE, removal);
    Ok(response)
}

/// Answers a sign-in that was not accepted. An unreachable provider gives the attempt back.
async fn refuse(
    state: &Dashboard,
    client: &Client,
    (error, attempt): (SingleSignOnError, Option<Attempt>),
) -> Result<Response, ScreenError> {
    if let (SingleSignOnError::Provider(_), Some(attempt)) = (&error, &attempt) {
        state.limits.give_back(attempt);
    }
    if state.limits.try_record_stranger(client.address) {
        let why = error.reason();
        let recorded = state.audit_stranger("single_sign_on.refuse", &why, client.address);
        let recorded = timeout(DATABASE_WITHIN, recorded).await;
        recorded.map_err(|_| ScreenError::SlowDatabase)?;
    }
    let mut response = ScreenError::SingleSignOn(error.to_string()).into_response();
    // An answer to another state may come from another site, and ends nothing.
    if attempt.is_some() {
        let removal = Cookie::removal(COOKIE_NAME).header(client);
        response.headers_mut().append(SET_COOKIE, removal);
    }
    Ok(response)
}

/// A sign-in that this browser began, with its secrets.
struct BegunSignIn {
    next: String,
    secrets: SignInSecrets,
}

/// Returns the sign-in that an answer belongs to.
fn begun(
    state: &Dashboard,
    answer: &ProviderAnswer,
    request: &HeaderMap,
) -> Result<BegunSignIn, SingleSignOnError> {
    let step = read_step(state, request)?;
    let secrets = secrets(state, &step.seed);
    if answer.state.as_deref() != Some(secrets.state.as_str()) {
        return Err(refused("the state was changed"));
    }
    Ok(BegunSignIn { next: step.next, secrets })
}

/// Reads the state of this browser at the provider.
fn read_step(state: &Dashboard, request: &HeaderMap) -> Result<ProviderStep, SingleSignOnError> {
    let step = read_cookie(request, COOKIE_NAME).ok_or_else(|| refused("no sign-in was begun"))?;
    state.signer().read(PURPOSE, step).map_err(|error| match error {
        RefusedState::Forged => refused("the cookie of the sign-in is forged"),
        RefusedState::Expired => refused("the sign-in has expired"),
    })
}

fn refused(why: &str) -> SingleSignOnError {
    SingleSignOnError::Refused(why.to_owned())
}

/// Verifies an answer, and returns the person and where they wanted to go.
async fn accept(
    state: &Dashboard,
    provider: &Arc<SingleSignOn>,
    answer: ProviderAnswer,
    BegunSignIn { next, secrets }: BegunSignIn,
) -> Result<(ProviderPerson, String), SingleSignOnError> {
    if answer.iss.is_some_and(|issuer| issuer != provider.settings().issuer) {
        return Err(refused("another provider answered"));
    }
    if let Some(error) = answer.error {
        let error: String = error.chars().filter(char::is_ascii_graphic).take(64).collect();
        return Err(refused(&format!("the provider answered `{error}`")));
    }
    let code = answer.code.ok_or_else(|| refused("the answer has no code"))?;
    let person = provider.complete(&state.backend, (code, secrets), state.ctx.now()).await?;
    Ok((person, next))
}

fn account(state: &Dashboard, provider: &SingleSignOn, person: ProviderPerson) -> ProviderAccount {
    let ProviderPerson { subject, email, name, groups } = person;
    let name = name.unwrap_or_else(|| email.clone());
    let name = name.chars().filter(|it| !it.is_control()).take(NAME_CHARS_MAX).collect();
    let settings = provider.settings();
    ProviderAccount {
        issuer: settings.issuer.clone(),
        subject,
        user: NewUser {
            id: state.ctx.new_id(),
            email,
            name,
            password_hash: Secret::new(String::new()),
        },
        roles: settings.roles_of(&groups),
    }
}

fn secrets(state: &Dashboard, seed: &str) -> SignInSecrets {
    let signer = state.signer();
    let derive = |purpose| URL_SAFE_NO_PAD.encode(signer.derive(purpose, seed.as_bytes()));
    SignInSecrets {
        state: derive("provider state"),
        nonce: derive("provider nonce"),
        verifier: Secret::new(derive("provider verifier")),
    }
}
