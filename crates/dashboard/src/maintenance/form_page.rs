//! The form of a maintenance, and its parts that scripts replace while a person types.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::maintenance::wire::{
    CreateMaintenanceRequest, GetMaintenanceRequest, UpdateMaintenanceRequest,
};
use contract::rpc::MethodRequest as _;
use http::{HeaderMap, StatusCode};
use rules::tables::MAINTENANCE;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::picker::{self, Picked, Picker};
use super::preview::{Preview, preview};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{Form, FormSpec, Messages, PostedFields, Values, resource};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

const MAIN: &[&str] = &["title", "description", "starts_at", "duration", "recurrence", "time_zone"];
/// Recurrences that need no knowledge of the format.
const RULES: [(&str, &str); 5] = [
    ("FREQ=DAILY", "Every day"),
    ("FREQ=WEEKLY", "Every week"),
    ("FREQ=WEEKLY;INTERVAL=2", "Every two weeks"),
    ("FREQ=MONTHLY", "Every month"),
    ("FREQ=MONTHLY;BYDAY=1SU", "First Sunday of the month"),
];

/// Values that a link fills in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NewMaintenanceQuery {
    /// Day of the first window.
    day: String,
    /// Covered monitor.
    monitor: String,
}

#[derive(Template)]
#[template(path = "maintenance_form.html")]
struct MaintenanceFormPage {
    frame: Frame,
    form: Form,
    pickers: Vec<Picker>,
    preview: Preview,
    action: String,
    back: String,
    revision: String,
    is_new: bool,
}

#[derive(Template)]
#[template(path = "maintenance_preview.html")]
struct PreviewPart {
    preview: Preview,
}

#[derive(Template)]
#[template(path = "picker_options.html")]
struct PickerPart {
    picker: Picker,
}

/// Shows the form of a new maintenance.
pub(super) async fn new(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<NewMaintenanceQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let mut values = Values::default();
    if time::parse_day(&asked.day).is_some() {
        values.set("starts_at", format!("{}T00:00", asked.day.trim()));
    }
    if !asked.monitor.is_empty() {
        values.set(Picked::Monitors.field(), asked.monitor);
    }
    let given = (&values, &Messages::default());
    let page = page(&state, &member, None, given, &request).await?;
    Ok(html::page(&page, &request))
}

/// Creates the maintenance.
pub(super) async fn create(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &MAINTENANCE);
    submit(&state, &member, (None, values), &request).await
}

/// Shows the form of a stored maintenance.
pub(super) async fn edit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let stored = find(&state, &member, &id).await?;
    let mut values = Values::stored(&stored, &MAINTENANCE);
    values.set("revision", stored["revision"].as_str().unwrap_or_default());
    let given = (&values, &Messages::default());
    let page = page(&state, &member, Some(&id), given, &request).await?;
    Ok(html::page(&page, &request))
}

/// Stores the edit, unless somebody else changed the maintenance meanwhile.
pub(super) async fn update(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &MAINTENANCE);
    submit(&state, &member, (Some(&id), values), &request).await
}

/// Returns the preview of the schedule in a form.
pub(super) async fn preview_part(
    State(state): State<Dashboard>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Response {
    let values = Values::posted(posted, &MAINTENANCE);
    html::page(&PreviewPart { preview: preview(&values, state.ctx.now()) }, &request)
}

/// Returns the monitors to choose from.
pub(super) async fn monitors_part(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    part(&state, &member, (Picked::Monitors, posted), &request).await
}

/// Returns the components to choose from.
pub(super) async fn components_part(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    part(&state, &member, (Picked::Components, posted), &request).await
}

async fn part(
    state: &Dashboard,
    member: &Member,
    (picked, posted): (Picked, Vec<(String, String)>),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &MAINTENANCE);
    let picker = picker::read(state, member, picked, &values).await?;
    Ok(html::page(&PickerPart { picker }, request))
}

/// Creates or updates the maintenance, or only shows the form again with a preview or a search.
async fn submit(
    state: &Dashboard,
    member: &Member,
    (id, values): (Option<&str>, Values),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    if values.first("action") == Some("show") {
        let given = (&values, &Messages::default());
        let page = page(state, member, id, given, request).await?;
        return Ok(html::page(&page, request));
    }
    let maintenance = resource(&MAINTENANCE, &values);
    let mut change = json!({ "maintenance": maintenance });
    let method = match id {
        None => CreateMaintenanceRequest::PATH,
        Some(id) => {
            change["maintenance"]["id"] = json!(id);
            if let Some(revision) = values.first("revision").filter(|it| !it.is_empty()) {
                change["revision"] = json!(revision);
            }
            UpdateMaintenanceRequest::PATH
        }
    };
    match state.send_json(member.caller(), method, &change).await {
        Ok(stored) => {
            let id = stored["maintenance"]["id"].as_str().unwrap_or_default();
            let path = member.path(&format!("/maintenance/{id}"));
            Ok(redirect_with_notice(&path, "The maintenance was saved."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "maintenance");
            let page = page(state, member, id, (&values, &messages), request).await?;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, request))
        }
    }
}

async fn page(
    state: &Dashboard,
    member: &Member,
    id: Option<&str>,
    (values, messages): (&Values, &Messages),
    request: &HeaderMap,
) -> Result<MaintenanceFormPage, ScreenError> {
    let mut pickers = Vec::with_capacity(2);
    for picked in [Picked::Monitors, Picked::Components] {
        let mut picker = picker::read(state, member, picked, values).await?;
        picker.error = messages.below(picked.field());
        pickers.push(picker);
    }
    let title = if id.is_some() { "Edit maintenance" } else { "Plan maintenance" };
    let back = id.map_or_else(|| "/maintenance".to_owned(), |id| format!("/maintenance/{id}"));
    let action =
        id.map_or_else(|| "/maintenance/new".to_owned(), |id| format!("/maintenance/{id}/edit"));
    let spec = FormSpec { resource: &MAINTENANCE, main: MAIN, more: &[], choices: &|_| None };
    Ok(MaintenanceFormPage {
        frame: Frame::of_member(member, Section::Maintenance, title, request),
        form: Form::new(spec, values, messages),
        pickers,
        preview: preview(values, state.ctx.now()),
        action: member.path(&action),
        back: member.path(&back),
        revision: values.first("revision").unwrap_or_default().to_owned(),
        is_new: id.is_none(),
    })
}

/// Returns the stored maintenance in the JSON of the contract.
async fn find(state: &Dashboard, member: &Member, id: &str) -> Result<Json, ScreenError> {
    let mut found =
        state.send_json(member.caller(), GetMaintenanceRequest::PATH, &json!({ "id": id })).await?;
    Ok(found["maintenance"].take())
}
