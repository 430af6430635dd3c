//! Actions on a monitor: pause, resume, check now and delete.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::wire::{DeleteMonitorRequest, TriggerMonitorRequest};
use http::HeaderMap;
use serde_json::json;

use super::{fields, stored};
use crate::confirm::{self, Question};
use crate::error::ScreenError;
use crate::html::{Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Stops the checks.
pub(crate) async fn pause(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    set_active(&state, &member, (&id, false)).await
}

/// Starts the checks again.
pub(crate) async fn resume(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    set_active(&state, &member, (&id, true)).await
}

/// Checks the monitor now, in each of its regions, and waits for the results.
pub(crate) async fn check(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let request = TriggerMonitorRequest { id: id.clone() };
    let results = state.send(member.caller(), request).await?.results;
    let good = results.iter().filter(|it| it.outcome != "failure").count();
    let first = results.iter().flat_map(|it| &it.reasons).next();
    let regions = match results.len() {
        1 => "1 region".to_owned(),
        count => format!("{count} regions"),
    };
    let notice = match first {
        None => format!("Checked from {regions}: all succeeded."),
        Some(why) => format!("{good} of {regions} succeeded: {why}"),
    };
    let path = member.path(&format!("/monitors/{id}/log?trigger=manual"));
    Ok(redirect_with_notice(&path, &notice))
}

/// Asks whether to delete the monitor.
pub(crate) async fn confirm_deletion(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let title = format!("Delete “{}”?", monitor.name());
    let question = Question {
        frame: Frame::of_member(&member, Section::Monitors, title, &request),
        text: "Its checks stop, and its open incident closes. Status pages that show it keep its \
               history until they show another monitor. This cannot be undone; to stop the checks \
               for a while, pause the monitor instead."
            .to_owned(),
        action: member.path(&format!("/monitors/{id}/delete")),
        button: "Delete monitor",
        back: member.path(&format!("/monitors/{id}")),
    };
    Ok(confirm::ask(question, &request))
}

/// Deletes the monitor.
pub(crate) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let name = stored::find(&state, &member, &id).await?.name().to_owned();
    let request = DeleteMonitorRequest { id };
    state.send(member.caller(), request).await?;
    Ok(redirect_with_notice(&member.path("/monitors"), &format!("“{name}” was deleted.")))
}

async fn set_active(
    state: &Dashboard,
    member: &Member,
    (id, active): (&str, bool),
) -> Result<Response, ScreenError> {
    let kind = stored::find(state, member, id).await?.kind;
    let update = json!({ "monitor": { "id": id, "active": active }, "updateMask": "active" });
    state.send_json(member.caller(), fields::methods(kind).update, &update).await?;
    let notice = if active {
        "The monitor is checked again."
    } else {
        "The monitor is paused: it is not checked and sends no alerts."
    };
    Ok(redirect_with_notice(&member.path(&format!("/monitors/{id}")), notice))
}
