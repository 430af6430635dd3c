//! Templates of reports: list, create, edit and delete.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_report::wire::{
    CreateReportTemplateRequest, DeleteReportTemplateRequest, UpdateReportTemplateRequest,
};
use http::{HeaderMap, StatusCode};
use rules::tables::REPORT_TEMPLATE;
use rules::{Role, TemplateId};
use serde_json::{Value as Json, json};
use store::Page;

use super::fields::{IMPACTS, ImpactGroup, components, fields, impact_groups, posted_impacts};
use super::status_label;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{FormField, Messages, PostedFields, Values, resource};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

const FIELDS: &[&str] = &["name", "title", "status", "text"];

#[derive(Template)]
#[template(path = "report_templates.html")]
struct TemplatesPage {
    frame: Frame,
    rows: Vec<TemplateRow>,
    can_edit: bool,
}

/// A template as the list shows it.
struct TemplateRow {
    id: String,
    name: String,
    title: String,
    status: &'static str,
    components: usize,
}

#[derive(Template)]
#[template(path = "report_template_form.html")]
struct TemplatePage {
    frame: Frame,
    action: String,
    fields: Vec<FormField>,
    impacts: Vec<ImpactGroup>,
    message: Option<String>,
    /// Whether the template exists already.
    is_stored: bool,
    delete: String,
}

/// Shows the templates.
pub(super) async fn list(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let found = state.store.report_templates().list(member.workspace(), Page::all()).await?;
    let row = |template: rules::report::ReportTemplate| {
        let settings = template.settings;
        TemplateRow {
            id: template.id.to_string(),
            name: settings.name,
            title: settings.title.unwrap_or_default(),
            status: settings.status.map_or("", |status| status_label(status.as_str())),
            components: settings.components.len(),
        }
    };
    let page = TemplatesPage {
        frame: Frame::of_member(&member, Section::Incidents, "Report templates", &request),
        rows: found.rows.into_iter().map(row).collect(),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

/// Shows the form of a new template.
pub(super) async fn new(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let given = (&Values::default(), &Messages::default(), &Json::Null);
    Ok(html::page(&page(&state, &member, None, given, &request).await?, &request))
}

/// Creates a template.
pub(super) async fn create(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &REPORT_TEMPLATE);
    let create = json!({ "template": template_json(&state, &member, &values).await? });
    let sent = state.send_json(member.caller(), CreateReportTemplateRequest::PATH, &create).await;
    answer(&state, &member, (None, sent, &values), &request).await
}

/// Shows the form of a template.
pub(super) async fn edit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let parsed = TemplateId::parse(&id).map_err(|_| ScreenError::NotFound)?;
    let stored = state.store.report_templates().get(member.workspace(), parsed).await?.settings;
    let mut values = Values::default();
    values.set("name", &stored.name);
    let status = stored.status.map(|status| status.to_string());
    for (name, value) in [("title", stored.title), ("status", status), ("text", stored.text)] {
        values.set(name, value.unwrap_or_default());
    }
    let impact = |it: &rules::report::ComponentImpact| json!({ "componentId": it.component.to_string(), "impact": it.impact.as_str() });
    let impacts: Json = stored.components.iter().map(impact).collect();
    let given = (&values, &Messages::default(), &impacts);
    Ok(html::page(&page(&state, &member, Some(&id), given, &request).await?, &request))
}

/// Stores the edit of a template.
pub(super) async fn update(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): PostedFields,
) -> Result<Response, ScreenError> {
    let values = Values::posted(posted, &REPORT_TEMPLATE);
    let mut template = template_json(&state, &member, &values).await?;
    template["id"] = json!(id);
    let update = json!({ "template": template });
    let sent = state.send_json(member.caller(), UpdateReportTemplateRequest::PATH, &update).await;
    answer(&state, &member, (Some(&id), sent, &values), &request).await
}

/// Deletes a template.
pub(super) async fn delete(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ScreenError> {
    let delete = json!({ "id": id });
    state.send_json(member.caller(), DeleteReportTemplateRequest::PATH, &delete).await?;
    let path = member.path("/status-reports/templates");
    Ok(redirect_with_notice(&path, "The template was deleted."))
}

/// Returns to the list, or shows the form with the errors.
async fn answer(
    state: &Dashboard,
    member: &Member,
    (id, sent, values): (Option<&str>, Result<Json, contract::rpc::Error>, &Values),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    match sent {
        Ok(_) => {
            let path = member.path("/status-reports/templates");
            Ok(redirect_with_notice(&path, "The template was saved."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "template");
            let page = page(state, member, id, (values, &messages, &Json::Null), request).await?;
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, request))
        }
    }
}

async fn template_json(
    state: &Dashboard,
    member: &Member,
    values: &Values,
) -> Result<Json, ScreenError> {
    let known = components(state, member, None).await?;
    let mut template = resource(&REPORT_TEMPLATE, values);
    template.insert("components".to_owned(), posted_impacts(&known, values));
    Ok(Json::Object(template))
}

async fn page(
    state: &Dashboard,
    member: &Member,
    id: Option<&str>,
    (values, messages, stored): (&Values, &Messages, &Json),
    request: &HeaderMap,
) -> Result<TemplatePage, ScreenError> {
    let known = components(state, member, None).await?;
    let title = if id.is_some() { "Edit template" } else { "New template" };
    let path = |rest: &str| member.path(&format!("/status-reports/templates/{rest}"));
    Ok(TemplatePage {
        frame: Frame::of_member(member, Section::Incidents, title, request),
        action: id.map_or_else(|| path("new"), |id| path(&format!("{id}/edit"))),
        delete: id.map(|id| path(&format!("{id}/delete"))).unwrap_or_default(),
        is_stored: id.is_some(),
        fields: fields(&REPORT_TEMPLATE, FIELDS, values, messages),
        impacts: impact_groups(&known, values, stored),
        message: messages.get("components").or(messages.whole().map(str::to_owned)),
    })
}
