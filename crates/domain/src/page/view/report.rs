//! The view of a report: its updates and the components that it affects, by name.

use rules::report::{Impact, ReportStatus};
use rules::{ComponentId, ReportId, Timestamp, UpdateId};

use crate::page::State;

/// The view of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportView {
    pub id: ReportId,
    pub title: String,
    pub status: ReportStatus,
    /// The worst current impact on a component: up if resolved, unknown if no component is
    /// affected.
    pub state: State,
    /// The worst impact on a component in any update.
    pub worst: Option<Impact>,
    /// Currently affected components in the order of the page; for a resolved report, those of its
    /// last update.
    pub components: Vec<ReportedComponent>,
    pub started_at: Timestamp,
    pub resolved_at: Option<Timestamp>,
    /// Time of its latest update.
    pub last_update_at: Timestamp,
    pub changed_at: Timestamp,
    /// Updates, newest first; never empty.
    pub updates: Vec<UpdateView>,
}

/// A component affected by a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedComponent {
    pub id: ComponentId,
    pub name: String,
    pub impact: Impact,
}

/// The view of an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateView {
    pub id: UpdateId,
    /// Status of the report after the update.
    pub status: ReportStatus,
    /// In Markdown.
    pub text: String,
    /// Time from which it applies.
    pub at: Timestamp,
    pub created_at: Timestamp,
    /// Time of the last edit.
    pub updated_at: Timestamp,
    /// Whether subscribers were to be notified.
    pub notified: bool,
    /// Affected components in the order of the page.
    pub components: Vec<ReportedComponent>,
}

impl ReportView {
    /// Returns whether the report is not resolved.
    pub const fn is_open(&self) -> bool {
        self.resolved_at.is_none()
    }
}
