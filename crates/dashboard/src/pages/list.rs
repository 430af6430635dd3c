//! Lists status pages, each with what visitors see at a glance.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use contract::rpc::MethodRequest as _;
use contract::status_page::wire::ListStatusPagesRequest;
use http::HeaderMap;
use rules::{PageId, Role};
use serde::Deserialize;
use serde_json::json;

use super::summary::PageSummary;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::session::Member;
use crate::state::Dashboard;

/// Status pages on a page of the list. The state of a published one is in the cache of its visitors.
const PAGES: u32 = 20;

/// Page of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PagesPart {
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "pages.html")]
struct PagesPage {
    frame: Frame,
    rows: Vec<PageRow>,
    total: i64,
    next: Option<String>,
    can_edit: bool,
}

/// A status page of the list.
struct PageRow {
    page: PageSummary,
    /// Overall status for visitors: `up`, `degraded` and so on. Empty if they do not see the page.
    state: String,
}

/// Shows the list.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(part): Asked<PagesPart>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let mut asked = json!({ "limit": PAGES });
    if let Some(after) = part.after {
        asked["pageToken"] = json!(after);
    }
    let found = state.send_json(member.caller(), ListStatusPagesRequest::PATH, &asked).await?;
    let pages = found["statusPages"].as_array().into_iter().flatten();
    let pages: Vec<PageSummary> = pages.map(|json| PageSummary::new(json, &state)).collect();
    let published = pages.iter().filter(|it| it.published);
    let ids: Vec<PageId> = published.filter_map(|it| PageId::parse(&it.id).ok()).collect();
    let mut states = state.backend.page_states(member.workspace(), ids).await?;
    let rows = pages.into_iter().map(|page| {
        let id = PageId::parse(&page.id).ok();
        let state = id.and_then(|id| states.remove(&id)).unwrap_or_default();
        PageRow { page, state }
    });
    let page = PagesPage {
        frame: Frame::of_member(&member, Section::Pages, "Status pages", &request),
        rows: rows.collect(),
        total: found["totalSize"].as_i64().unwrap_or_default(),
        next: found["nextPageToken"].as_str().filter(|it| !it.is_empty()).map(str::to_owned),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page(&page, &request))
}
