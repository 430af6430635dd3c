//! The authenticator app of an account: its QR code, the first code that confirms it, the recovery
//! codes, and its removal.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use http::{HeaderMap, StatusCode};
use rules::{Secret, UserId};
use serde::{Deserialize, Serialize};
use store::{NewSecondFactor, StoreError};

use super::confirmation::{confirm, is_recent};
use super::screen::{Problems, render};
use crate::authenticator_app as app;
use crate::emails::AccountEmail;
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::{self, Frame, Section, redirect, redirect_with_notice};
use crate::origin::Client;
use crate::passwords;
use crate::route::{Access, Route};
use crate::session::SignedIn;
use crate::signed_state::RefusedState;
use crate::state::Dashboard;

const PURPOSE: &str = "authenticator app";
/// Time to scan a QR code and enter the first code.
const LIFETIME: Duration = Duration::from_mins(30);

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/account/authenticator", Access::SignedIn, || get(show)),
    Route::post("/account/authenticator", Access::SignedIn, || post(enable)),
    Route::post("/account/authenticator/remove", Access::SignedIn, || post(remove)),
    Route::post("/account/recovery-codes", Access::SignedIn, || post(replace_codes)),
];

/// Secret that a person is about to confirm. The page shows it anyway, and no one else can sign it.
#[derive(Debug, Deserialize, Serialize)]
struct Enrolment {
    user: UserId,
    secret: String,
}

/// Form that confirms a secret.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct FirstCode {
    enrolment: String,
    code: String,
}

/// Form that confirms a change.
#[derive(Debug, Deserialize)]
pub(crate) struct Password {
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
}

#[derive(Template)]
#[template(path = "authenticator.html")]
struct EnrolmentPage {
    frame: Frame,
    enrolment: String,
    /// QR code as SVG.
    qr_code: String,
    secret: String,
    wrong: Option<String>,
}

#[derive(Template)]
#[template(path = "recovery_codes.html")]
struct CodesPage {
    frame: Frame,
    codes: Vec<String>,
}

/// Shows a new secret.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    if state.store.second_factors().find(signed_in.user.id).await?.is_some() {
        return Ok(redirect("/account"));
    }
    if !is_recent(&state, &signed_in) {
        return Ok(redirect("/login?next=/account/authenticator"));
    }
    let secret = app::secret(&state.ctx.secret_bytes());
    let page = EnrolmentPage::new(&state, &signed_in, &request, (secret, None));
    Ok(html::page(&page, &request))
}

/// Stores the secret if the first code is right, and shows the recovery codes.
pub(crate) async fn enable(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<FirstCode>,
) -> Result<Response, ScreenError> {
    if !is_recent(&state, &signed_in) {
        return Ok(redirect("/login?next=/account/authenticator"));
    }
    let user = signed_in.user.id;
    let secret = match read_enrolment(&state, user, &given.enrolment) {
        Ok(secret) => secret,
        Err(why) => {
            state.audit_refusal(&signed_in, "user.second_factor_refuse", why).await;
            let text = "The QR code is no longer valid. Scan this one.";
            return Ok(redirect_with_notice("/account/authenticator", text));
        }
    };
    let limited = state
        .limits
        .acquire_code(user, client.address)
        .map_err(|retry_after| sentence(&ScreenError::TooManyAttempts { retry_after }.to_string()));
    let step = limited.and_then(|attempt| {
        let step = app::step_of_code(&secret, &given.code, state.ctx.now()).ok_or_else(|| {
            "The code is wrong. Check that the time of your phone is right.".to_owned()
        })?;
        state.limits.give_back(&attempt);
        Ok(step)
    });
    let step = match step {
        Ok(step) => step,
        Err(why) => {
            let page = EnrolmentPage::new(&state, &signed_in, &request, (secret, Some(why)));
            return Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request));
        }
    };
    let codes = new_codes(&state);
    let recovery_codes = codes.iter().map(|it| app::normalize_recovery_code(it)).collect();
    let new = NewSecondFactor { user, secret, step, recovery_codes };
    match state.store.second_factors().enable(new, state.change_by(user, client.address)).await {
        Ok(()) => {
            state.email_later(user, AccountEmail {
                to: signed_in.user.email.clone(),
                subject: "An authenticator app was added to your account",
                text: "Signing in needs its codes now. If it was not you, use one of your passkeys or \
                       ask an owner of your workspace for help."
                    .to_owned(),
                link: None,
            });
            Ok(show_codes(&signed_in, codes, &request))
        }
        Err(StoreError::AlreadyExists { .. }) => Ok(redirect("/account")),
        Err(error) => Err(error.into()),
    }
}

/// Replaces the recovery codes and shows the new ones.
pub(crate) async fn replace_codes(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Password>,
) -> Result<Response, ScreenError> {
    if let Err(why) = confirm(&state, &signed_in, &client, given.password).await? {
        let problems = Problems { second_factor: Some(why), ..Problems::default() };
        return render(&state, &signed_in, &request, problems).await;
    }
    let user = signed_in.user.id;
    if state.store.second_factors().find(user).await?.is_none() {
        return Ok(redirect("/account"));
    }
    let codes = new_codes(&state);
    let hashed = codes.iter().map(|it| app::normalize_recovery_code(it)).collect();
    let change = state.change_by(user, client.address);
    state.store.second_factors().replace_recovery_codes(user, hashed, change).await?;
    Ok(show_codes(&signed_in, codes, &request))
}

/// Removes the app. The password is needed, so that a borrowed browser is not enough.
pub(crate) async fn remove(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Password>,
) -> Result<Response, ScreenError> {
    if let Err(why) = confirm(&state, &signed_in, &client, given.password).await? {
        let problems = Problems { second_factor: Some(why), ..Problems::default() };
        return render(&state, &signed_in, &request, problems).await;
    }
    let user = &signed_in.user;
    state.store.second_factors().remove(user.id, state.change_by(user.id, client.address)).await?;
    state.email_later(user.id, AccountEmail {
        to: user.email.clone(),
        subject: "Your authenticator app was removed",
        text: "Signing in to your account needs only the password now. If it was not you, change your \
               password."
            .to_owned(),
        link: None,
    });
    Ok(redirect_with_notice("/account", "Your authenticator app was removed."))
}

fn new_codes(state: &Dashboard) -> Vec<String> {
    (0..app::RECOVERY_CODES).map(|_| app::recovery_code(&state.ctx.secret_bytes())).collect()
}

fn show_codes(signed_in: &SignedIn, codes: Vec<String>, request: &HeaderMap) -> Response {
    let frame = Frame::of_user(signed_in, Section::Other, "Your recovery codes", request);
    html::page(&CodesPage { frame, codes }, request)
}

/// Returns the secret of an enrolment of this user, or the reason not to accept it.
fn read_enrolment(
    state: &Dashboard,
    user: UserId,
    enrolment: &str,
) -> Result<Secret<Vec<u8>>, &'static str> {
    let enrolment = match state.signer().read::<Enrolment>(PURPOSE, enrolment) {
        Ok(enrolment) if enrolment.user == user => enrolment,
        Ok(_) => return Err("enrolment of another account"),
        Err(RefusedState::Expired) => return Err("expired enrolment"),
        Err(RefusedState::Forged) => return Err("forged enrolment"),
    };
    app::parse(&enrolment.secret).ok_or("forged enrolment")
}

impl EnrolmentPage {
    fn new(
        state: &Dashboard,
        signed_in: &SignedIn,
        request: &HeaderMap,
        (secret, wrong): (Secret<Vec<u8>>, Option<String>),
    ) -> Self {
        let text = app::text(&secret);
        let enrolment = Enrolment { user: signed_in.user.id, secret: text.clone() };
        Self {
            frame: Frame::of_user(signed_in, Section::Other, "Add an authenticator app", request),
            enrolment: state.signer().sign(PURPOSE, enrolment, LIFETIME),
            qr_code: app::qr_code(&secret, &signed_in.user.email).unwrap_or_default(),
            secret: text,
            wrong,
        }
    }
}
