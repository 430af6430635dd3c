//! A person's own account: the page with everything, and its sessions.
//!
//! `profile` changes name and address, `password` the password, `second_factor` adds an authenticator
//! app, `passkeys` adds passkeys, and `confirmation` asks for the password before a change.

mod confirmation;
pub(crate) mod passkeys;
pub(crate) mod password;
pub(crate) mod profile;
mod screen;
pub(crate) mod second_factor;

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use http::HeaderMap;
use rules::SessionId;

use self::screen::Problems;
use crate::error::ScreenError;
use crate::html::redirect_with_notice;
use crate::route::{Access, Route};
use crate::session::SignedIn;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[
    Route::get("/account", Access::SignedIn, || get(show)),
    Route::post("/account/sessions/end-others", Access::SignedIn, || post(end_other_sessions)),
    Route::post("/account/sessions/{session}/end", Access::SignedIn, || post(end_session)),
];

/// Shows the account.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    screen::render(&state, &signed_in, &request, Problems::default()).await
}

/// Ends one of the person's sessions.
pub(crate) async fn end_session(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
    Path(session): Path<String>,
) -> Result<Response, ScreenError> {
    let session = SessionId::parse(&session).map_err(|_| ScreenError::NotFound)?;
    let user = signed_in.user.id;
    let change = state.change_by(user, signed_in.address);
    state.store.sessions().end(user, session, change).await?;
    Ok(redirect_with_notice("/account", "The session was ended."))
}

/// Ends all of the person's sessions except this one.
pub(crate) async fn end_other_sessions(
    State(state): State<Dashboard>,
    Extension(signed_in): Extension<Arc<SignedIn>>,
) -> Result<Response, ScreenError> {
    let (user, kept) = (signed_in.user.id, signed_in.session.id);
    state.store.sessions().end_others(user, kept, state.change_by(user, signed_in.address)).await?;
    Ok(redirect_with_notice("/account", "All other sessions were ended."))
}
