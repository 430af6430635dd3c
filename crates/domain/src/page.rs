//! page: what visitors of a status page are shown, made of what is stored, ahead of the visitor.
//! Decides states, the one sentence on top, bars of days and what counts as old knowledge; words in
//! the visitor's language, HTML and JSON belong to the server, and who may look to its gate; who
//! hears of it is decided here.

mod course;
mod day;
mod facts;
mod hearing;
mod month;
mod past;
mod project;
mod report;
mod state;
mod verdict;
mod view;

#[cfg(test)]
mod tests;

pub use course::{CoursePoint, PERCENTILES, Range, course};
pub use day::{Day, days, uptime_of};
pub use facts::{ComponentFacts, Facts, IncidentFacts, MaintenanceFacts, MonitorFacts};
pub use hearing::{may_subscribe, not_told};
pub use month::Month;
pub use past::{MonthView, PastFacts};
pub use project::project;
pub use report::{ReportView, ReportedComponent, UpdateView};
pub use state::State;
pub use verdict::{Knowledge, Sentence, Verdict};
pub use view::{
    ComponentView, GroupView, HistoryDay, IncidentView, MaintenanceView, NamedComponent, PageView,
    Section,
};

/// Days that bars show, today included.
pub const DAYS: usize = 90;
/// Days that the history of the home page tells, today included.
pub const HISTORY_DAYS: usize = 14;
