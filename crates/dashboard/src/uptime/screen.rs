//! The page of a report.

use std::collections::BTreeMap;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;
use rules::{Role, Tag, Timestamp};
use store::UptimeSubject;

use super::period::{Period, month_label};
use super::query::{ReportOrder, ReportQuery, Subjects, UptimeQuery};
use super::report::{Report, UptimeRow};
use super::sums::Totals;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::html::{self, Frame, Section};
use crate::pager::Pager;
use crate::session::Member;
use crate::state::Dashboard;

/// Number of rows per page.
const ROWS: u32 = 100;
/// Targets that the form suggests.
const TARGETS: [&str; 5] = ["99", "99.5", "99.9", "99.95", "99.99"];

#[derive(Template)]
#[template(path = "uptime.html")]
struct UptimePage {
    frame: Frame,
    query: ReportQuery,
    invalid_target: Option<String>,
    /// Names and labels of periods.
    periods: Vec<(String, String)>,
    label: String,
    from: Timestamp,
    to: Timestamp,
    is_frozen: bool,
    totals: Totals,
    /// Tags to choose from.
    tags: Vec<String>,
    /// Path of the settings with the target, if the person may change it.
    target_settings: Option<String>,
    rows: Vec<UptimeRow>,
    pager: Pager,
    wants_summary: bool,
    can_send_emails: bool,
}

/// Shows the report.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<UptimeQuery>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let (workspace, now) = (member.workspace(), state.ctx.now());
    let query = asked.parse(state.store.workspaces().uptime_target(workspace).await?);
    let period = query.period.at(now);
    let permit = state.reports.acquire(workspace).await;
    let permit = permit.ok_or(ScreenError::BusyReports)?;
    let report = Report::read(&state.store, workspace, &query, period).await?;
    let (is_frozen, totals, total) = (report.is_frozen, report.totals, report.figures.len());
    let rows =
        if query.is_whole { u32::try_from(total.max(1)).unwrap_or(u32::MAX / 2) } else { ROWS };
    let pager = Pager::new(asked.page, rows);
    let first = pager.offset() as usize;
    let range = first..first.saturating_add(rows as usize);
    let rows = report.into_rows(&state.store, (workspace, period), query.target, range).await?;
    drop(permit);
    let path = format!("{}?{}", member.path("/uptime"), query.url());
    let (user, is_admin) = (member.signed_in.user.id, member.membership.role.includes(Role::Admin));
    let page = UptimePage {
        frame: Frame::of_member(&member, Section::Uptime, "Uptime", &request),
        invalid_target: asked.invalid_target().map(str::to_owned),
        periods: periods(&state, &member, query.period).await?,
        label: query.period.label(),
        from: period.span.from,
        to: period.span.to,
        is_frozen,
        totals,
        tags: tags(&state, &member, &query).await?,
        target_settings: is_admin.then(|| member.path("/settings#uptime")),
        rows,
        pager: pager.with_total(u32::try_from(total).unwrap_or(u32::MAX), &path),
        wants_summary: state.store.summaries().is_wanted(workspace, user).await?,
        can_send_emails: state.backend.can_send_emails(),
        query,
    };
    Ok(html::page(&page, &request))
}

/// Returns the tags of the workspace, by name, with the chosen one.
async fn tags(
    state: &Dashboard,
    member: &Member,
    query: &ReportQuery,
) -> Result<Vec<String>, ScreenError> {
    let fleet = state.fleet.get(&state.store, member.workspace(), state.ctx.now()).await?;
    let mut tags: BTreeMap<String, &Tag> = query.tag.iter().map(|tag| (tag.key(), tag)).collect();
    let known = fleet.rows().flat_map(|row| &row.monitor.definition.tags);
    for tag in known {
        tags.entry(tag.key()).or_insert(tag);
    }
    Ok(tags.into_values().map(Tag::to_string).collect())
}

/// Returns the periods to choose from: the usual ones, and frozen months, latest first.
async fn periods(
    state: &Dashboard,
    member: &Member,
    chosen: Period,
) -> Result<Vec<(String, String)>, ScreenError> {
    let frozen = state.store.uptime_reports().frozen_months(member.workspace()).await?;
    let usual = Period::CHOICES.into_iter().map(|it| (it.name(), it.label()));
    let months = frozen.into_iter().rev().map(|it| (it.to_string(), month_label(it)));
    let mut all: Vec<(String, String)> = usual.chain(months).collect();
    if !all.iter().any(|(name, _)| *name == chosen.name()) {
        all.push((chosen.name(), chosen.label()));
    }
    Ok(all)
}
