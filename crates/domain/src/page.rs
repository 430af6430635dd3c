//! page: builds the view of a status page from stored facts. Decides states, the summary, bars of
//! days, stale data and the eligibility of subscribers. The crate `pages` translates and renders
//! the view, and controls access.

mod archive;
mod day;
mod eligibility;
mod facts;
mod latency_series;
mod month;
mod overall_status;
mod project;
mod report;
mod state;
mod view;

#[cfg(test)]
mod tests;

pub use archive::{ArchiveFacts, MonthView};
pub use day::{Day, days, uptime_of};
pub use eligibility::{may_subscribe, suppression_reason};
pub use facts::{ComponentFacts, Facts, IncidentFacts, MaintenanceFacts, MonitorFacts};
pub use latency_series::{LatencyPoint, PERCENTILES, Range, latency_series};
pub use month::Month;
pub use project::project;
pub use state::State;
pub use view::{
    ComponentView, DataAge, GroupView, HistoryDay, IncidentView, MaintenanceView, NamedComponent,
    OverallStatus, PageView, ReportView, ReportedComponent, Section, StatusSummary, UpdateView,
};

/// Number of days shown by bars, including today.
pub const DAYS: usize = 90;
/// Number of days in the history on the home page, including today.
pub const HISTORY_DAYS: usize = 14;
