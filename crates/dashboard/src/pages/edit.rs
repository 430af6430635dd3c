//! Edits the settings of a status page.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::UpdateStatusPageRequest;
use http::{HeaderMap, StatusCode};
use rules::tables::STATUS_PAGE;
use serde_json::json;

use super::fields;
use super::summary::{self, PageSummary};
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::{Form, Messages, Values};
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

#[derive(Template)]
#[template(path = "page_edit.html")]
struct EditPagePage {
    frame: Frame,
    page: PageSummary,
    form: Form,
    revision: String,
    tab: &'static str,
    can_edit: bool,
}

/// Shows the form.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let stored = summary::find(&state, &member, &id).await?;
    let mut values = Values::stored(&stored.json, &STATUS_PAGE);
    values.set("revision", &stored.summary.revision);
    if values.first("access_type").is_none() {
        values.set("access_type", "public");
    }
    let page = page(&member, stored.summary, (&values, &Messages::default()), &request);
    Ok(html::page(&page, &request))
}

/// Stores the edit, unless somebody else changed the page meanwhile.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let stored = summary::find(&state, &member, &id).await?;
    let values = Values::posted(posted, &STATUS_PAGE);
    let mut settings = fields::page(&values);
    settings.insert("id".to_owned(), json!(id));
    let mut update = json!({ "statusPage": settings, "updateMask": fields::MASK });
    if let Some(revision) = values.first("revision").filter(|it| !it.is_empty()) {
        update["revision"] = json!(revision);
    }
    match state.send_json(member.caller(), UpdateStatusPageRequest::PATH, &update).await {
        Ok(_) => {
            let path = stored.summary.path(&member, "");
            Ok(redirect_with_notice(&path, "The page was saved."))
        }
        Err(error) => {
            let messages = Messages::from_error(&error, "status_page");
            let page = page(&member, stored.summary, (&values, &messages), &request);
            Ok(html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, &page, &request))
        }
    }
}

fn page(
    member: &Member,
    page: PageSummary,
    (values, messages): (&Values, &Messages),
    request: &HeaderMap,
) -> EditPagePage {
    EditPagePage {
        frame: Frame::of_member(member, Section::Pages, &page.title, request),
        form: fields::edit_form(values, messages),
        revision: values.first("revision").unwrap_or_default().to_owned(),
        tab: "/edit",
        can_edit: true,
        page,
    }
}
