//! Changes of a report: its title, its updates, and its deletion.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_report::wire::{
    AddStatusReportUpdateRequest, DeleteStatusReportRequest, DeleteStatusReportUpdateRequest,
    EditStatusReportUpdateRequest, UpdateStatusReportRequest,
};
use http::{HeaderMap, StatusCode};
use rules::report::Report;
use rules::tables::{REPORT_UPDATE, STATUS_REPORT};
use serde_json::{Value as Json, json};

use super::create::UPDATE_FIELDS;
use super::fields::{IMPACTS, ImpactGroup, components, fields, impact_groups, posted_impacts};
use super::show::{self, Refused, find, impacts_of};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{FormField, Messages, PostedFields, Values, resource};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "status_report_update.html")]
struct UpdateFormPage {
    frame: Frame,
    report: String,
    title: String,
    update_id: String,
    update: Vec<FormField>,
    impacts: Vec<ImpactGroup>,
    message: Option<String>,
}

/// Adds an update.
pub(super) async fn add(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &REPORT_UPDATE);
    let report = find(&state, &member, &id).await?;
    let update = update_json(&state, &member, &report, &values).await?;
    let notify = values.is_on("notify", false);
    let add = json!({ "id": id, "update": update, "notify": notify });
    match state.send_json(member.caller(), AddStatusReportUpdateRequest::PATH, &add).await {
        Ok(_) => Ok(done(&member, &id, "The update was published.")),
        Err(error) => {
            let messages = Messages::from_error(&error, "update");
            show::response(&state, &member, (&id, Refused { values, messages }), &request).await
        }
    }
}

/// Changes the title of a report.
pub(super) async fn rename(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &STATUS_REPORT);
    let title = values.first("title").unwrap_or_default();
    let update = json!({
        "statusReport": { "id": id, "title": title }, "updateMask": "title",
    });
    match state.send_json(member.caller(), UpdateStatusReportRequest::PATH, &update).await {
        Ok(_) => Ok(done(&member, &id, "The title was changed.")),
        Err(error) => {
            let messages = Messages::from_error(&error, "status_report");
            show::response(&state, &member, (&id, Refused { values, messages }), &request).await
        }
    }
}

/// Deletes a report.
pub(super) async fn delete_report(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let delete = json!({ "id": id });
    state.send_json(member.caller(), DeleteStatusReportRequest::PATH, &delete).await?;
    Ok(redirect_with_notice(&member.path("/status-reports"), "The report was deleted."))
}

/// Shows the form of an update.
pub(super) async fn edit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, update)): Path<(String, String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let report = find(&state, &member, &id).await?;
    let stored = report.updates.iter().find(|it| it.id.to_string() == update);
    let stored = stored.ok_or(ScreenError::NotFound)?;
    let mut values = Values::default();
    values.set("status", stored.status.as_str());
    values.set("text", &stored.text);
    values.set("at", crate::time::input(stored.at));
    let impacts = impacts_of(stored);
    let refused = Refused { values, messages: Messages::default() };
    let page =
        edit_page(&state, &member, (&report, &update), (refused, &impacts), &request).await?;
    Ok(html::page(&page, &request))
}

/// Stores the edit of an update.
pub(super) async fn submit_edit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, update)): Path<(String, String, String)>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &REPORT_UPDATE);
    let report = find(&state, &member, &id).await?;
    let stored = report.updates.iter().find(|it| it.id.to_string() == update);
    let stored = stored.ok_or(ScreenError::NotFound)?;
    let mut changed = update_json(&state, &member, &report, &values).await?;
    changed["id"] = json!(update);
    // The form shows minutes; an unchanged time keeps its seconds.
    let shown = crate::time::input(stored.at);
    if values.first("at") == Some(shown.as_str()) {
        changed["at"] = json!(stored.at.to_string());
    }
    let edit = json!({ "update": changed });
    match state.send_json(member.caller(), EditStatusReportUpdateRequest::PATH, &edit).await {
        Ok(_) => Ok(done(&member, &id, "The update was changed.")),
        Err(error) => {
            let messages = Messages::from_error(&error, "update");
            let refused = (Refused { values, messages }, &Json::Null);
            let page = edit_page(&state, &member, (&report, &update), refused, &request).await?;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

/// Deletes an update.
pub(super) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, update)): Path<(String, String, String)>,
) -> Result<Response, ScreenError> {
    let delete = json!({ "id": update });
    state.send_json(member.caller(), DeleteStatusReportUpdateRequest::PATH, &delete).await?;
    Ok(done(&member, &id, "The update was deleted."))
}

fn done(member: &Member, report: &str, notice: &str) -> Response {
    redirect_with_notice(&member.path(&format!("/status-reports/{report}")), notice)
}

/// Returns the posted update in the JSON of the contract.
async fn update_json(
    state: &Dashboard,
    member: &Member,
    report: &Report,
    values: &Values,
) -> Result<Json, ScreenError> {
    let known = components(state, member, Some(report.page)).await?;
    let mut update = resource(&REPORT_UPDATE, values);
    update.insert("components".to_owned(), posted_impacts(&known, values));
    Ok(Json::Object(update))
}

async fn edit_page(
    state: &Dashboard,
    member: &Member,
    (report, update): (&Report, &str),
    (refused, stored): (Refused, &Json),
    request: &HeaderMap,
) -> Result<UpdateFormPage, ScreenError> {
    let Refused { values, messages } = refused;
    let known = components(state, member, Some(report.page)).await?;
    Ok(UpdateFormPage {
        frame: Frame::of_member(member, Section::Incidents, "Edit update", request),
        report: report.id.to_string(),
        title: report.title.clone(),
        update_id: update.to_owned(),
        update: fields(&REPORT_UPDATE, UPDATE_FIELDS, &values, &messages),
        impacts: impact_groups(&known, &values, stored),
        message: messages.get("components").or(messages.whole().map(str::to_owned)),
    })
}
