//! Creates a report with its first update, possibly from a template.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_report::wire::CreateStatusReportRequest;
use http::{HeaderMap, StatusCode};
use rules::tables::{REPORT_UPDATE, STATUS_REPORT};
use rules::{PageId, TemplateId};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use store::Page;

use super::fields::{
    IMPACTS, ImpactGroup, components, fields, impact_groups, impact_input, posted_impacts,
};
use crate::error::ScreenError;
use crate::extract::{Asked, Posted};
use crate::form::{FormField, Messages, PostedFields, Values, resource};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Page and template of a new report.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NewReportQuery {
    page_id: String,
    template: String,
}

#[derive(Template)]
#[template(path = "status_report_form.html")]
struct NewReportPage {
    frame: Frame,
    /// Pages to choose from, if there are several.
    pages: Vec<(String, String)>,
    /// Chosen page.
    page_id: String,
    /// Templates to start from.
    templates: Vec<(String, String)>,
    title: Vec<FormField>,
    update: Vec<FormField>,
    impacts: Vec<ImpactGroup>,
    notify: bool,
    message: Option<String>,
}

/// Shows the form, filled in from a template if one was chosen.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<NewReportQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let mut values = Values::default();
    fill_in(&state, &member, &asked.template, &mut values).await?;
    let page = page(&state, &member, (&asked.page_id, &values), &request).await?;
    Ok(html::page(&page, &request))
}

/// Sets what a template names. All else that a person wrote stays.
async fn fill_in(
    state: &Dashboard,
    member: &Member,
    template: &str,
    values: &mut Values,
) -> Result<(), ScreenError> {
    let Ok(id) = TemplateId::parse(template) else { return Ok(()) };
    let settings = state.store.report_templates().get(member.workspace(), id).await?.settings;
    let status = settings.status.map(|status| status.to_string());
    for (name, value) in [("title", settings.title), ("text", settings.text), ("status", status)] {
        if let Some(value) = value {
            values.set(name, value);
        }
    }
    for it in &settings.components {
        values.set(&impact_input(&it.component.to_string()), it.impact.as_str().to_owned());
    }
    Ok(())
}

/// Creates the report. With another button, only takes the chosen page and template.
pub(super) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let mut values = Values::posted(posted, &STATUS_REPORT);
    let page_id = values.first("page_id").unwrap_or_default().to_owned();
    let notify = values.is_on("notify", false);
    if values.first("action") == Some("use") {
        let template = values.first("template").unwrap_or_default().to_owned();
        fill_in(&state, &member, &template, &mut values).await?;
        let mut page = page(&state, &member, (&page_id, &values), &request).await?;
        page.notify = notify;
        return Ok(html::page(&page, &request));
    }
    let known = components(&state, &member, PageId::parse(&page_id).ok()).await?;
    let mut report = resource(&STATUS_REPORT, &values);
    report.insert("components".to_owned(), posted_impacts(&known, &values));
    let create = json!({
        "statusReport": report, "update": resource(&REPORT_UPDATE, &values), "notify": notify,
    });
    match state.send_json(member.caller(), CreateStatusReportRequest::PATH, &create).await {
        Ok(created) => {
            let id = created["statusReport"]["id"].as_str().unwrap_or_default();
            let path = member.path(&format!("/status-reports/{id}"));
            Ok(redirect_with_notice(&path, "The report was published."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "status_report").nested("update");
            let mut page = page(&state, &member, (&page_id, &values), &request).await?;
            page.title = fields(&STATUS_REPORT, &["title"], &values, &messages);
            page.update = fields(&REPORT_UPDATE, UPDATE_FIELDS, &values, &messages);
            page.message = messages.get("components").or(messages.whole().map(str::to_owned));
            page.notify = notify;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

/// Fields of an update in forms.
pub(super) const UPDATE_FIELDS: &[&str] = &["status", "text", "at"];

async fn page(
    state: &Dashboard,
    member: &Member,
    (page_id, values): (&str, &Values),
    request: &HeaderMap,
) -> Result<NewReportPage, ScreenError> {
    let workspace = member.workspace();
    let pages = state.store.pages().list(workspace, Page::all()).await?.rows;
    let pages: Vec<(String, String)> =
        pages.into_iter().map(|it| (it.id.to_string(), it.settings.title)).collect();
    let is_known = pages.iter().any(|(id, _)| id == page_id);
    let first = pages.first().map(|(id, _)| id.clone()).unwrap_or_default();
    let page_id = if is_known { page_id.to_owned() } else { first };
    let known = components(state, member, PageId::parse(&page_id).ok()).await?;
    let templates = state.store.report_templates().list(workspace, Page::all()).await?.rows;
    let messages = Messages::default();
    Ok(NewReportPage {
        frame: Frame::of_member(member, Section::Incidents, "New status report", request),
        pages,
        templates: templates.into_iter().map(|it| (it.id.to_string(), it.settings.name)).collect(),
        title: fields(&STATUS_REPORT, &["title"], values, &messages),
        update: fields(&REPORT_UPDATE, UPDATE_FIELDS, values, &messages),
        impacts: if page_id.is_empty() {
            Vec::new()
        } else {
            impact_groups(&known, values, &Json::Null)
        },
        page_id,
        notify: true,
        message: None,
    })
}
