//! A member's subscription to the monthly summary.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::error::ScreenError;
use crate::extract::Posted;
use crate::html::redirect_with_notice;
use crate::session::Member;
use crate::state::Dashboard;

/// Choice of the member.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SummaryChoice {
    wanted: Option<String>,
}

/// Subscribes the member or ends the subscription.
pub(super) async fn set(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Posted(posted): Posted<SummaryChoice>,
) -> Result<Response, ScreenError> {
    let (workspace, user) = (member.workspace(), member.signed_in.user.id);
    let summaries = state.store.summaries();
    let notice = if posted.wanted.is_some() {
        summaries.subscribe(workspace, user, state.ctx.now()).await?;
        "You will get a summary on the first day of each month."
    } else {
        summaries.unsubscribe(workspace, user).await?;
        "You will get no more summaries."
    };
    Ok(redirect_with_notice(&member.path("/uptime"), notice))
}
