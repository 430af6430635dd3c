//! Reports on a page: what they say of its components and for how long, and what visitors see of each.
//! Of what a monitor sees and a report says, the worse is shown.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use rules::report::{ComponentImpact, Impact, Report, ReportStatus, ReportUpdate};
use rules::status_page::Component;
use rules::{ComponentId, MonitorStatus, ReportId, Timestamp, UpdateId};

use super::state::State;
use super::view::PageView;
use crate::history::{Span, StatusFrom};

/// A report as visitors see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportView {
    /// Its identifier.
    pub id: ReportId,
    /// Its title.
    pub title: String,
    /// How far it has come.
    pub status: ReportStatus,
    /// The worst that it says of a component now; up once it is resolved, and unknown where it speaks of
    /// none.
    pub state: State,
    /// The worst that it ever said of a component.
    pub worst: Option<Impact>,
    /// What it says now, in the order of the page; of one that is resolved: what it was about.
    pub components: Vec<ReportedComponent>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was resolved, where it is.
    pub resolved_at: Option<Timestamp>,
    /// The time of its latest update.
    pub told_at: Timestamp,
    /// When it was last changed.
    pub changed_at: Timestamp,
    /// Its updates, newest first; never empty.
    pub updates: Vec<UpdateView>,
}

/// A component that a report speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedComponent {
    /// Its identifier.
    pub id: ComponentId,
    /// Its name on the page.
    pub name: String,
    /// What the report says of it.
    pub impact: Impact,
}

/// An update as visitors see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateView {
    /// Its identifier.
    pub id: UpdateId,
    /// How far people had come.
    pub status: ReportStatus,
    /// What they say, as Markdown.
    pub text: String,
    /// From when on it holds.
    pub at: Timestamp,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it was last edited.
    pub updated_at: Timestamp,
    /// Whether subscribers were to be told of it.
    pub notified: bool,
    /// What it says of components, in the order of the page.
    pub components: Vec<ReportedComponent>,
}

impl ReportView {
    /// Whether it goes on.
    pub const fn is_open(&self) -> bool {
        self.resolved_at.is_none()
    }
}

impl PageView {
    /// Reports that are open, the one that began last first.
    pub fn open_reports(&self) -> impl Iterator<Item = &Arc<ReportView>> {
        self.reports.iter().filter(|report| report.is_open())
    }

    /// A report as this page tells it, also one that is too old to stand in [`PageView::reports`].
    pub fn report(&self, report: &Report) -> ReportView {
        let names: Vec<_> = self.components().map(|it| (it.id, it.name.as_str())).collect();
        view(report, &names)
    }
}

/// All reports of a page whose components are called so, in the order of the page.
pub(super) fn views(reports: &[Report], names: &[(ComponentId, &str)]) -> Vec<Arc<ReportView>> {
    let mut views: Vec<_> = reports.iter().map(|report| Arc::new(view(report, names))).collect();
    views.sort_unstable_by_key(|report| Reverse((report.started_at, report.id)));
    views
}

fn view(report: &Report, names: &[(ComponentId, &str)]) -> ReportView {
    let named = |said: &[ComponentImpact]| -> Vec<ReportedComponent> {
        let reported = names.iter().filter_map(|(id, name)| {
            let impact = said.iter().find(|it| it.component == *id)?.impact;
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
        (None, Some(impact)) => State::said(impact),
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
        told_at: updates.first().map_or(report.started_at, |latest| latest.at),
        changed_at: report.updated_at,
        updates,
    }
}

impl State {
    /// The state of a component of which a report says this.
    pub const fn said(impact: Impact) -> Self {
        match impact {
            Impact::Degraded => Self::Degraded,
            Impact::Down => Self::Down,
        }
    }
}

/// What open reports say of each component now, and since when.
pub(super) fn said_now(reports: &[Report]) -> HashMap<ComponentId, (State, Timestamp)> {
    let mut said: HashMap<ComponentId, (State, Timestamp)> = HashMap::new();
    for report in reports.iter().filter(|report| report.resolved_at().is_none()) {
        for now in report.updates.first().iter().flat_map(|latest| &latest.components) {
            let found = (State::said(now.impact), since(report, *now));
            let worst = said.entry(now.component).or_insert(found);
            *worst = worse(*worst, found);
        }
    }
    said
}

/// Of two statements the worse; of two that say the same the older.
fn worse(one: (State, Timestamp), other: (State, Timestamp)) -> (State, Timestamp) {
    if (one.0, Reverse(one.1)) >= (other.0, Reverse(other.1)) { one } else { other }
}

/// Since when a report says this, without a break.
fn since(report: &Report, now: ComponentImpact) -> Timestamp {
    let says = |update: &&ReportUpdate| {
        update.status != ReportStatus::Resolved && update.components.contains(&now)
    };
    let first = report.updates.iter().take_while(says).last();
    first.map_or(report.started_at, |update| update.at)
}

/// The stretches of time in which reports say something of a component, in any order.
fn spans(reports: &[Report], component: ComponentId, now: Timestamp) -> Vec<(Span, Impact)> {
    let mut spans = Vec::new();
    for report in reports {
        let mut until = now;
        // The newest comes first: each holds until the one before it in this order.
        for update in &report.updates {
            let said = update.components.iter().find(|it| it.component == component);
            let said =
                said.filter(|_| update.status != ReportStatus::Resolved && update.at < until);
            if let Some(said) = said {
                spans.push((Span { from: update.at, to: until }, said.impact));
            }
            until = update.at;
        }
    }
    spans
}

/// The past of a component without a monitor, of which only reports tell: its status from when it was
/// made or first spoken of, in the order of time. Empty where no report speaks of it in `range`.
pub(super) fn past(reports: &[Report], component: &Component, range: Span) -> Vec<StatusFrom> {
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
