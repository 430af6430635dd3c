//! One incident: its state, timeline, evidence and comments.

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use contract::incident::wire::{GetIncidentRequest, GetIncidentResponse, Incident, RegionEvidence};
use contract::monitor::decode_instant;
use contract::monitor::wire::AttemptLog;
use domain::history::Span;
use http::{HeaderMap, StatusCode};
use rules::{IncidentId, Role, Timestamp};

use super::close_reason;
use super::timeline::{TimelineRow, rows};
use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::monitors::{LoggedAttempt, logged_attempts};
use crate::people;
use crate::session::Member;
use crate::state::Dashboard;
use crate::{durations, region_names};

/// Maximum number of reasons that the page shows of an attempt.
const REASONS_MAX: usize = 10;

#[derive(Template)]
#[template(path = "incident.html")]
struct IncidentPage {
    frame: Frame,
    incident: IncidentView,
    timeline: Vec<TimelineRow>,
    evidence: Vec<EvidenceRow>,
    /// Place of all evidence, if it is one.
    only_place: Option<String>,
    comment: CommentInput,
    has_write_up: bool,
    /// Status report that the write-up became.
    report: Option<String>,
    can_edit: bool,
}

/// A comment as a person wrote it, with its error.
#[derive(Clone, Debug, Default)]
pub(super) struct CommentInput {
    pub(super) text: String,
    pub(super) error: Option<String>,
}

/// An incident, ready to be shown.
#[derive(Clone, Debug)]
pub(super) struct IncidentView {
    pub(super) id: String,
    pub(super) monitor_id: String,
    pub(super) monitor: String,
    pub(super) opened_at: Timestamp,
    pub(super) closed_at: Option<Timestamp>,
    /// Reason of the closing.
    pub(super) closed: String,
    pub(super) duration: String,
    pub(super) acknowledged: Option<(Timestamp, String)>,
    /// Whether the monitor was deleted with the incident.
    pub(super) is_monitor_gone: bool,
}

/// Evidence of one region.
struct EvidenceRow {
    region: String,
    place: String,
    slot: Timestamp,
    trigger: String,
    /// Reasons of the first failed attempt.
    reasons: Vec<String>,
    attempts: Vec<LoggedAttempt>,
}

/// Shows the incident.
pub(super) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Path((_, id)): Path<(String, String)>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    response(&state, &member, (&id, CommentInput::default()), &request).await
}

/// Returns the page, possibly with a comment that was not accepted.
pub(super) async fn response(
    state: &Dashboard,
    member: &Member,
    (id, comment): (&str, CommentInput),
    request: &HeaderMap,
) -> Result<Response, ScreenError> {
    let found = find(state, member, id).await?;
    let incident = found.incident.as_option().ok_or(ScreenError::NotFound)?;
    let incident = IncidentView::new(incident, state.ctx.now());
    let parsed = IncidentId::parse(id).map_err(|_| ScreenError::NotFound)?;
    let write_up = state.store.incidents().write_up(member.workspace(), parsed).await?;
    let status = match &comment.error {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    };
    let title = format!("Incident of {}", incident.monitor);
    let page = IncidentPage {
        frame: Frame::of_member(member, Section::Incidents, title, request),
        incident,
        timeline: rows(state, member, &found.timeline).await,
        evidence: found.evidence.iter().map(EvidenceRow::new).collect(),
        only_place: only_place(&found.evidence),
        comment,
        has_write_up: write_up.is_some(),
        report: write_up.and_then(|it| it.report).map(|id| id.to_string()),
        can_edit: member.membership.role.includes(Role::Editor),
    };
    Ok(html::page_with_status(status, &page, request))
}

/// Reads an incident with its timeline and evidence.
pub(super) async fn find(
    state: &Dashboard,
    member: &Member,
    id: &str,
) -> Result<GetIncidentResponse, ScreenError> {
    Ok(state.send(member.caller(), GetIncidentRequest { id: id.to_owned() }).await?)
}

impl IncidentView {
    /// Returns the view at `now`.
    pub(super) fn new(incident: &Incident, now: Timestamp) -> Self {
        let opened_at = incident.opened_at.as_option().and_then(decode_instant).unwrap_or_default();
        let closed_at = incident.closed_at.as_option().and_then(decode_instant);
        let acknowledged_at = incident.acknowledged_at.as_option().and_then(decode_instant);
        let by = incident.acknowledged_by.as_option().map(people::name);
        let lasted = Span { from: opened_at, to: closed_at.unwrap_or(now) };
        Self {
            id: incident.id.clone(),
            monitor_id: incident.monitor_id.clone(),
            monitor: incident.monitor_name.clone(),
            opened_at,
            closed_at,
            closed: close_reason(&incident.close_reason).to_owned(),
            duration: durations::text(lasted.length()),
            acknowledged: acknowledged_at.zip(by),
            is_monitor_gone: incident.close_reason == "deleted",
        }
    }
}

impl EvidenceRow {
    fn new(evidence: &RegionEvidence) -> Self {
        let first = evidence.attempts.iter().find(|it| is_failed(it));
        let closed = |attempt| LoggedAttempt { is_open: false, ..attempt };
        Self {
            region: region_names::with_id(&evidence.region),
            place: evidence.place.clone(),
            slot: evidence.slot.as_option().and_then(decode_instant).unwrap_or_default(),
            trigger: evidence.trigger.clone(),
            reasons: first.map(reasons).unwrap_or_default(),
            attempts: logged_attempts(&evidence.attempts).into_iter().map(closed).collect(),
        }
    }
}

/// Returns the place of all evidence, if it is one.
fn only_place(evidence: &[RegionEvidence]) -> Option<String> {
    let first = &evidence.first()?.place;
    let is_one = !first.is_empty() && evidence.iter().all(|it| it.place == *first);
    is_one.then(|| first.clone())
}

fn is_failed(attempt: &AttemptLog) -> bool {
    !attempt.failure.is_empty() || !attempt.reasons.is_empty()
}

/// Returns the reasons why an attempt failed, at least one.
pub(super) fn reasons(attempt: &AttemptLog) -> Vec<String> {
    let detail = Some(&attempt.failure_detail).filter(|detail| !detail.is_empty());
    let code = Some(&attempt.failure).filter(|_| detail.is_none() && attempt.reasons.is_empty());
    let all = attempt.reasons.iter().chain(detail).chain(code);
    let mut reasons: Vec<String> = all.take(REASONS_MAX).cloned().collect();
    reasons.dedup();
    reasons
}
