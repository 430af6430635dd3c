//! A new password for somebody who knows the current one.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use http::HeaderMap;
use http::header::SET_COOKIE;
use rules::Secret;
use serde::Deserialize;

use super::confirmation::confirm;
use super::screen::{Problems, render};
use crate::emails::AccountEmail;
use crate::error::{ScreenError, sentence};
use crate::extract::Posted;
use crate::html::redirect_with_notice;
use crate::origin::Client;
use crate::passwords;
use crate::route::{Access, Route};
use crate::session::{self, SignedIn};
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] =
    &[Route::post("/account/password", Access::SignedIn, || post(submit))];

/// The form.
#[derive(Debug, Deserialize)]
pub(crate) struct PasswordChange {
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    current: Secret<String>,
    #[serde(default = "passwords::missing", deserialize_with = "passwords::deserialize")]
    password: Secret<String>,
}

/// Changes the password. All sessions end, and this browser gets a new one.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    client: Client,
    request: HeaderMap,
    Posted(given): Posted<PasswordChange>,
) -> Result<Response, ScreenError> {
    let user = &signed_in.user;
    let refuse = async |problems| render(&state, &signed_in, &request, problems).await;
    if let Err(why) = confirm(&state, &signed_in, &client, given.current).await? {
        return refuse(Problems { current: Some(why), ..Problems::default() }).await;
    }
    let problem = |why| Problems { password: Some(why), ..Problems::default() };
    if let Err(weak) = passwords::check_new(&given.password, &user.email) {
        return refuse(problem(format!("It {weak}."))).await;
    }
    let hash = match state.passwords.hash(given.password, state.ctx.secret_bytes()).await {
        Ok(hash) => hash,
        Err(busy) => return refuse(problem(sentence(&busy.to_string()))).await,
    };
    state
        .store
        .users()
        .set_password(user.id, hash, state.change_by(user.id, client.address))
        .await?;
    let cookie = session::start(&state, user.id, &client).await?;
    state.email_later(user.id, AccountEmail {
        to: user.email.clone(),
        subject: "Your password was changed",
        text: "Somebody who knew your password changed it, and all other browsers were signed out. If \
               it was not you, set a new one with “Forgot your password?” on the login page."
            .to_owned(),
        link: None,
    });
    let mut response = redirect_with_notice(
        "/account",
        "Your password was changed. All other sessions were ended.",
    );
    response.headers_mut().append(SET_COOKIE, cookie);
    Ok(response)
}
