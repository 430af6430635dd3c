//! Deletes a status page, after a question.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::status_page::wire::DeleteStatusPageRequest;
use http::HeaderMap;

use super::summary;
use crate::confirm::{self, Question};
use crate::error::ScreenError;
use crate::html::{Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Asks whether to delete a page.
pub(crate) async fn ask(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?.summary;
    let question = Question {
        frame: Frame::of_member(
            &member,
            Section::Pages,
            format!("Delete “{}”?", page.title),
            &request,
        ),
        text: "Its components, groups and subscribers are deleted with it. Monitors stay. Its address \
               and its domain are free at once."
            .to_owned(),
        action: page.path(&member, "/delete"),
        button: "Delete status page",
        back: page.path(&member, ""),
    };
    Ok(confirm::ask(question, &request))
}

/// Deletes a page.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), DeleteStatusPageRequest { id }).await?;
    Ok(redirect_with_notice(&member.path("/pages"), "The status page was deleted."))
}
