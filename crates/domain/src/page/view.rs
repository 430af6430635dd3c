//! The view of a page, in display order and ready to be translated and rendered.

mod report;

use std::sync::Arc;

pub use report::{ReportView, ReportedComponent, UpdateView};
use rules::{ComponentId, GroupId, IncidentId, MaintenanceId, MonitorId, Timestamp};

use super::day::Day;
use super::state::State;
use crate::history::{Span, Uptime};
use crate::judge::CloseReason;

/// The view of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Time of the snapshot.
    pub at: Timestamp,
    pub overall_status: OverallStatus,
    /// Reports that are open or were updated in the days of the bars, latest start first.
    pub reports: Vec<Arc<ReportView>>,
    /// Open incidents, newest first.
    pub open_incidents: Vec<IncidentView>,
    /// Components and groups in the order of the page.
    pub sections: Vec<Section>,
    /// Active or upcoming maintenance, soonest first.
    pub planned: Vec<MaintenanceView>,
    /// Occurrences by day, today first, including days without any.
    pub history: Vec<HistoryDay>,
}

/// The overall status of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverallStatus {
    /// The worst relevant state.
    pub state: State,
    /// The summary, with component names in the order of the page.
    pub summary: StatusSummary,
    pub data_age: DataAge,
}

/// The possible summaries, which the crate `pages` translates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusSummary {
    /// The page has no components.
    Empty,
    AllUp,
    AllDown,
    /// These components are down.
    SomeDown(Vec<String>),
    /// These components are slow or partly failing, and none is down.
    SomeDegraded(Vec<String>),
    /// These components are under maintenance, and all others are up or unknown.
    Maintenance(Vec<String>),
    /// The state of these components is unknown, and all others are up.
    SomeUnknown(Vec<String>),
    AllUnknown,
}

/// Age of the displayed data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataAge {
    /// Completion of the latest check of any component, if any.
    pub checked_at: Option<Timestamp>,
    /// Names of components whose active monitor was last checked more than two periods ago, so that
    /// their state may be outdated.
    pub stale: Vec<String>,
}

/// A section of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// A component outside of groups.
    Single(ComponentView),
    Group(GroupView),
}

/// A group of components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    pub id: GroupId,
    pub name: String,
    pub created_at: Timestamp,
    /// Time of the owner's last change.
    pub updated_at: Timestamp,
    /// The worst state of its components.
    pub state: State,
    /// For each day the bar of the worst component; `None` if no component has a history.
    pub days: Option<Vec<Day>>,
    /// In the order of the group; never empty.
    pub components: Vec<ComponentView>,
}

/// The view of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentView {
    pub id: ComponentId,
    /// Its name, or that of its monitor.
    pub name: String,
    pub created_at: Timestamp,
    /// Time of the owner's last change.
    pub updated_at: Timestamp,
    pub description: Option<String>,
    pub state: State,
    /// Start of the state, if within the days of the bars.
    pub since: Option<Timestamp>,
    /// Whether its active monitor was last checked more than two periods ago.
    pub is_stale: bool,
    /// Uptime over the days of its bars; `None` if nothing is known.
    pub uptime: Option<Uptime>,
    /// Its days, oldest first; `None` without a monitor or reports.
    pub days: Option<Vec<Day>>,
    /// The current or deleted monitor, for loading details; not shown to visitors.
    pub monitor: Option<MonitorId>,
    /// Whether the monitor's latencies are public.
    pub is_public: bool,
}

/// A component by ID and name. Names may be ambiguous, so look up components by ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedComponent {
    pub id: ComponentId,
    pub name: String,
}

/// The view of an incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentView {
    pub id: IncidentId,
    /// Affected components in the order of the page; never empty.
    pub components: Vec<NamedComponent>,
    pub opened_at: Timestamp,
    /// Time and reason of its end.
    pub closed: Option<(Timestamp, CloseReason)>,
    pub acknowledged_at: Option<Timestamp>,
}

/// The view of a maintenance window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceView {
    pub id: MaintenanceId,
    pub title: String,
    pub description: Option<String>,
    pub window: Span,
    /// Whether the maintenance recurs, so that this is one of several windows.
    pub is_recurring: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Whether the window is active.
    pub is_active: bool,
    /// Affected components in the order of the page.
    pub components: Vec<NamedComponent>,
}

/// A day in UTC with the occurrences that began on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryDay {
    pub begins: Timestamp,
    /// Newest first.
    pub reports: Vec<Arc<ReportView>>,
    /// Newest first.
    pub incidents: Vec<IncidentView>,
    /// Completed maintenance, newest first.
    pub maintenances: Vec<MaintenanceView>,
}

impl ComponentView {
    /// Returns the component as named in incidents, maintenances and reports.
    pub fn named(&self) -> NamedComponent {
        NamedComponent { id: self.id, name: self.name.clone() }
    }
}

impl IncidentView {
    /// Returns the names of its components.
    pub fn names(&self) -> Vec<String> {
        names(&self.components)
    }

    /// Returns whether it affects this component.
    pub fn is_about(&self, component: ComponentId) -> bool {
        self.components.iter().any(|it| it.id == component)
    }
}

impl MaintenanceView {
    /// Returns the names of its components.
    pub fn names(&self) -> Vec<String> {
        names(&self.components)
    }
}

fn names(components: &[NamedComponent]) -> Vec<String> {
    components.iter().map(|it| it.name.clone()).collect()
}

impl PageView {
    /// Returns all components in the order of the page.
    pub fn components(&self) -> impl Iterator<Item = &ComponentView> {
        self.sections.iter().flat_map(|section| match section {
            Section::Single(component) => std::slice::from_ref(component),
            Section::Group(group) => &group.components,
        })
    }

    /// Returns the open reports, latest start first.
    pub fn open_reports(&self) -> impl Iterator<Item = &Arc<ReportView>> {
        self.reports.iter().filter(|report| report.is_open())
    }
}
