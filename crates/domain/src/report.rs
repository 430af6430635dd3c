//! Status reports as people are told of them: what there is to say of an update, whatever the form of
//! the message. Who is told, and when, belongs to others; how a page shows reports, to `page`.

use rules::report::{Impact, ReportStatus};
use rules::{ComponentId, PageId, ReportId, Timestamp, UpdateId};
use serde::{Deserialize, Serialize};

/// An update that subscribers of a page are to be told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportNotice {
    /// The page.
    pub page: PageId,
    /// The report.
    pub report: ReportId,
    /// The update: what makes two notices one.
    pub update: UpdateId,
    /// Title of the report.
    pub title: String,
    /// How far people have come.
    pub status: ReportStatus,
    /// What is said, as Markdown (see [`crate::markdown`]).
    pub text: String,
    /// From when on it holds.
    pub at: Timestamp,
    /// Whether the report begins with it.
    pub is_first: bool,
    /// Components that it speaks of, by their ids; of one that resolves: those it was about.
    pub components: Vec<NoticedComponent>,
    /// All components that the report has ever spoken of, by their ids: whoever heard of one of them
    /// hears the rest.
    pub concerns: Vec<ComponentId>,
}

/// A component as a notice tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticedComponent {
    /// Its identifier.
    pub id: ComponentId,
    /// Its name on the page.
    pub name: String,
    /// How it is.
    pub impact: Impact,
}
