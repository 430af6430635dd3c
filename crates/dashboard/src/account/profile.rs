//! Name and address of the account. A new address counts when a link that was sent there is opened.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::HeaderMap;
use rules::{Secret, UserId, Validator, tables};
use serde::{Deserialize, Serialize};
use store::{AddressProof, StoreError};

use super::confirmation::confirm;
use super::screen::{Problems, render};
use crate::emails::{AccountEmail, EmailLink};
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::origin::Client;
use crate::passwords;
use crate::route::{Access, Route};
use crate::session::SignedIn;
use crate::signed_state::RefusedState;
use crate::state::Dashboard;

const PURPOSE: &str = "email change";
/// Time in which the link to a new address is valid.
const LIFETIME: Duration = Duration::from_hours(1);

pub(crate) const ROUTES: &[Route] = &[
    Route::post("/account/name", Access::SignedIn, || post(rename)),
    Route::post("/account/email", Access::SignedIn, || post(change_email)),
    Route::get("/account/email/{token}", Access::SignedIn, || get(show_link)),
    Route::post("/account/email/{token}", Access::SignedIn, || post(confirm_email)),
];

/// Form of the name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NewName {
    name: String,
}

/// Form of the address.
#[derive(Debug, Deserialize)]
pub(crate) struct Email {
    #[serde(default)]
    email: String,
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
}

/// Content of the link to a new address.
#[derive(Debug, Deserialize, Serialize)]
struct EmailChange {
    user: UserId,
    /// Address when the link was sent: a second use, or another change, finds another one.
    from: String,
    to: String,
}

#[derive(Template)]
#[template(path = "email_change.html")]
struct EmailChangePage<'a> {
    frame: Frame,
    token: &'a str,
    to: &'a str,
}

/// Changes the name.
pub(crate) async fn rename(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
    Posted(given): Posted<NewName>,
) -> Result<Response, ScreenError> {
    let mut fields = Validator::new(&tables::USER);
    let name = fields.text("name", Some(given.name.trim().to_owned()));
    match fields.finish(name) {
        Ok(name) => {
            state.store.users().rename(signed_in.user.id, name).await?;
            Ok(redirect_with_notice("/account", "Your name was changed."))
        }
        Err(violations) => {
            let name = crate::form::message(&violations, "name");
            let entered_name = Some(given.name);
            let problems = Problems { name, entered_name, ..Problems::default() };
            render(&state, &signed_in, &request, problems).await
        }
    }
}

/// Sends a link to the new address. A server without emails changes it at once.
pub(crate) async fn change_email(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<Email>,
) -> Result<Response, ScreenError> {
    let refuse = async |problems: Problems| {
        let problems = Problems { entered_email: Some(given.email.clone()), ..problems };
        render(&state, &signed_in, &request, problems).await
    };
    let mut fields = Validator::new(&tables::USER);
    let email = fields.text("email", Some(given.email.trim().to_owned()));
    let email = match fields.finish(email) {
        Ok(email) => email,
        Err(violations) => {
            let email = crate::form::message(&violations, "email");
            return refuse(Problems { email, ..Problems::default() }).await;
        }
    };
    if let Err(why) = confirm(&state, &signed_in, &client, given.password).await? {
        return refuse(Problems { email_password: Some(why), ..Problems::default() }).await;
    }
    if !state.backend.can_send_emails() {
        return apply(&state, &signed_in, &request, (email, AddressProof::None)).await;
    }
    let (user, from) = (signed_in.user.id, signed_in.user.email.clone());
    // The right password gives its attempt back, and the address may be a stranger's.
    if let Err(retry_after) = state.limits.acquire_address_email(user, client.address) {
        let why = sentence(&ScreenError::TooManyAttempts { retry_after }.to_string());
        return refuse(Problems { email: Some(why), ..Problems::default() }).await;
    }
    let change = EmailChange { user, from, to: email.clone() };
    let token = state.signer().sign(PURPOSE, change, LIFETIME);
    state.email_later(user, AccountEmail {
        to: email,
        subject: "Confirm your new address",
        text: "Open the link in the browser in which you are signed in to Aloft. It is valid for an \
               hour. If you did not ask for it, ignore this email."
            .to_owned(),
        link: Some(EmailLink {
            label: "Confirm the address",
            url: state.url(&format!("/account/email/{token}")),
        }),
    });
    let text =
        "An email with a link is on its way to the new address. It counts once you open the link.";
    Ok(redirect_with_notice("/account", text))
}

/// Shows what a link changes.
pub(crate) async fn show_link(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Path(token): Path<String>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let change = read_link(&state, &signed_in, &token).await?;
    let frame = Frame::of_user(&signed_in, Section::Other, "Confirm your new address", &request);
    Ok(html::page(&EmailChangePage { frame, token: &token, to: &change.to }, &request))
}

/// Changes the address.
pub(crate) async fn confirm_email(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Path(token): Path<String>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let change = read_link(&state, &signed_in, &token).await?;
    apply(&state, &signed_in, &request, (change.to, AddressProof::Link)).await
}

async fn apply(
    state: &Dashboard,
    signed_in: &SignedIn,
    request: &HeaderMap,
    (email, proof): (String, AddressProof),
) -> Result<Response, ScreenError> {
    let user = &signed_in.user;
    let (account, change) =
        ((user.id, signed_in.session.id), state.change_by(user.id, signed_in.address));
    let changed = state.store.users().set_email(account, email.clone(), proof, change).await;
    match changed {
        Ok(()) => {}
        Err(StoreError::AlreadyExists { .. }) => {
            let why = Some("Another account has this address.".to_owned());
            let problems =
                Problems { email: why, entered_email: Some(email), ..Problems::default() };
            return render(state, signed_in, request, problems).await;
        }
        Err(error) => return Err(error.into()),
    }
    state.email_later(
        user.id,
        AccountEmail {
            to: user.email.clone(),
            subject: "The address of your account was changed",
            text: format!(
                "Your account has the address {email} now. If it was not you, ask an owner of your \
             workspace for help."
            ),
            link: None,
        },
    );
    Ok(redirect_with_notice("/account", "Your address was changed."))
}

/// Reads a link of this person. Records one that cannot be used.
async fn read_link(
    state: &Dashboard,
    signed_in: &SignedIn,
    token: &str,
) -> Result<EmailChange, ScreenError> {
    let user = &signed_in.user;
    let read = state.signer().read::<EmailChange>(PURPOSE, token);
    let (why, refused) = match read {
        Ok(change) if change.user != user.id => ("of another account", ScreenError::InvalidLink),
        Ok(change) if change.from != user.email => ("used", ScreenError::LinkUsed),
        Ok(change) => return Ok(change),
        Err(RefusedState::Expired) => ("expired", ScreenError::LinkExpired),
        Err(RefusedState::Forged) => ("forged", ScreenError::InvalidLink),
    };
    state.audit_refusal(signed_in, "user.email_link_refuse", why).await;
    Err(refused)
}
