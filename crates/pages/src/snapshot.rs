//! Content of a page at one time. Every representation renders it.

use std::sync::Arc;

use domain::page::{IncidentView, MaintenanceView, PageView};
use rules::status_page::StatusPage;

/// A page with its content.
#[derive(Clone, Debug)]
pub(crate) struct PageSnapshot {
    pub(crate) page: StatusPage,
    pub(crate) view: Arc<PageView>,
    /// Whether the database was unavailable, so that the content is older than it should be.
    pub(crate) is_outdated: bool,
}

impl PageSnapshot {
    /// Returns open incidents and those in the history.
    pub(super) fn incidents(&self) -> impl Iterator<Item = &IncidentView> {
        let past = self.view.history.iter().flat_map(|day| &day.incidents);
        self.view.open_incidents.iter().chain(past.filter(|it| it.closed.is_some()))
    }

    /// Returns planned and active maintenance windows, and those in the history.
    pub(super) fn maintenance_windows(&self) -> impl Iterator<Item = &MaintenanceView> {
        self.view.planned.iter().chain(self.view.history.iter().flat_map(|day| &day.maintenances))
    }
}
