//! What is stored about a page and all that stands on it, read at one moment.

use std::sync::Arc;
use std::time::Duration;

use rules::report::Report;
use rules::status_page::{Component, ComponentGroup, StatusPage};
use rules::{IncidentId, MaintenanceId, MonitorId, MonitorStatus, Timestamp};

use crate::history::{Span, StatusFrom};
use crate::judge::ClosedAs;

/// All of one page.
#[derive(Clone, Debug)]
pub struct Facts {
    /// When it was read: what is shown is of this moment.
    pub read_at: Timestamp,
    /// The page.
    pub page: StatusPage,
    /// Its components, in any order.
    pub components: Vec<ComponentFacts>,
    /// Its groups, in any order.
    pub groups: Vec<ComponentGroup>,
    /// Incidents of its components' monitors: all that are open, and those of the last
    /// [`super::HISTORY_DAYS`]; in any order.
    pub incidents: Vec<IncidentFacts>,
    /// Maintenances of its components or their monitors whose window touches the last
    /// [`super::DAYS`] or is to come, one for each window; in any order.
    pub maintenances: Vec<MaintenanceFacts>,
    /// Its reports with all their updates: those that are open, and those told of in the last
    /// [`super::DAYS`]; in any order.
    pub reports: Vec<Report>,
}

/// A component with what it shows.
#[derive(Clone, Debug)]
pub struct ComponentFacts {
    /// The component.
    pub component: Component,
    /// The monitor it shows or, where that was deleted, showed; several may show the same.
    pub monitor: Option<Arc<MonitorFacts>>,
}

/// A monitor as a page needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorFacts {
    /// Its identifier.
    pub id: MonitorId,
    /// Its name: what a component without one is called.
    pub name: String,
    /// Whether it runs; a paused or deleted one does not.
    pub runs: bool,
    /// Whether its latencies may be shown.
    pub public: bool,
    /// Time between two checks in a region.
    pub period: Duration,
    /// When its last check finished; `None` where there was none.
    pub checked_at: Option<Timestamp>,
    /// Its status until the first of `changes`.
    pub before: MonitorStatus,
    /// Its changes of status in the last [`super::DAYS`], in the order of time.
    pub changes: Vec<StatusFrom>,
}

/// An incident of a monitor that the page shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentFacts {
    /// Its identifier.
    pub id: IncidentId,
    /// Whose.
    pub monitor: MonitorId,
    /// When it began.
    pub opened_at: Timestamp,
    /// When and how it ended.
    pub closed: Option<(Timestamp, ClosedAs)>,
    /// Since when somebody works on it.
    pub acknowledged_at: Option<Timestamp>,
}

/// One window of a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceFacts {
    /// The maintenance.
    pub id: MaintenanceId,
    /// What is done, in a few words.
    pub title: String,
    /// More of it.
    pub description: Option<String>,
    /// From when to when.
    pub window: Span,
    /// Whether it comes again, by a rule.
    pub comes_again: bool,
    /// When it was planned.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Places of the components it is about in [`Facts::components`].
    pub components: Vec<usize>,
}

impl MonitorFacts {
    /// The status of now.
    pub fn status(&self) -> MonitorStatus {
        self.changes.last().map_or(self.before, |change| change.status)
    }

    /// Since when the status of now stands; `None` where that is longer than the page looks back.
    pub fn since(&self) -> Option<Timestamp> {
        self.changes.last().map(|change| change.at)
    }
}
