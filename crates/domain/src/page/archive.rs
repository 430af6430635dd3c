//! The archive of a page beyond its home page: single incidents, and months.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use rules::Timestamp;
use rules::report::Report;

use super::day::day_of;
use super::facts::{IncidentFacts, MaintenanceFacts};
use super::month::Month;
use super::view::{
    ComponentView, HistoryDay, IncidentView, MaintenanceView, NamedComponent, PageView, ReportView,
};

/// The stored data of a page's month.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchiveFacts {
    /// Reports that began in it, with all updates, in any order.
    pub reports: Vec<Report>,
    /// Incidents that began in it, in any order.
    pub incidents: Vec<IncidentFacts>,
    /// Windows that overlap it, in any order. Their components are indexes in the order of the
    /// page.
    pub maintenances: Vec<MaintenanceFacts>,
    /// Start of the page's oldest stored occurrence, if any.
    pub first: Option<Timestamp>,
    /// Whether the month exceeded the read limit, so that its oldest entries are missing.
    pub is_cut: bool,
}

/// The view of a month.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonthView {
    pub month: Month,
    /// Days with occurrences, latest first.
    pub days: Vec<HistoryDay>,
    /// The previous month, if the page has data that old.
    pub earlier: Option<Month>,
    /// The next month, if it has begun.
    pub later: Option<Month>,
    /// Whether its oldest entries are missing.
    pub is_cut: bool,
}

impl PageView {
    /// Creates the view of an incident, or returns `None` if no component shows its monitor.
    pub fn incident(&self, facts: &IncidentFacts) -> Option<IncidentView> {
        let about = self.components().filter(|it| it.monitor == Some(facts.monitor));
        let components: Vec<NamedComponent> = about.map(ComponentView::named).collect();
        (!components.is_empty()).then_some(IncidentView {
            id: facts.id,
            components,
            opened_at: facts.opened_at,
            closed: facts.closed,
            acknowledged_at: facts.acknowledged_at,
        })
    }

    /// Creates the view of a month, or returns `None` if it is in the future or older than all
    /// data.
    pub fn month(&self, month: Month, facts: &ArchiveFacts) -> Option<MonthView> {
        let last = Month::containing(self.at);
        let first = facts.first.map_or(last, |first| Month::containing(first).min(last));
        if month < first || month > last {
            return None;
        }
        let mut reports: Vec<Arc<ReportView>> =
            facts.reports.iter().map(|it| Arc::new(self.report(it))).collect();
        reports.retain(|it| Month::containing(it.started_at) == month);
        reports.sort_unstable_by_key(|it| Reverse((it.started_at, it.id)));
        let mut incidents: Vec<IncidentView> =
            facts.incidents.iter().filter_map(|it| self.incident(it)).collect();
        incidents.retain(|it| Month::containing(it.opened_at) == month);
        incidents.sort_unstable_by_key(|it| (Reverse(it.opened_at), it.id));
        let begun = facts.maintenances.iter().filter(|it| {
            let from = it.window.from;
            Month::containing(from) == month && from <= self.at
        });
        let named: Vec<&ComponentView> = self.components().collect();
        let mut windows: Vec<MaintenanceView> =
            begun.map(|it| maintenance_view(it, &named, self.at)).collect();
        windows.sort_unstable_by_key(|it| (Reverse(it.window.from), it.id));
        let began = reports.iter().map(|it| it.started_at);
        let began = began.chain(incidents.iter().map(|it| it.opened_at));
        let began = began.chain(windows.iter().map(|it| it.window.from));
        let days: BTreeSet<Timestamp> = began.map(day_of).collect();
        let day = |begins: Timestamp| HistoryDay {
            begins,
            reports: reports.iter().filter(|it| day_of(it.started_at) == begins).cloned().collect(),
            incidents: incidents
                .iter()
                .filter(|it| day_of(it.opened_at) == begins)
                .cloned()
                .collect(),
            maintenances: windows
                .iter()
                .filter(|it| day_of(it.window.from) == begins)
                .cloned()
                .collect(),
        };
        Some(MonthView {
            month,
            days: days.into_iter().rev().map(day).collect(),
            earlier: (month > first).then(|| month.previous()),
            later: (month < last).then(|| month.next()),
            is_cut: facts.is_cut,
        })
    }
}

fn maintenance_view(
    it: &MaintenanceFacts,
    named: &[&ComponentView],
    now: Timestamp,
) -> MaintenanceView {
    let mut places = it.components.clone();
    places.sort_unstable();
    let about = places.iter().filter_map(|place| named.get(*place));
    MaintenanceView {
        id: it.id,
        title: it.title.clone(),
        description: it.description.clone(),
        window: it.window,
        is_recurring: it.is_recurring,
        created_at: it.created_at,
        updated_at: it.updated_at,
        is_active: it.window.from <= now && now < it.window.to,
        components: about.map(|component| component.named()).collect(),
    }
}
