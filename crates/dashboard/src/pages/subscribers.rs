//! Subscribers of a status page: lists, invites and removes them.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::decode_instant;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::{
    AddSubscriberRequest, ListSubscribersRequest, RemoveSubscriberRequest, Subscriber,
};
use http::{HeaderMap, StatusCode};
use rules::tables::SUBSCRIBER;
use rules::{Role, Timestamp};
use serde::Deserialize;
use serde_json::json;
use store::ComponentName;

use super::summary::{self, PageSummary, StoredPage};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{Choice, Form, FormSpec, Messages, Values, resource};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Subscribers on a page of the list.
const SUBSCRIBERS: i32 = 50;
/// States of subscribers, each with its label as a filter.
const STATES: [(&str, &str); 3] = [("", "All"), ("active", "Confirmed"), ("pending", "Invited")];

/// Part of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SubscribersPart {
    state: String,
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "page_subscribers.html")]
struct SubscribersPage {
    frame: Frame,
    page: PageSummary,
    rows: Vec<SubscriberRow>,
    total: i32,
    next: String,
    states: &'static [(&'static str, &'static str)],
    state: String,
    form: Form,
    asks_to_confirm: bool,
    tab: &'static str,
    can_edit: bool,
}

/// A subscriber in the list.
struct SubscriberRow {
    id: String,
    address: String,
    kind: String,
    is_active: bool,
    /// Why it gets nothing now.
    suppression: Option<&'static str>,
    topics: String,
    since: Option<Timestamp>,
}

/// Lists subscribers.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(part): Asked<SubscribersPart>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let stored = summary::find(&state, &member, &id).await?;
    let given = (&Values::default(), &Messages::default());
    let page = page_of(&state, &member, (stored, part), given, &request).await?;
    Ok(html::page(&page, &request))
}

/// Adds a subscriber. By default, an email asks the address for confirmation.
pub(crate) async fn add(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let stored = summary::find(&state, &member, &id).await?;
    let values = Values::posted(posted, &SUBSCRIBER);
    let mut subscriber = resource(&SUBSCRIBER, &values);
    subscriber.insert("pageId".to_owned(), json!(id));
    let confirm = values.is_on("confirm", false);
    let asked = json!({ "subscriber": subscriber, "confirm": confirm });
    match state.send_json(member.caller(), AddSubscriberRequest::PATH, &asked).await {
        Ok(_) => {
            let path = stored.summary.path(&member, "/subscribers");
            let is_asked = confirm && values.first("email").is_some_and(|it| !it.is_empty());
            let text = if is_asked {
                "The address was invited. It gets news once it confirms."
            } else {
                "The subscriber was added."
            };
            Ok(redirect_with_notice(&path, text))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "subscriber");
            let part = SubscribersPart::default();
            let given = (&values, &messages);
            let page = page_of(&state, &member, (stored, part), given, &request).await?;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

/// Ends a subscription.
pub(crate) async fn remove(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, subscriber)): Path<(String, String, String)>,
) -> Result<Response, ScreenError> {
    state.send(member.caller(), RemoveSubscriberRequest { id: subscriber }).await?;
    let path = member.path(&format!("/pages/{id}/subscribers"));
    Ok(redirect_with_notice(&path, "The subscription was ended and its data deleted."))
}

async fn page_of(
    state: &Dashboard,
    member: &Member,
    (stored, part): (StoredPage, SubscribersPart),
    (values, messages): (&Values, &Messages),
    request: &HeaderMap,
) -> Result<SubscribersPage, ScreenError> {
    let asked = ListSubscribersRequest {
        page_id: Some(stored.id.to_string()),
        state: Some(part.state.clone()).filter(|it| !it.is_empty()),
        limit: Some(SUBSCRIBERS),
        page_token: part.after,
        ..ListSubscribersRequest::default()
    };
    let found = state.send(member.caller(), asked).await?;
    let components = components(state, member, &stored).await?;
    let choices = |field: &str| (field == "component_ids").then(|| components.clone());
    let more = ["webhook_url", "language", "topics", "component_ids"];
    let more = if components.is_empty() { &more[..3] } else { &more };
    let spec = FormSpec { resource: &SUBSCRIBER, main: &["email"], more, choices: &choices };
    Ok(SubscribersPage {
        frame: Frame::of_member(member, Section::Pages, &stored.summary.title, request),
        page: stored.summary,
        rows: found.subscribers.iter().map(SubscriberRow::new).collect(),
        total: found.total_size,
        next: found.next_page_token,
        states: &STATES,
        state: part.state,
        form: Form::new(spec, values, messages),
        asks_to_confirm: values.is_on("confirm", true),
        tab: "/subscribers",
        can_edit: member.membership.role.includes(Role::Editor),
    })
}

/// Returns the components of a page as choices.
async fn components(
    state: &Dashboard,
    member: &Member,
    stored: &StoredPage,
) -> Result<Vec<Choice>, ScreenError> {
    let all = state.store.components().names_on_page(member.workspace(), stored.id).await?;
    let choice = |it: ComponentName| {
        let value = it.id.to_string();
        let label = if it.name.is_empty() { value.clone() } else { it.name };
        Choice { value, label }
    };
    Ok(all.into_iter().map(choice).collect())
}

impl SubscriberRow {
    fn new(subscriber: &Subscriber) -> Self {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let address = subscriber.email.as_ref().or(subscriber.webhook_url.as_ref());
        let at = subscriber.confirmed_at.as_option().or(subscriber.created_at.as_option());
        let topics = match subscriber.topics.as_slice() {
            [] => "reports, maintenance".to_owned(),
            topics => topics.join(", "),
        };
        Self {
            id: text(&subscriber.id),
            address: address.cloned().unwrap_or_else(|| "hidden".to_owned()),
            kind: text(&subscriber.kind),
            is_active: subscriber.state.as_deref() == Some("active"),
            suppression: subscriber.suppression_reason.as_deref().and_then(suppression),
            topics,
            since: at.and_then(decode_instant),
        }
    }
}

fn suppression(reason: &str) -> Option<&'static str> {
    match reason {
        "page_hidden" => Some("gets nothing while the page is hidden"),
        "other_domain" => Some("gets nothing: its domain may not read the page"),
        "password" => Some("gets nothing: it subscribed before the current password"),
        // The state says so already.
        _ => None,
    }
}
