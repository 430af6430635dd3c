//! Adds monitors to a status page, from a searchable list of those that it does not show.

use std::collections::HashSet;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::rpc::{Error, MethodRequest as _};
use contract::status_page::wire::CreateComponentRequest;
use futures_util::future::join_all;
use http::HeaderMap;
use rules::ComponentType;
use serde_json::{Value as Json, json};
use store::Page;

use super::components;
use super::summary::{self, PageSummary, StoredPage};
use crate::error::{ScreenError, sentence};
use crate::extract::{Asked, Posted};
use crate::form::Choice;
use crate::html::{self, Frame, Section, redirect_with_notice, redirect_with_refusal};
use crate::monitor_picker::{MonitorChoices, MonitorSearch};
use crate::session::Member;
use crate::state::Dashboard;

/// Monitors that are added at once.
const AT_ONCE: usize = 32;

#[derive(Template)]
#[template(path = "page_monitors.html")]
struct PageMonitorsPage {
    frame: Frame,
    page: PageSummary,
    list: MonitorChoices,
    groups: Vec<Choice>,
    here: String,
}

/// Shows the monitors that are not on the page.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(search): Asked<MonitorSearch>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let all = state.store.monitors().all_names(member.workspace()).await?;
    let shown = shown_monitors(&state, &member, &page).await?;
    let search = MonitorSearch { show: "other".to_owned(), ..search };
    let page = PageMonitorsPage {
        frame: Frame::of_member(&member, Section::Pages, "Add monitors", &request),
        list: search.choices(&all, &shown),
        groups: components::groups(&state, &member, &page).await?,
        here: page.summary.path(&member, "/monitors"),
        page: page.summary,
    };
    Ok(html::page(&page, &request))
}

/// Adds the chosen monitors after the components that the page has.
pub(crate) async fn submit(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Posted(posted): Posted<Vec<(String, String)>>,
) -> Result<Response, ScreenError> {
    let page = summary::find(&state, &member, &id).await?;
    let group = posted.iter().find(|(name, value)| name == "group" && !value.is_empty());
    let monitors = posted.iter().filter(|(name, _)| name == "monitor");
    let components: Vec<Json> = monitors
        .map(|(_, monitor)| {
            let kind = ComponentType::Monitor.as_str();
            let mut component = json!({ "pageId": id, "type": kind, "monitorId": monitor });
            if let Some((_, group)) = group {
                component["groupId"] = json!(group);
            }
            component
        })
        .collect();
    let list = page.summary.path(&member, "/monitors");
    if components.is_empty() {
        return Ok(redirect_with_refusal(&list, "Choose at least one monitor."));
    }
    let chosen = components.len();
    let mut added = 0;
    for part in components.chunks(AT_ONCE) {
        let calls = part.iter().map(|component| add(&state, &member, component));
        let (stored, refused): (Vec<_>, Vec<_>) =
            join_all(calls).await.into_iter().partition(Result::is_ok);
        added += stored.len();
        if let Some(Err(error)) = refused.into_iter().next() {
            let why = sentence(error.message.as_deref().unwrap_or("unknown reason"));
            let text = format!("{added} of {chosen} monitors were added. {why}");
            return Ok(redirect_with_refusal(&list, &text));
        }
    }
    let text = match added {
        1 => "1 monitor was added.".to_owned(),
        count => format!("{count} monitors were added."),
    };
    Ok(redirect_with_notice(&page.summary.path(&member, ""), &text))
}

async fn add(state: &Dashboard, member: &Member, component: &Json) -> Result<Json, Error> {
    let asked = json!({ "component": component });
    state.send_json(member.caller(), CreateComponentRequest::PATH, &asked).await
}

/// Returns the IDs of the monitors that the page shows.
async fn shown_monitors(
    state: &Dashboard,
    member: &Member,
    page: &StoredPage,
) -> Result<HashSet<String>, ScreenError> {
    let all = state.store.components().list(member.workspace(), Some(page.id), Page::all()).await?;
    Ok(all.rows.iter().filter_map(|it| it.settings.monitor_id).map(|id| id.to_string()).collect())
}
