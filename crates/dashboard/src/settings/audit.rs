//! The audit log: each change with its author, time and origin, before and after; and its export.

use askama::Template;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use contract::audit::wire::{AuditEntry, ListAuditEntriesRequest};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use rules::{Role, WorkspaceId};
use serde::Deserialize;
use store::{AuditFilter, ExportFormat, Store, StoreError};

use super::Tab;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Entries on a page.
const LIMIT: i32 = 50;

#[derive(Template)]
#[template(path = "settings/audit.html")]
struct AuditPage {
    frame: Frame,
    tab: Tab,
    entries: Vec<AuditRow>,
    filter: Filter,
    may_export: bool,
    /// Query of the next page.
    next: Option<String>,
}

/// A change as the list shows it.
struct AuditRow {
    entry: AuditEntry,
    at: Option<String>,
}

/// Filter of the list, as in the URL.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Filter {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    resource: String,
    page: Option<String>,
}

/// Format of an export, as in the URL.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Export {
    format: Option<String>,
}

/// A running export.
struct Exporting {
    store: Store,
    workspace: WorkspaceId,
    format: ExportFormat,
    /// Position of the next part.
    next: ExportPosition,
}

/// Position of an export.
enum ExportPosition {
    Start,
    After(i64),
    End,
}

/// Lists the changes.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(filter): Asked<Filter>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let given = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let list = ListAuditEntriesRequest {
        limit: Some(LIMIT),
        page_token: filter.page.clone(),
        actor: given(&filter.actor),
        resource_id: given(&filter.resource),
        ..ListAuditEntriesRequest::default()
    };
    let found = state.send(member.caller(), list).await?;
    let next = Some(found.next_page_token).filter(|token| !token.is_empty());
    let entries = found.entries.into_iter();
    let page = AuditPage {
        frame: Frame::of_member(&member, Section::Settings, "Audit log", &request),
        tab: Tab::Audit,
        entries: entries
            .map(|entry| AuditRow { at: time::wire_time(entry.at.as_option()), entry })
            .collect(),
        next: next.map(|token| filter.query(&token)),
        filter,
        may_export: member.membership.role.includes(Role::Admin),
    };
    Ok(html::page(&page, &request))
}

/// Exports the whole audit log as CSV or lines of JSON, part by part.
pub(crate) async fn export(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<Export>,
) -> Result<Response, ScreenError> {
    let (format, content_type, ending) = match asked.format.as_deref() {
        None | Some("csv") => (ExportFormat::Csv, "text/csv; charset=utf-8", "csv"),
        Some("jsonl") => (ExportFormat::JsonLines, "application/jsonl", "jsonl"),
        Some(_) => return Err(ScreenError::NotFound),
    };
    let exporting = Exporting {
        store: state.store.clone(),
        workspace: member.workspace(),
        format,
        next: ExportPosition::Start,
    };
    let parts = stream::try_unfold(exporting, Exporting::next_part);
    let name = format!(
        "attachment; filename=\"audit-{}-{}.{ending}\"",
        member.membership.workspace.slug,
        time::format(state.ctx.now(), "%Y-%m-%d")
    );
    let mut response = Response::new(Body::from_stream(parts));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let name = HeaderValue::try_from(name).expect("a slug and a date are a header");
    headers.insert(CONTENT_DISPOSITION, name);
    Ok(response)
}

impl Filter {
    /// Returns the query of another page of the same list.
    fn query(&self, page: &str) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        for (name, value) in [("actor", &self.actor), ("resource", &self.resource)] {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        query.append_pair("page", page).finish()
    }
}

impl Exporting {
    async fn next_part(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let after = match self.next {
            ExportPosition::Start => None,
            ExportPosition::After(number) => Some(number),
            ExportPosition::End => return Ok(None),
        };
        let filter = AuditFilter::default();
        let page = self.store.audit().export(self.workspace, &filter, self.format, after).await?;
        self.next = page.next.map_or(ExportPosition::End, ExportPosition::After);
        Ok(Some((Bytes::from(page.text), self)))
    }
}
