//! Publishes and hides a status page, and sets its theme and whether search engines may list it.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::status_page::wire::{
    PublishStatusPageRequest, SetStatusPageIndexingRequest, SetStatusPageThemeRequest,
    UnpublishStatusPageRequest,
};
use serde::Deserialize;

use crate::error::ScreenError;
use crate::extract::Posted;
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// A choice of the form's button.
#[derive(Debug, Deserialize)]
pub(crate) struct Publication {
    published: bool,
}

/// A chosen theme.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ChosenTheme {
    theme: String,
}

/// Whether search engines may list the page.
#[derive(Debug, Deserialize)]
pub(crate) struct Indexing {
    allow: bool,
}

/// Shows the page to visitors, or hides it.
pub(crate) async fn publish(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Posted(chosen): Posted<Publication>,
) -> Result<Response, ScreenError> {
    let path = member.path(&format!("/pages/{id}"));
    if chosen.published {
        state.send(member.caller(), PublishStatusPageRequest { id }).await?;
        return Ok(redirect_with_notice(&path, "Visitors see the page now."));
    }
    state.send(member.caller(), UnpublishStatusPageRequest { id }).await?;
    Ok(redirect_with_notice(&path, "The page is hidden from visitors."))
}

/// Sets the theme.
pub(crate) async fn set_theme(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Posted(ChosenTheme { theme }): Posted<ChosenTheme>,
) -> Result<Response, ScreenError> {
    let path = member.path(&format!("/pages/{id}"));
    state.send(member.caller(), SetStatusPageThemeRequest { id, theme }).await?;
    Ok(redirect_with_notice(&path, "The theme was set."))
}

/// Sets whether search engines may list the page.
pub(crate) async fn set_indexing(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Posted(Indexing { allow }): Posted<Indexing>,
) -> Result<Response, ScreenError> {
    let path = member.path(&format!("/pages/{id}"));
    let asked = SetStatusPageIndexingRequest { id, allow_indexing: Some(allow) };
    state.send(member.caller(), asked).await?;
    let text = if allow {
        "Search engines may list the page."
    } else {
        "Search engines may not list the page."
    };
    Ok(redirect_with_notice(&path, text))
}
