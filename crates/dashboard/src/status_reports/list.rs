//! The list of reports, of one page or of all, open ones first.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use rules::report::{Report, ReportState, ReportStatus};
use rules::{PageId, Role, Timestamp};
use serde::Deserialize;
use store::{Page, ReportFilter};

use super::status_label;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::pager::Pager;
use crate::session::Member;
use crate::state::Dashboard;

/// Number of reports per page of the list.
const ROWS: u32 = 50;

/// Filter of the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReportListQuery {
    /// ID of a status page.
    page_id: String,
    /// `open`, `resolved` or empty.
    state: String,
    page: Option<u32>,
}

#[derive(Template)]
#[template(path = "status_reports.html")]
struct ReportListPage {
    frame: Frame,
    rows: Vec<ReportListRow>,
    pages: Vec<(String, String)>,
    asked: ReportListQuery,
    pager: Pager,
    can_edit: bool,
}

/// A report as the list shows it.
struct ReportListRow {
    id: String,
    title: String,
    page: String,
    status: &'static str,
    is_open: bool,
    started_at: Timestamp,
    latest_at: Timestamp,
    /// Number of affected components.
    affected: usize,
}

/// Shows the list.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<ReportListQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let workspace = member.workspace();
    let pages = state.store.pages().list(workspace, Page::all()).await?.rows;
    let pages: Vec<(PageId, String)> =
        pages.into_iter().map(|it| (it.id, it.settings.title)).collect();
    let pager = Pager::new(asked.page, ROWS);
    let filter = ReportFilter {
        page: PageId::parse(&asked.page_id).ok(),
        state: ReportState::parse(&asked.state).ok(),
    };
    let part = Page { limit: ROWS, offset: pager.offset(), after: None };
    let found = state.store.reports().list(workspace, filter, part).await?;
    let row = |report: &Report| {
        let page = pages.iter().find(|(id, _)| *id == report.page);
        ReportListRow::new(report, page.map(|(_, title)| title.clone()).unwrap_or_default())
    };
    let mut rows: Vec<ReportListRow> = found.rows.iter().map(row).collect();
    // Stable, so that each part stays in the order of time.
    rows.sort_by_key(|row| !row.is_open);
    let page = ReportListPage {
        frame: Frame::of_member(&member, Section::Incidents, "Status reports", &request),
        rows,
        pages: pages.into_iter().map(|(id, title)| (id.to_string(), title)).collect(),
        pager: pager.with_total(found.total, &asked.query(&member)),
        asked,
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}

impl ReportListQuery {
    /// Returns the URL of this list without the number of the page.
    fn query(&self, member: &Member) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [("page_id", &self.page_id), ("state", &self.state)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        format!("{}?{}", member.path("/status-reports"), query.finish())
    }
}

impl ReportListRow {
    fn new(report: &Report, page: String) -> Self {
        let latest = report.updates.first();
        Self {
            id: report.id.to_string(),
            title: report.title.clone(),
            page,
            status: status_label(report.status().as_str()),
            is_open: report.status() != ReportStatus::Resolved,
            started_at: report.started_at,
            latest_at: latest.map_or(report.started_at, |update| update.at),
            affected: latest.map_or(0, |update| update.components.len()),
        }
    }
}
