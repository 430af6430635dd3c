//! Reports on a page: their effect on the state of components, and their view. If monitor and
//! report disagree, the worse state is shown.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use rules::report::{ComponentImpact, Impact, Report, ReportStatus, ReportUpdate};
use rules::status_page::Component;
use rules::{ComponentId, MonitorStatus, Timestamp};

use super::state::State;
use super::view::{PageView, ReportView, ReportedComponent, UpdateView};
use crate::history::{Span, StatusFrom};

impl PageView {
    /// Creates the view of a report, even if it is too old for [`PageView::reports`].
    pub fn report(&self, report: &Report) -> ReportView {
        let names: Vec<_> = self.components().map(|it| (it.id, it.name.as_str())).collect();
        view(report, &names)
    }
}

/// Creates the views of all reports of a page with these component names, in the order of the page.
pub(super) fn views(reports: &[Report], names: &[(ComponentId, &str)]) -> Vec<Arc<ReportView>> {
    let mut views: Vec<_> = reports.iter().map(|report| Arc::new(view(report, names))).collect();
    views.sort_unstable_by_key(|report| Reverse((report.started_at, report.id)));
    views
}

fn view(report: &Report, names: &[(ComponentId, &str)]) -> ReportView {
    let named = |impacts: &[ComponentImpact]| -> Vec<ReportedComponent> {
        let reported = names.iter().filter_map(|(id, name)| {
            let impact = impacts.iter().find(|it| it.component == *id)?.impact;
            Some(ReportedComponent { id: *id, name: (*name).to_owned(), impact })
        });
        reported.collect()
    };
    let updates: Vec<UpdateView> = report
        .updates
        .iter()
        .map(|it| UpdateView {
            id: it.id,
            status: it.status,
            text: it.text.clone(),
            at: it.at,
            created_at: it.created_at,
            updated_at: it.updated_at,
            notified: it.notified,
            components: named(&it.components),
        })
        .collect();
    let components = updates.first().map(|it| it.components.clone()).unwrap_or_default();
    let resolved_at = report.resolved_at();
    let now = components.iter().map(|it| it.impact).max();
    let state = match (resolved_at, now) {
        (Some(_), _) => State::Up,
        (None, Some(impact)) => State::from_impact(impact),
        (None, None) => State::Unknown,
    };
    ReportView {
        id: report.id,
        title: report.title.clone(),
        status: report.status(),
        state,
        worst: updates.iter().flat_map(|it| &it.components).map(|it| it.impact).max(),
        components,
        started_at: report.started_at,
        resolved_at,
        last_update_at: updates.first().map_or(report.started_at, |latest| latest.at),
        changed_at: report.updated_at,
        updates,
    }
}

impl State {
    /// Returns the state that corresponds to an impact.
    pub const fn from_impact(impact: Impact) -> Self {
        match impact {
            Impact::Degraded => Self::Degraded,
            Impact::Down => Self::Down,
        }
    }
}

/// Returns the current state of each component according to open reports, with its start.
pub(super) fn reported_states(reports: &[Report]) -> HashMap<ComponentId, (State, Timestamp)> {
    let mut states: HashMap<ComponentId, (State, Timestamp)> = HashMap::new();
    for report in reports.iter().filter(|report| report.resolved_at().is_none()) {
        for now in report.updates.first().iter().flat_map(|latest| &latest.components) {
            let found = (State::from_impact(now.impact), since(report, *now));
            let worst = states.entry(now.component).or_insert(found);
            *worst = worse(*worst, found);
        }
    }
    states
}

/// Returns the worse of two states; of equal states the older one.
fn worse(one: (State, Timestamp), other: (State, Timestamp)) -> (State, Timestamp) {
    if (one.0, Reverse(one.1)) >= (other.0, Reverse(other.1)) { one } else { other }
}

/// Returns since when a report states this impact without interruption.
fn since(report: &Report, now: ComponentImpact) -> Timestamp {
    let says = |update: &&ReportUpdate| {
        update.status != ReportStatus::Resolved && update.components.contains(&now)
    };
    let first = report.updates.iter().take_while(says).last();
    first.map_or(report.started_at, |update| update.at)
}

/// Returns the spans in which reports state an impact on a component, in any order.
fn spans(reports: &[Report], component: ComponentId, now: Timestamp) -> Vec<(Span, Impact)> {
    let mut spans = Vec::new();
    for report in reports {
        let mut until = now;
        // Updates are ordered newest first: each applies until the previous one in this order.
        for update in &report.updates {
            let impact = update.components.iter().find(|it| it.component == component);
            let impact =
                impact.filter(|_| update.status != ReportStatus::Resolved && update.at < until);
            if let Some(impact) = impact {
                spans.push((Span { from: update.at, to: until }, impact.impact));
            }
            until = update.at;
        }
    }
    spans
}

/// Returns the status history of a component without a monitor, from its creation or first report
/// on, in order of time. Empty if no report affects it in `range`.
pub(super) fn status_history(
    reports: &[Report],
    component: &Component,
    range: Span,
) -> Vec<StatusFrom> {
    let spans = spans(reports, component.id, range.to);
    if !spans.iter().any(|(span, _)| span.to > range.from) {
        return Vec::new();
    }
    let mut edges: Vec<Timestamp> = spans.iter().flat_map(|(it, _)| [it.from, it.to]).collect();
    edges.sort_unstable();
    edges.dedup();
    let begins = component.created_at.min(edges[0]);
    let mut past = vec![StatusFrom { at: begins, status: MonitorStatus::Active }];
    for at in edges {
        let on = spans.iter().filter(|(span, _)| span.from <= at && at < span.to);
        let status = match on.map(|(_, impact)| *impact).max() {
            None => MonitorStatus::Active,
            Some(Impact::Degraded) => MonitorStatus::Degraded,
            Some(Impact::Down) => MonitorStatus::Error,
        };
        past.push(StatusFrom { at, status });
    }
    past
}
