//! One report: its updates, newest first, and the form for the next one.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use rules::report::{Report, ReportUpdate};
use rules::tables::{REPORT_UPDATE, STATUS_REPORT};
use rules::{ReportId, Role, Timestamp};
use serde_json::{Value as Json, json};
use store::ComponentName;

use super::create::UPDATE_FIELDS;
use super::fields::{IMPACTS, ImpactGroup, components, fields, impact_groups};
use super::status_label;
use crate::error::ScreenError;
use crate::form::{FormField, Messages, Values};
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "status_report.html")]
struct ReportPage {
    frame: Frame,
    id: String,
    page: String,
    /// Public URL of the report.
    public_path: Option<String>,
    status: &'static str,
    is_open: bool,
    title: Vec<FormField>,
    updates: Vec<UpdateView>,
    update: Vec<FormField>,
    impacts: Vec<ImpactGroup>,
    notify: bool,
    message: Option<String>,
    can_edit: bool,
}

/// An update, ready to be shown.
struct UpdateView {
    id: String,
    status: &'static str,
    at: Timestamp,
    /// HTML of its text.
    html: String,
    /// Names of components and the impact on each.
    impacts: Vec<(String, &'static str)>,
    notified: bool,
    is_edited: bool,
}

/// A form on the page that was not accepted.
#[derive(Default)]
pub(super) struct Refused {
    pub(super) values: Values,
    pub(super) messages: Messages,
}

/// Shows the report.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    response(&state, &member, (&id, Refused::default()), &request).await
}

/// Returns the page, possibly with a form that was not accepted.
pub(super) async fn response(
    state: &Dashboard,
    member: &Member,
    (id, refused): (&str, Refused),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    let report = find(state, member, id).await?;
    let known = components(state, member, Some(report.page)).await?;
    let page = state.store.pages().get(member.workspace(), report.page).await?;
    let is_refused = !refused.messages.is_empty();
    let status = if is_refused { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let Refused { mut values, messages } = refused;
    let current = current_impacts(&report);
    let next = values.first("status").unwrap_or(report.status().as_str()).to_owned();
    values.set("status", next);
    let mut title = values.clone();
    if title.first("title").is_none() {
        title.set("title", &report.title);
    }
    let is_published = page.published;
    let path = format!("/status/{}/report/{id}", page.settings.slug);
    let page = ReportPage {
        frame: Frame::of_member(member, Section::Incidents, &report.title, request),
        id: id.to_owned(),
        page: page.settings.title,
        public_path: is_published.then_some(path),
        status: status_label(report.status().as_str()),
        is_open: report.resolved_at().is_none(),
        title: fields(&STATUS_REPORT, &["title"], &title, &messages),
        updates: report.updates.iter().map(|it| UpdateView::new(it, &known)).collect(),
        update: fields(&REPORT_UPDATE, UPDATE_FIELDS, &values, &messages),
        impacts: impact_groups(&known, &values, &current),
        notify: values.is_on("notify", true),
        message: messages.get("components").or(messages.whole().map(str::to_owned)),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page_with_status(status, &page, request))
}

/// Reads a report of the workspace.
pub(super) async fn find(
    state: &Dashboard,
    member: &Member,
    id: &str,
) -> Result<Report, ScreenError> {
    let id = ReportId::parse(id).map_err(|_| ScreenError::NotFound)?;
    Ok(state.store.reports().get(member.workspace(), id).await?)
}

/// Returns the impacts of an update in the JSON of the contract.
pub(super) fn impacts_of(update: &ReportUpdate) -> Json {
    let impact = |it: &rules::report::ComponentImpact| json!({ "componentId": it.component.to_string(), "impact": it.impact.as_str() });
    update.components.iter().map(impact).collect()
}

fn current_impacts(report: &Report) -> Json {
    report.updates.first().map(impacts_of).unwrap_or_default()
}

impl UpdateView {
    fn new(update: &ReportUpdate, known: &[ComponentName]) -> Self {
        let impacts = update.components.iter().filter_map(|it| {
            let component = known.iter().find(|known| known.id == it.component)?;
            Some((component.name.clone(), it.impact.as_str()))
        });
        Self {
            id: update.id.to_string(),
            status: status_label(update.status.as_str()),
            at: update.at,
            html: domain::markdown::html(&update.text),
            impacts: impacts.collect(),
            notified: update.notified,
            is_edited: update.updated_at != update.created_at,
        }
    }
}
