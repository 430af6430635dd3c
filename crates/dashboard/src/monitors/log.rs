//! The response log of a monitor: its checks and the slots in which none ran, newest first, and a
//! panel with the details of one check. Filter and position are in the URL.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::monitor::wire::{
    GetResponseLogRequest, GetResponseLogResponse, ListResponseLogsRequest, MissedSlots,
    ResponseLog,
};
use http::HeaderMap;
use rules::{MonitorKind, Region, Timestamp};

use super::check_view::CheckView;
use super::difference::{CheckDifference, differences};
use super::log_query::{LogQuery, OUTCOMES, TRIGGERS};
use super::log_rows::{self, LogRow};
use super::stored;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::region_names;
use crate::session::Member;
use crate::state::Dashboard;

/// Maximum number of calls that read the missed slots of a page.
const MISSED_CALLS_MAX: usize = 5;

/// A choice of the filter.
struct FilterChoice {
    value: &'static str,
    label: String,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "monitor_log.html")]
struct LogPage {
    frame: Frame,
    id: String,
    name: String,
    /// Path of the monitor.
    path: String,
    /// Filter as a query.
    filter: String,
    is_filtered: bool,
    outcomes: Vec<FilterChoice>,
    regions: Vec<FilterChoice>,
    triggers: Vec<FilterChoice>,
    bounds: [String; 2],
    bound_errors: [&'static str; 2],
    kind: MonitorKind,
    rows: Vec<LogRow>,
    /// Whether more slots were missed than the page shows.
    is_cut: bool,
    is_first: bool,
    /// Query of the next page. Empty on the last.
    next: String,
}

#[derive(Template)]
#[template(path = "monitor_check.html")]
struct CheckPage {
    frame: Frame,
    name: String,
    path: String,
    filter: String,
    check: CheckView,
    /// Difference from the last good check of the region.
    difference: Option<DifferenceView>,
}

struct DifferenceView {
    /// Time of the good check, as HTML.
    at: String,
    parts: Vec<CheckDifference>,
}

/// Rows of a page.
struct FoundRows {
    rows: Vec<LogRow>,
    is_cut: bool,
    next: String,
}

/// Shows the log.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    Asked(pairs): Asked<Vec<(String, String)>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let query = LogQuery::parse(pairs);
    let monitor = stored::find(&state, &member, &id).await?;
    let found = find(&state, &member, (&id, monitor.kind, &query)).await?;
    let words = |known: &[(&'static str, &'static str)], chosen: &[String]| {
        let choice = |(value, label): &(&'static str, &'static str)| FilterChoice {
            value,
            label: (*label).to_owned(),
            is_chosen: chosen.iter().any(|it| it == value),
        };
        known.iter().map(choice).collect()
    };
    let page = LogPage {
        frame: Frame::of_member(
            &member,
            Section::Monitors,
            format!("Response log of {}", monitor.name()),
            &request,
        ),
        name: monitor.name().to_owned(),
        path: member.path(&format!("/monitors/{id}")),
        filter: query.filter(),
        is_filtered: query.is_filtered(),
        outcomes: words(&OUTCOMES, &query.outcomes),
        regions: regions(&monitor.json["resolvedRegions"], &query.regions),
        triggers: words(&TRIGGERS, &query.triggers),
        bound_errors: query.bound_errors(),
        bounds: [query.from.clone(), query.to.clone()],
        kind: monitor.kind,
        rows: found.rows,
        is_cut: found.is_cut,
        is_first: query.page.is_empty(),
        next: found.next,
        id,
    };
    Ok(html::page(&page, &request))
}

/// Shows the details of a check. A script shows them beside the list.
pub(crate) async fn show_check(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id, log)): Path<(String, String, String)>,
    Asked(pairs): Asked<Vec<(String, String)>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let monitor = stored::find(&state, &member, &id).await?;
    let check = get(&state, &member, (&id, &log)).await?;
    let view = CheckView::new(&check);
    let page = CheckPage {
        frame: Frame::of_member(
            &member,
            Section::Monitors,
            format!("Check of {}", monitor.name()),
            &request,
        ),
        name: monitor.name().to_owned(),
        path: member.path(&format!("/monitors/{id}")),
        filter: LogQuery::parse(pairs).filter(),
        check: view,
        difference: difference(&state, &member, (&id, &check)).await?,
    };
    Ok(html::page(&page, &request))
}

/// Reads a page of checks and the missed slots of the same time.
async fn find(
    state: &Dashboard,
    member: &Member,
    (id, kind, query): (&str, MonitorKind, &LogQuery),
) -> Result<FoundRows, ScreenError> {
    if !query.wants_checks() {
        let request = query.missed(id, None, &query.page);
        let found = state.send(member.caller(), request).await?;
        let rows = log_rows::rows(kind, &[], &found.missed);
        let next = next(query, &found.next_page_token, None);
        return Ok(FoundRows { rows, is_cut: false, next });
    }
    let found = state.send(member.caller(), query.checks(id)).await?;
    let oldest = log_rows::oldest(&found.logs).filter(|_| !found.next_page_token.is_empty());
    // A page without checks may have a next one. Its time is unknown, so the next page has the missed
    // slots.
    let is_unknown = found.logs.is_empty() && !found.next_page_token.is_empty();
    let (missed, is_cut) = if query.wants_missed() && !is_unknown {
        missed(state, member, (id, query), oldest).await?
    } else {
        (Vec::new(), false)
    };
    let next = next(query, &found.next_page_token, oldest.or(query.before));
    Ok(FoundRows { rows: log_rows::rows(kind, &found.logs, &missed), is_cut, next })
}

/// Reads the missed slots of a page, from its oldest check on.
async fn missed(
    state: &Dashboard,
    member: &Member,
    (id, query): (&str, &LogQuery),
    oldest: Option<Timestamp>,
) -> Result<(Vec<MissedSlots>, bool), ScreenError> {
    let (mut all, mut token) = (Vec::new(), String::new());
    for _ in 0..MISSED_CALLS_MAX {
        let found = state.send(member.caller(), query.missed(id, oldest, &token)).await?;
        let is_on_page =
            |it: &MissedSlots| oldest.is_none_or(|oldest| log_rows::begins_at_or_after(it, oldest));
        all.extend(found.missed.into_iter().filter(is_on_page));
        token = found.next_page_token;
        if token.is_empty() {
            return Ok((all, false));
        }
    }
    Ok((all, true))
}

fn next(query: &LogQuery, token: &str, before: Option<Timestamp>) -> String {
    if token.is_empty() { String::new() } else { query.next(token, before) }
}

async fn get(
    state: &Dashboard,
    member: &Member,
    (monitor, log): (&str, &str),
) -> Result<GetResponseLogResponse, ScreenError> {
    let (monitor_id, id) = (monitor.to_owned(), log.to_owned());
    let request = GetResponseLogRequest { monitor_id, id };
    Ok(state.send(member.caller(), request).await?)
}

/// Returns the difference of a check from the last success of its region before it. A success itself
/// is not compared.
async fn difference(
    state: &Dashboard,
    member: &Member,
    (monitor, check): (&str, &GetResponseLogResponse),
) -> Result<Option<DifferenceView>, ScreenError> {
    if check.log.outcome == "success" {
        return Ok(None);
    }
    let Some(good) = last_good(state, member, (monitor, &check.log)).await? else {
        return Ok(None);
    };
    let good = get(state, member, (monitor, &good)).await?;
    let at = super::check_view::html_time(good.log.slot.as_option());
    Ok(Some(DifferenceView { at, parts: differences(&good, check) }))
}

/// Returns the ID of the last success of a region before a check: one with details if there is one.
async fn last_good(
    state: &Dashboard,
    member: &Member,
    (monitor, log): (&str, &ResponseLog),
) -> Result<Option<String>, ScreenError> {
    for with_details in [true, false] {
        let request = ListResponseLogsRequest {
            id: monitor.to_owned(),
            limit: Some(1),
            outcomes: vec!["success".to_owned()],
            regions: vec![log.region.clone()],
            to: log.slot.clone(),
            with_details: Some(with_details),
            ..ListResponseLogsRequest::default()
        };
        let found = state.send(member.caller(), request).await?.logs.into_iter().next();
        if let Some(found) = found {
            return Ok(Some(found.id));
        }
    }
    Ok(None)
}

/// Returns the regions of the monitor as choices, and those of the filter.
fn regions(resolved: &serde_json::Value, chosen: &[String]) -> Vec<FilterChoice> {
    let of_monitor = |region: &Region| {
        resolved.as_array().is_some_and(|all| all.iter().any(|it| it == region.as_str()))
    };
    let is_chosen = |region: &Region| chosen.iter().any(|it| it == region.as_str());
    let all = Region::ALL.iter().filter(|it| of_monitor(it) || is_chosen(it));
    let choice = |region: &Region| FilterChoice {
        value: region.as_str(),
        label: region_names::city(region.as_str()),
        is_chosen: is_chosen(region),
    };
    all.map(choice).collect()
}
