//! Downloads of a report with the numbers of its page: CSV and JSON.

use std::fmt::Write as _;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use domain::csv::cell;
use domain::history::UptimeTarget;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderName, HeaderValue};
use rules::Tag;
use serde_json::{Value as Json, json};
use store::UptimeSubject;

use super::period::ResolvedPeriod;
use super::query::{ReportQuery, UptimeQuery};
use super::report::{Report, UptimeRow, millis, percent};
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::session::Member;
use crate::state::Dashboard;

const COLUMNS: &str = "id,name,from,to,uptime_percent,known_ms,down_ms,incidents,p50_ms,p95_ms,\
    p99_ms,target_percent,budget_ms,budget_left_ms,budget_left_minutes,budget_left_percent,\
    budget_spent_percent,met";

/// A report with all of its rows.
struct WholeReport {
    query: ReportQuery,
    period: ResolvedPeriod,
    is_frozen: bool,
    rows: Vec<UptimeRow>,
}

/// Returns the report as CSV.
pub(super) async fn csv(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<UptimeQuery>,
) -> Result<Response, ScreenError> {
    let report = read(&state, &member, &asked).await?;
    let mut text = format!("{COLUMNS}\r\n");
    for row in &report.rows {
        write_row(&mut text, row, report.period, report.query.target);
    }
    Ok(file(text, "text/csv; charset=utf-8", &report, "csv"))
}

/// Returns the report as JSON.
pub(super) async fn json(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<UptimeQuery>,
) -> Result<Response, ScreenError> {
    let report = read(&state, &member, &asked).await?;
    let rows: Vec<Json> = report.rows.iter().map(row_json).collect();
    let json = json!({
        "period": report.query.period.name(),
        "from": report.period.span.from.to_string(),
        "to": report.period.span.to.to_string(),
        "by": report.query.subjects.name(),
        "tag": report.query.tag.as_ref().map(Tag::as_str),
        "targetPercent": report.query.target.to_string(),
        "frozen": report.is_frozen,
        "rows": rows,
    });
    Ok(file(json.to_string(), "application/json", &report, "json"))
}

async fn read(
    state: &Dashboard,
    member: &Member,
    asked: &UptimeQuery,
) -> Result<WholeReport, ScreenError> {
    let workspace = member.workspace();
    let query = asked.parse(state.store.workspaces().uptime_target(workspace).await?);
    let period = query.period.at(state.ctx.now());
    let permit = state.reports.acquire(workspace).await;
    let _permit = permit.ok_or(ScreenError::BusyReports)?;
    let report = Report::read(&state.store, workspace, &query, period).await?;
    let (is_frozen, all) = (report.is_frozen, 0..report.figures.len());
    let rows = report.into_rows(&state.store, (workspace, period), query.target, all).await?;
    Ok(WholeReport { query, period, is_frozen, rows })
}

fn row_json(row: &UptimeRow) -> Json {
    let [p50, p95, p99] = row.latency_us.map(|us| us.map(millis));
    let kind = match row.subject {
        UptimeSubject::Monitor(_) => "monitor",
        UptimeSubject::Page(_) => "page",
        UptimeSubject::Tag(_) => "tag",
        UptimeSubject::Untagged => "untagged",
    };
    json!({
        "id": row.subject.to_string(),
        "kind": kind,
        "name": row.name,
        "uptimePercent": row.uptime.map(percent),
        "knownMs": row.uptime.map_or(0, |it| it.known_ms),
        "downMs": row.budget.spent_ms,
        "incidents": row.incidents,
        "latencyMs": { "p50": p50, "p95": p95, "p99": p99 },
        "budgetMs": row.budget.allowed_ms,
        "budgetLeftMs": row.budget.left_ms(),
        "budgetLeftMinutes": left_minutes(row),
        "budgetLeftPercent": row.budget.left_percent(),
        "budgetSpentPercent": row.budget.spent_percent(),
        "met": row.is_met,
    })
}

fn write_row(text: &mut String, row: &UptimeRow, period: ResolvedPeriod, target: UptimeTarget) {
    let [p50, p95, p99] =
        row.latency_us.map(|us| us.map(|us| millis(us).to_string()).unwrap_or_default());
    let uptime = row.uptime.map(percent).unwrap_or_default();
    let known_ms = row.uptime.map_or(0, |it| it.known_ms);
    let met = row.is_met.map(|met| met.to_string()).unwrap_or_default();
    let budget = row.budget;
    writeln!(
        text,
        "{},{},{},{},{uptime},{known_ms},{},{},{p50},{p95},{p99},{target},{},{},{},{},{},{met}\r",
        cell(&row.subject.to_string()),
        cell(&row.name),
        period.span.from,
        period.span.to,
        budget.spent_ms,
        row.incidents,
        budget.allowed_ms,
        budget.left_ms(),
        left_minutes(row),
        budget.left_percent(),
        budget.spent_percent(),
    )
    .expect("writing to a String never fails");
}

/// Returns the remaining budget in minutes, with two decimals.
fn left_minutes(row: &UptimeRow) -> f64 {
    (row.budget.left_ms() / 600) as f64 / 100.0
}

fn file(text: String, kind: &'static str, report: &WholeReport, ending: &str) -> Response {
    let name = format!("uptime-{}.{ending}", report.query.period.name());
    let disposition = format!("attachment; filename=\"{name}\"");
    let mut response = Response::new(Body::from(text));
    let headers: [(HeaderName, HeaderValue); 4] = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (
            CONTENT_DISPOSITION,
            HeaderValue::try_from(disposition).expect("names of periods are ASCII"),
        ),
    ];
    response.headers_mut().extend(headers);
    response
}
