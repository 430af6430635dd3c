//! Updates of status reports as announced to subscribers, independent of the message format. Others
//! decide who is notified and when; `page` shows reports.

use rules::report::{Impact, ReportStatus};
use rules::{ComponentId, PageId, ReportId, Timestamp, UpdateId};
use serde::{Deserialize, Serialize};

/// An update to announce to the subscribers of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportAnnouncement {
    pub page: PageId,
    pub report: ReportId,
    /// The update, which identifies the announcement.
    pub update: UpdateId,
    /// Title of the report.
    pub title: String,
    /// Status of the report after the update.
    pub status: ReportStatus,
    /// In Markdown (see [`crate::markdown`]).
    pub text: String,
    /// Time from which the update applies.
    pub at: Timestamp,
    /// Whether it is the first update of the report.
    pub is_first: bool,
    /// Affected components, ordered by ID; for a resolving update, those affected before.
    pub components: Vec<AnnouncedComponent>,
    /// All components that the report has ever affected, ordered by ID: subscribers to one of them
    /// receive all updates.
    pub concerns: Vec<ComponentId>,
}

/// An affected component.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnnouncedComponent {
    pub id: ComponentId,
    pub name: String,
    pub impact: Impact,
}
