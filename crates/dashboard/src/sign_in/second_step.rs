//! The step between password and session for people with a second factor: a code of their app, or a
//! recovery code. A signed cookie of some minutes carries it, which is not a session.

use std::net::IpAddr;
use std::time::Duration;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use data_encoding::HEXLOWER;
use http::header::SET_COOKIE;
use http::{HeaderMap, StatusCode};
use rules::{Secret, UserId};
use serde::{Deserialize, Serialize};
use store::SecondFactor;

use super::finish::{SignInWay, finish};
use crate::authenticator_app::{normalize_recovery_code, step_of_code};
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::{self, BareFrame, redirect, redirect_with_notice};
use crate::origin::Client;
use crate::route::{Access, Route};
use crate::session::{Cookie, read_cookie};
use crate::signed_state::RefusedState;
use crate::state::Dashboard;

const COOKIE_NAME: &str = "aloft_step";
const PURPOSE: &str = "second step";
/// Time for the code.
const LIFETIME: Duration = Duration::from_mins(5);
/// Maximum length of what is taken for a code.
const CODE_BYTES_MAX: usize = 64;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/login/code", Access::Anyone, || get(show)),
    Route::post("/login/code", Access::Anyone, || post(submit)),
];

/// State of a person whose password was right.
#[derive(Debug, Deserialize, Serialize)]
struct PasswordStep {
    user: UserId,
    /// Fingerprint of the password's hash, so that a new password ends the step.
    password: String,
    next: String,
}

/// The form.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Code {
    code: String,
}

#[derive(Template)]
#[template(path = "second_step.html")]
struct SecondStepPage {
    frame: BareFrame,
    wrong: Option<String>,
}

/// Reason that a request has no step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoStep {
    Missing,
    Refused(RefusedState),
}

/// Verdict about a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeVerdict {
    Accepted,
    Wrong,
    /// A code of the app that was used before.
    Replayed,
}

/// Leads to the form.
pub(super) fn begin(
    state: &Dashboard,
    (user, password_hash): (UserId, &Secret<String>),
    client: &Client,
    next: String,
) -> Response {
    let step = PasswordStep { user, password: fingerprint(state, password_hash), next };
    let value = state.signer().sign(PURPOSE, step, LIFETIME);
    let cookie = Cookie { name: COOKIE_NAME, value: &value, lifetime: LIFETIME };
    let mut response = redirect("/login/code");
    response.headers_mut().append(SET_COOKIE, cookie.header(client));
    response
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    client: Client,
    request: HeaderMap,
) -> Response {
    if let Err(why) = read_step(&state, &request) {
        return why.refuse(&state, &client).await;
    }
    html::page(&SecondStepPage::new(None), &request)
}

/// Signs in with a code.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Code>,
) -> Result<Response, ScreenError> {
    let step = match read_step(&state, &request) {
        Ok(step) => step,
        Err(why) => return Ok(why.refuse(&state, &client).await),
    };
    let refuse = |why: &str, status| {
        let page = SecondStepPage::new(Some(why.to_owned()));
        Ok(html::page_with_status(status, &page, &request))
    };
    let attempt = match state.limits.acquire_code(step.user, client.address) {
        Ok(attempt) => attempt,
        Err(retry_after) => {
            let why = sentence(&ScreenError::TooManyAttempts { retry_after }.to_string());
            let refused = refuse(&why, StatusCode::TOO_MANY_REQUESTS);
            return refused.map(|it| html::with_retry_after(it, retry_after));
        }
    };
    let stored = state.look_up(&attempt, state.store.users().get(step.user)).await;
    let (user, password_hash) = stored?;
    if fingerprint(&state, &password_hash) != step.password {
        return Ok(redirect("/login"));
    }
    let verdict = match state.store.second_factors().find(user.id).await? {
        Some(factor) => judge(&state, (user.id, client.address), &factor, &given.code).await?,
        // It was removed a moment ago.
        None => CodeVerdict::Accepted,
    };
    match verdict {
        CodeVerdict::Accepted => state.limits.give_back(&attempt),
        CodeVerdict::Wrong => {
            let who = (user.id, client.address);
            state.audit(who, "user.second_factor_refuse", String::new()).await;
            return refuse("The code is wrong.", StatusCode::UNAUTHORIZED);
        }
        CodeVerdict::Replayed => {
            let why = "This code was used already. Wait for the next one.";
            return refuse(why, StatusCode::UNAUTHORIZED);
        }
    }
    let end = (SignInWay::PasswordAndCode, step.next.as_str());
    let mut response = finish(&state, user.id, &client, end).await?;
    let removal = Cookie::removal(COOKIE_NAME).header(&client);
    response.headers_mut().append(SET_COOKIE, removal);
    Ok(response)
}

async fn judge(
    state: &Dashboard,
    (user, address): (UserId, IpAddr),
    factor: &SecondFactor,
    code: &str,
) -> Result<CodeVerdict, ScreenError> {
    if code.len() > CODE_BYTES_MAX {
        return Ok(CodeVerdict::Wrong);
    }
    let (factors, change) = (state.store.second_factors(), state.change_by(user, address));
    if let Some(step) = step_of_code(&factor.secret, code, state.ctx.now()) {
        let is_new = factors.use_step(user, step, change).await?;
        return Ok(if is_new { CodeVerdict::Accepted } else { CodeVerdict::Replayed });
    }
    let is_known = factors.use_recovery_code(user, normalize_recovery_code(code), change).await?;
    Ok(if is_known { CodeVerdict::Accepted } else { CodeVerdict::Wrong })
}

fn read_step(state: &Dashboard, request: &HeaderMap) -> Result<PasswordStep, NoStep> {
    let cookie = read_cookie(request, COOKIE_NAME).ok_or(NoStep::Missing)?;
    state.signer().read(PURPOSE, cookie).map_err(NoStep::Refused)
}

impl NoStep {
    /// Leads to the login. Records a state that is not accepted.
    async fn refuse(self, state: &Dashboard, client: &Client) -> Response {
        let Self::Refused(why) = self else { return redirect("/login") };
        let (detail, text) = match why {
            RefusedState::Forged => ("forged", "Sign in again."),
            RefusedState::Expired => ("expired", "The time for the code is over. Sign in again."),
        };
        if state.limits.try_record_stranger(client.address) {
            state.audit_stranger("second_step.refuse", detail, client.address).await;
        }
        let mut response = redirect_with_notice("/login", text);
        let removal = Cookie::removal(COOKIE_NAME).header(client);
        response.headers_mut().append(SET_COOKIE, removal);
        response
    }
}

fn fingerprint(state: &Dashboard, password_hash: &Secret<String>) -> String {
    let derived = state.signer().derive("password hash", password_hash.expose().as_bytes());
    HEXLOWER.encode(&derived[..8])
}

impl SecondStepPage {
    const fn new(wrong: Option<String>) -> Self {
        Self { frame: BareFrame { title: "Enter your code" }, wrong }
    }
}
