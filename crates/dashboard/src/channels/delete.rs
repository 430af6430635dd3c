//! Deletes a channel, after a question.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::notification::wire::DeleteNotificationRequest;
use http::HeaderMap;

use super::summary;
use crate::confirm::{self, Question};
use crate::error::ScreenError;
use crate::html::{Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Asks whether to delete a channel.
pub(crate) async fn ask(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?.summary;
    let title = format!("Delete “{}”?", channel.name);
    let question = Question {
        frame: Frame::of_member(&member, Section::Channels, title, &request),
        text: "Its secrets are deleted, and alerts that wait are not sent. Past deliveries stay \
               readable over the API."
            .to_owned(),
        action: member.path(&format!("/channels/{id}/delete")),
        button: "Delete channel",
        back: member.path(&format!("/channels/{id}")),
    };
    Ok(confirm::ask(question, &request))
}

/// Deletes a channel.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), DeleteNotificationRequest { id }).await?;
    Ok(redirect_with_notice(&member.path("/channels"), "The channel was deleted."))
}
