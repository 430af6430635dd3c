//! Edits a channel. Its kind stays.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::notification::wire::UpdateNotificationRequest;
use contract::rpc::MethodRequest as _;
use http::{HeaderMap, StatusCode};
use rules::tables::NOTIFICATION;
use serde_json::json;

use super::fields;
use super::guides::{Guide, guide};
use super::outcome::{TestOutcome, test_unsaved};
use super::summary::{self, ChannelSummary};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Form, Messages, Values};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "channel_edit.html")]
struct EditChannelPage {
    frame: Frame,
    guide: Guide,
    form: Form,
    outcome: Option<TestOutcome>,
    is_new: bool,
    revision: String,
    action: String,
    back: String,
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?;
    let mut values = fields::stored(&channel.json);
    values.set("revision", &channel.summary.revision);
    let page = page(&member, &channel.summary, (&values, &Messages::default(), None), &request);
    Ok(html::page(&page, &request))
}

/// Stores the edit, unless somebody else changed the channel meanwhile, or tests it unsaved.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let channel = summary::find(&state, &member, &id).await?.summary;
    let mut values = Values::posted(posted, &NOTIFICATION);
    if let Some(path) = values.first("add_row").map(str::to_owned) {
        if !fields::add_row(channel.kind, &mut values, &path) {
            return Err(ScreenError::NotFound);
        }
        let page = page(&member, &channel, (&values, &Messages::default(), None), &request);
        return Ok(html::page(&page, &request));
    }
    let mut notification = fields::notification(channel.kind, &values);
    if values.first("action") == Some("test") {
        let (status, messages, outcome) = match test_unsaved(&state, &member, &notification).await {
            Ok(outcome) => (StatusCode::OK, Messages::default(), Some(outcome)),
            Err(messages) => (StatusCode::UNPROCESSABLE_ENTITY, messages, None),
        };
        let page = page(&member, &channel, (&values, &messages, outcome), &request);
        return Ok(html::page_with_status(status, &page, &request));
    }
    notification.insert("id".to_owned(), json!(id));
    let mut update =
        json!({ "notification": notification, "updateMask": fields::mask(channel.kind) });
    if let Some(revision) = values.first("revision").filter(|it| !it.is_empty()) {
        update["revision"] = json!(revision);
    }
    match state.send_json(member.caller(), UpdateNotificationRequest::PATH, &update).await {
        Ok(_) => {
            let path = member.path(&format!("/channels/{id}"));
            Ok(redirect_with_notice(&path, "The channel was saved."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "notification");
            let page = page(&member, &channel, (&values, &messages, None), &request);
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

fn page(
    member: &Member,
    channel: &ChannelSummary,
    (values, messages, outcome): (&Values, &Messages, Option<TestOutcome>),
    request: &HeaderMap,
) -> EditChannelPage {
    EditChannelPage {
        frame: Frame::of_member(member, Section::Channels, "Edit channel", request),
        guide: guide(channel.kind),
        form: fields::form(channel.kind, values, messages),
        outcome,
        is_new: false,
        revision: values.first("revision").unwrap_or_default().to_owned(),
        action: member.path(&format!("/channels/{}/edit", channel.id)),
        back: member.path(&format!("/channels/{}", channel.id)),
    }
}
