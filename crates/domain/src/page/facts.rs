//! The stored data of a page and everything on it. It is read without a transaction: a change
//! between two queries also changes the generation of the workspace, so `pages::cache` reads the
//! page again.

use std::sync::Arc;
use std::time::Duration;

use rules::report::Report;
use rules::status_page::{Component, ComponentGroup, StatusPage};
use rules::{IncidentId, MaintenanceId, MonitorId, MonitorStatus, Timestamp};

use crate::history::{Span, StatusFrom};
use crate::judge::CloseReason;

/// All data of one page.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Time of reading, which the view shows.
    pub read_at: Timestamp,
    pub page: StatusPage,
    /// In any order.
    pub components: Vec<ComponentFacts>,
    /// In any order.
    pub groups: Vec<ComponentGroup>,
    /// Incidents of its components' monitors: all open ones, and those of the last
    /// [`super::HISTORY_DAYS`]; in any order.
    pub incidents: Vec<IncidentFacts>,
    /// Maintenance windows of its components or their monitors that overlap the last
    /// [`super::DAYS`] or are upcoming: all active ones, and the nearest others; in any order.
    pub maintenances: Vec<MaintenanceFacts>,
    /// Its reports with all updates: open ones, and those updated in the last [`super::DAYS`]; in
    /// any order.
    pub reports: Vec<Report>,
}

/// A component with its monitor.
#[derive(Clone, Debug)]
pub struct ComponentFacts {
    pub component: Component,
    /// The current or deleted monitor of the component; several components may share one.
    pub monitor: Option<Arc<MonitorFacts>>,
}

/// The parts of a monitor that a page needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorFacts {
    pub id: MonitorId,
    /// Its name, the default name of a component.
    pub name: String,
    /// Whether it is active; false for a paused or deleted monitor.
    pub runs: bool,
    /// Whether its latencies are public.
    pub public: bool,
    /// Time between two checks in a region.
    pub period: Duration,
    /// Completion of its last check, if any.
    pub checked_at: Option<Timestamp>,
    /// Its status before the first of `changes`.
    pub before: MonitorStatus,
    /// Changes of status in the last [`super::DAYS`], in order of time.
    pub changes: Vec<StatusFrom>,
}

/// An incident of a monitor on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncidentFacts {
    pub id: IncidentId,
    pub monitor: MonitorId,
    pub opened_at: Timestamp,
    /// Time and reason of its end.
    pub closed: Option<(Timestamp, CloseReason)>,
    pub acknowledged_at: Option<Timestamp>,
}

/// One window of a maintenance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceFacts {
    pub id: MaintenanceId,
    pub title: String,
    pub description: Option<String>,
    pub window: Span,
    /// Whether the maintenance recurs.
    pub is_recurring: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Indexes of the affected components in [`Facts::components`].
    pub components: Vec<usize>,
}

impl MonitorFacts {
    /// Returns the current status.
    pub fn status(&self) -> MonitorStatus {
        self.changes.last().map_or(self.before, |change| change.status)
    }

    /// Returns the start of the current status, or `None` if it began before the period of the
    /// page.
    pub fn since(&self) -> Option<Timestamp> {
        self.changes.last().map(|change| change.at)
    }
}
