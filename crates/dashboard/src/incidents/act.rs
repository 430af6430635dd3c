//! Actions on an incident: acknowledge, resolve and comment.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::incident::wire::{
    AcknowledgeIncidentRequest, CommentIncidentRequest, ResolveIncidentRequest,
};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::show::{self, CommentInput};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::Messages;
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Text that a person posts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PostedComment {
    text: String,
}

/// Acknowledges an incident.
pub(super) async fn acknowledge(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let acknowledge = AcknowledgeIncidentRequest { id: id.clone() };
    state.send(member.caller(), acknowledge).await?;
    let path = member.path(&format!("/incidents/{id}"));
    Ok(redirect_with_notice(&path, "The incident is acknowledged. Reminders stopped."))
}

/// Resolves an incident.
pub(super) async fn resolve(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), ResolveIncidentRequest { id: id.clone() }).await?;
    let path = member.path(&format!("/incidents/{id}"));
    Ok(redirect_with_notice(&path, "The incident is resolved."))
}

/// Adds a comment. An invalid one stays in its field.
pub(super) async fn comment(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<PostedComment>,
) -> Result<Response, ScreenError> {
    let text = posted.text.replace("\r\n", "\n");
    let comment = CommentIncidentRequest { id: id.clone(), text: Some(text.clone()) };
    match state.send(member.caller(), comment).await {
        Ok(_) => {
            let path = member.path(&format!("/incidents/{id}#comment"));
            Ok(redirect_with_notice(&path, "The comment was added."))
        }
        Err(error) if error.http_status() == StatusCode::BAD_REQUEST => {
            let messages = Messages::from_error(&error, "");
            let error = messages.get("text").or(messages.whole().map(str::to_owned));
            let input = CommentInput { text, error };
            show::response(&state, &member, (&id, input), &request).await
        }
        Err(error) => Err(error.into()),
    }
}
