//! Signing in with email and password, and signing out.
//!
//! `second_step` asks for a code, `reset` sets a new password by email, `passkey` and `provider` sign
//! in without a password, and `finish` starts the session of each. `device` logs in programs.

pub(crate) mod device;
mod finish;
pub(crate) mod passkey;
pub(crate) mod provider;
pub(crate) mod reset;
pub(crate) mod second_step;

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rules::Secret;
use serde::Deserialize;
use store::User;

pub(crate) use self::finish::{SignInWay, finish};

use self::finish::local_path;
use crate::error::{ScreenError, sentence};
use crate::extract::{Asked, Posted};
use crate::html::{self, BareFrame, redirect};
use crate::notice;
use crate::origin::Client;
use crate::passwords::{self, TooBusy};
use crate::route::{Access, Route};
use crate::session::{self, SignedIn};
use crate::state::Dashboard;

/// Maximum length of an address in the form, in characters: the longest that can exist.
const EMAIL_CHARS_MAX: usize = 254;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/login", Access::Anyone, || get(show)),
    Route::post("/login", Access::Anyone, || post(submit)),
    Route::post("/logout", Access::SignedIn, || post(sign_out)),
];

/// Where to go after signing in.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Destination {
    next: Option<String>,
}

/// The form.
#[derive(Debug, Deserialize)]
pub(crate) struct Credentials {
    #[serde(default)]
    email: String,
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
    next: Option<String>,
}

/// An account, with the hash of its password.
type Account = (User, Secret<String>);

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    frame: BareFrame,
    email: String,
    next: String,
    /// The same, percent-encoded for a link.
    next_in_link: String,
    wrong: Option<String>,
    notice: Option<String>,
    has_passkeys: bool,
    /// Name of the provider of single sign-on.
    provider: Option<String>,
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Asked(to): Asked<Destination>,
    request: HeaderMap,
) -> Response {
    let mut page = SignInPage::new(&state, String::new(), local_path(to.next));
    page.notice = notice::read(&request).map(|it| it.text);
    html::page(&page, &request)
}

/// Signs in, or asks for a code first. The response does not reveal whether the account exists.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Credentials>,
) -> Result<Response, ScreenError> {
    let next = local_path(given.next);
    let email: String = given.email.trim().chars().take(EMAIL_CHARS_MAX).collect();
    let refuse = |why: &str, status| {
        let mut page = SignInPage::new(&state, email.clone(), next.clone());
        page.wrong = Some(sentence(why));
        Ok(html::page_with_status(status, &page, &request))
    };
    let attempt = match state.limits.acquire(&email, client.address) {
        Ok(attempt) => attempt,
        Err(retry_after) => {
            let why = ScreenError::TooManyAttempts { retry_after }.to_string();
            let refused = refuse(&why, StatusCode::TOO_MANY_REQUESTS);
            return refused.map(|it| html::with_retry_after(it, retry_after));
        }
    };
    let account = state.look_up(&attempt, state.store.users().find_for_sign_in(&email)).await?;
    match verify(&state, account, given.password).await {
        Ok(Some((user, password_hash))) => {
            state.limits.give_back(&attempt);
            if state.store.second_factors().find(user.id).await?.is_some() {
                return Ok(second_step::begin(&state, (user.id, &password_hash), &client, next));
            }
            finish(&state, user.id, &client, (SignInWay::Password, &next)).await
        }
        Ok(None) => {
            tracing::info!(client.address = %client.address, "refused a sign-in from {}", client.address);
            refuse("The email address or the password is wrong.", StatusCode::UNAUTHORIZED)
        }
        Err(busy) => {
            state.limits.give_back(&attempt);
            refuse(&busy.to_string(), StatusCode::SERVICE_UNAVAILABLE)
        }
    }
}

/// Ends the session.
pub(crate) async fn sign_out(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
) -> Result<Response, ScreenError> {
    let (user, ended) = (signed_in.user.id, signed_in.session.id);
    let change = state.change_by(user, client.address);
    state.store.sessions().end(user, ended, change).await?;
    let mut response = redirect("/login");
    response.headers_mut().append(SET_COOKIE, session::removal(&client));
    Ok(response)
}

/// Returns the account if the password is right. An absent account and one without a password take the
/// same time.
async fn verify(
    state: &Dashboard,
    found: Option<Account>,
    password: Secret<String>,
) -> Result<Option<Account>, TooBusy> {
    let found = found.filter(|(_, hash)| !hash.expose().is_empty());
    let hash = found.as_ref().map(|(_, hash)| hash.clone());
    let verified = state.passwords.verify(password, hash).await;
    verified.map(|is_right| found.filter(|_| is_right))
}

impl SignInPage {
    fn new(state: &Dashboard, email: String, next: String) -> Self {
        Self {
            frame: BareFrame { title: "Sign in" },
            next_in_link: utf8_percent_encode(&next, NON_ALPHANUMERIC).to_string(),
            email,
            next,
            wrong: None,
            notice: None,
            has_passkeys: state.passkeys.is_available(),
            provider: state.single_sign_on.as_ref().map(|it| it.name().to_owned()),
        }
    }
}
