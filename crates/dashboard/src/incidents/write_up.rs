//! The write-up of an incident: a draft that a person edits, saves, and publishes as a status report.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_report::wire::CreateStatusReportRequest;
use http::{HeaderMap, StatusCode};
use rules::report::{Impact, ReportStatus};
use rules::{IncidentId, PageId, ReportId};
use serde::Deserialize;
use serde_json::json;
use store::{ComponentName, Page};

use super::show::{self, IncidentView};
use super::write_up_draft::draft;
use crate::error::ScreenError;
use crate::extract::Posted;
use crate::form::Messages;
use crate::html::{self, Frame, Section, redirect_with_notice};
use crate::session::Member;
use crate::state::Dashboard;

/// Maximum length of a saved write-up, in bytes. A report may be shorter.
const TEXT_BYTES_MAX: usize = 64 * 1_024;

/// Fields of the form.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PostedWriteUp {
    /// `save` or `publish`.
    action: String,
    text: String,
    title: String,
    page: String,
    status: String,
    notify: Option<String>,
}

#[derive(Template)]
#[template(path = "write_up.html")]
struct WriteUpPage {
    frame: Frame,
    incident: IncidentView,
    given: PostedWriteUp,
    pages: Vec<(String, String)>,
    statuses: &'static [&'static str],
    messages: WriteUpMessages,
    /// Status report that it became.
    report: Option<String>,
    preview: String,
}

/// Messages beside the fields.
#[derive(Debug, Default)]
struct WriteUpMessages {
    whole: Option<String>,
    text: Option<String>,
    title: Option<String>,
    page: Option<String>,
}

/// An incident with its write-up.
struct Loaded {
    id: IncidentId,
    view: IncidentView,
    draft: String,
    saved: Option<store::WriteUp>,
    pages: Vec<(String, String)>,
}

/// Shows the saved write-up, or a draft.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let loaded = load(&state, &member, &id).await?;
    let text = loaded.saved.as_ref().map_or_else(|| loaded.draft.clone(), |it| it.text.clone());
    let is_over = loaded.view.closed_at.is_some();
    let status = if is_over { ReportStatus::Resolved } else { ReportStatus::Investigating };
    let given = PostedWriteUp {
        text,
        title: format!("{} was down", loaded.view.monitor),
        page: loaded.pages.first().map(|(id, _)| id.clone()).unwrap_or_default(),
        status: status.to_string(),
        notify: Some("true".to_owned()),
        action: String::new(),
    };
    let page = page(&member, loaded, (given, WriteUpMessages::default()), &request);
    Ok(html::page(&page, &request))
}

/// Saves the write-up, and publishes it if the person says so.
pub(super) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
    Posted(mut given): Posted<PostedWriteUp>,
) -> Result<Response, ScreenError> {
    let loaded = load(&state, &member, &id).await?;
    given.text = given.text.replace("\r\n", "\n");
    if given.text.len() > TEXT_BYTES_MAX {
        let text = Some("The text is too long to be saved.".to_owned());
        let messages = WriteUpMessages { text, ..WriteUpMessages::default() };
        return Ok(refused(&page(&member, loaded, (given, messages), &request), &request));
    }
    if given.action != "publish" {
        save(&state, &member, loaded.id, (&given.text, None)).await?;
        let path = member.path(&format!("/incidents/{id}/write-up"));
        return Ok(redirect_with_notice(&path, "The write-up was saved. Only your team sees it."));
    }
    match publish(&state, &member, &loaded, &given).await {
        Ok(report) => {
            save(&state, &member, loaded.id, (&given.text, ReportId::parse(&report).ok())).await?;
            let path = member.path(&format!("/status-reports/{report}"));
            Ok(redirect_with_notice(&path, "The write-up was published."))
        }
        Err(messages) => Ok(refused(&page(&member, loaded, (given, messages), &request), &request)),
    }
}

fn refused(page: &WriteUpPage, request: &HeaderMap) -> Response {
    html::page_with_status(StatusCode::UNPROCESSABLE_ENTITY, page, request)
}

async fn load(state: &Dashboard, member: &Member, id: &str) -> Result<Loaded, ScreenError> {
    let parsed = IncidentId::parse(id).map_err(|_| ScreenError::NotFound)?;
    let found = show::find(state, member, id).await?;
    let incident = found.incident.as_option().ok_or(ScreenError::NotFound)?;
    let view = IncidentView::new(incident, state.ctx.now());
    let saved = state.store.incidents().write_up(member.workspace(), parsed).await?;
    let pages = state.store.pages().list(member.workspace(), Page::all()).await?.rows;
    let pages = pages.into_iter().map(|it| (it.id.to_string(), it.settings.title)).collect();
    Ok(Loaded { id: parsed, draft: draft(&found, &view), view, saved, pages })
}

async fn save(
    state: &Dashboard,
    member: &Member,
    incident: IncidentId,
    (text, report): (&str, Option<ReportId>),
) -> Result<(), ScreenError> {
    let signed_in = &member.signed_in;
    let change = state.change_by(signed_in.user.id, signed_in.address);
    let which = (member.workspace(), incident);
    let incidents = state.store.incidents();
    Ok(incidents.save_write_up(which, text.to_owned(), report, change).await?)
}

/// Creates the report and returns its ID.
async fn publish(
    state: &Dashboard,
    member: &Member,
    loaded: &Loaded,
    given: &PostedWriteUp,
) -> Result<String, WriteUpMessages> {
    let whole =
        |text: &str| WriteUpMessages { whole: Some(text.to_owned()), ..WriteUpMessages::default() };
    let Ok(page) = PageId::parse(&given.page) else {
        let page = Some("Choose a status page.".to_owned());
        return Err(WriteUpMessages { page, ..whole("Nothing was published.") });
    };
    let components = state.store.components().names(member.workspace()).await;
    let components = components.map_err(|_| whole("The components could not be read."))?;
    let shows = |it: &&ComponentName| {
        let monitor = it.monitor.map(|id| id.to_string());
        it.page == page && monitor.as_deref() == Some(&loaded.view.monitor_id)
    };
    let impacts: Vec<_> = components
        .iter()
        .filter(shows)
        .map(|it| json!({ "componentId": it.id.to_string(), "impact": Impact::Down.as_str() }))
        .collect();
    let report = json!({
        "statusReport": {
            "pageId": given.page, "title": given.title.trim(), "components": impacts,
        },
        "update": { "status": given.status, "text": given.text },
        "notify": given.notify.is_some(),
    });
    match state.send_json(member.caller(), CreateStatusReportRequest::PATH, &report).await {
        Ok(created) => Ok(created["statusReport"]["id"].as_str().unwrap_or_default().to_owned()),
        Err(error) => {
            let messages = Messages::from_error(&error, "status_report");
            Err(WriteUpMessages {
                text: messages.get("update.text"),
                title: messages.get("title"),
                page: messages.get("page_id"),
                whole: messages.whole().map(|text| text.replace("saved", "published")),
            })
        }
    }
}

fn page(
    member: &Member,
    loaded: Loaded,
    (given, messages): (PostedWriteUp, WriteUpMessages),
    request: &HeaderMap,
) -> WriteUpPage {
    let title = format!("Write-up: {}", loaded.view.monitor);
    WriteUpPage {
        frame: Frame::of_member(member, Section::Incidents, title, request),
        preview: domain::markdown::html(&given.text),
        incident: loaded.view,
        report: loaded.saved.and_then(|it| it.report).map(|id| id.to_string()),
        pages: loaded.pages,
        statuses: ReportStatus::WORDS,
        given,
        messages,
    }
}
