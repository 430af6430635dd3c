//! What a visitor sees, ready to be said in words: in the order of the page, with nothing left to
//! decide.

use std::sync::Arc;

use rules::{ComponentId, GroupId, IncidentId, MaintenanceId, MonitorId, Timestamp};

use super::day::Day;
use super::report::ReportView;
use super::state::State;
use super::verdict::Verdict;
use crate::history::{Span, Uptime};
use crate::judge::ClosedAs;

/// A page as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageView {
    /// Of when it is.
    pub at: Timestamp,
    /// The sentence on top.
    pub verdict: Verdict,
    /// Reports that are open, and those told of in the days of the bars, the one that began last first.
    pub reports: Vec<Arc<ReportView>>,
    /// Incidents that are open, newest first.
    pub open: Vec<IncidentView>,
    /// Components and groups of components, in the order of the page.
    pub sections: Vec<Section>,
    /// Maintenance that is on or to come, soonest first.
    pub planned: Vec<MaintenanceView>,
    /// What happened, a day at a time, today first; days on which nothing did are there too.
    pub history: Vec<HistoryDay>,
}

/// A part of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// A component of its own.
    Single(ComponentView),
    /// Components that stand together.
    Group(GroupView),
}

/// Components that stand together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    /// Its identifier.
    pub id: GroupId,
    /// Its name.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed by its owner.
    pub updated_at: Timestamp,
    /// The worst state in it.
    pub state: State,
    /// Its days: of each the parts of the component that was worst off, `None` where the group has no
    /// component with a past.
    pub days: Option<Vec<Day>>,
    /// In the order of the group; never empty.
    pub components: Vec<ComponentView>,
}

/// A component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentView {
    /// Its identifier.
    pub id: ComponentId,
    /// Its name, or its monitor's.
    pub name: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed by its owner.
    pub updated_at: Timestamp,
    /// What it is, in words of its owner.
    pub description: Option<String>,
    /// How it is now.
    pub state: State,
    /// Since when, where that is within the days of the bars.
    pub since: Option<Timestamp>,
    /// Whether its monitor runs and its last check is older than two periods.
    pub is_stale: bool,
    /// The share of time it was up in the days of its bars; `None` where nothing is known.
    pub uptime: Option<Uptime>,
    /// Its days, oldest first; `None` where it never had a monitor.
    pub days: Option<Vec<Day>>,
    /// The monitor that it shows or, where that was deleted, showed: for who reads more of it. Visitors
    /// are not told.
    pub monitor: Option<MonitorId>,
    /// Whether that monitor's latencies may be shown.
    pub is_public: bool,
}

/// A component that something is about. Several may have one name: who looks for one goes by identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedComponent {
    /// Its identifier.
    pub id: ComponentId,
    /// Its name on the page.
    pub name: String,
}

/// An incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentView {
    /// Its identifier.
    pub id: IncidentId,
    /// The components it is about, in the order of the page; never empty.
    pub components: Vec<NamedComponent>,
    /// When it began.
    pub opened_at: Timestamp,
    /// When and how it ended.
    pub closed: Option<(Timestamp, ClosedAs)>,
    /// Since when somebody works on it.
    pub acknowledged_at: Option<Timestamp>,
}

/// A window of maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceView {
    /// The maintenance.
    pub id: MaintenanceId,
    /// What is done.
    pub title: String,
    /// More of it.
    pub description: Option<String>,
    /// From when to when.
    pub window: Span,
    /// Whether it comes again, by a rule: each window is then one of several.
    pub comes_again: bool,
    /// When it was planned.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Whether it is on.
    pub is_on: bool,
    /// The components it is about, in the order of the page.
    pub components: Vec<NamedComponent>,
}

/// A day of UTC with what began on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryDay {
    /// Its first instant.
    pub begins: Timestamp,
    /// Reports that began on it, newest first.
    pub reports: Vec<Arc<ReportView>>,
    /// Incidents that began on it, newest first.
    pub incidents: Vec<IncidentView>,
    /// Maintenance that began on it and is over, newest first.
    pub maintenances: Vec<MaintenanceView>,
}

impl ComponentView {
    /// As things that are about it name it.
    pub fn named(&self) -> NamedComponent {
        NamedComponent { id: self.id, name: self.name.clone() }
    }
}

impl IncidentView {
    /// Names of its components, as sentences tell them.
    pub fn names(&self) -> Vec<String> {
        names(&self.components)
    }

    /// Whether it is about this component.
    pub fn is_about(&self, component: ComponentId) -> bool {
        self.components.iter().any(|it| it.id == component)
    }
}

impl MaintenanceView {
    /// Names of its components, as sentences tell them.
    pub fn names(&self) -> Vec<String> {
        names(&self.components)
    }
}

fn names(components: &[NamedComponent]) -> Vec<String> {
    components.iter().map(|it| it.name.clone()).collect()
}

impl PageView {
    /// All components in the order of the page.
    pub fn components(&self) -> impl Iterator<Item = &ComponentView> {
        self.sections.iter().flat_map(|section| match section {
            Section::Single(component) => std::slice::from_ref(component),
            Section::Group(group) => &group.components,
        })
    }
}
