//! page: what visitors of a status page are shown, made of what is stored, ahead of the visitor.
//! Decides states, the one sentence on top, bars of days and what counts as old knowledge; words in
//! the visitor's language, HTML and JSON belong to the server, and who may look to its gate.

mod day;
mod facts;
mod project;
mod state;
mod verdict;
mod view;

#[cfg(test)]
mod tests;

pub use day::{Day, days};
pub use facts::{ComponentFacts, Facts, IncidentFacts, MaintenanceFacts, MonitorFacts};
pub use project::project;
pub use state::State;
pub use verdict::{Knowledge, Sentence, Verdict};
pub use view::{
    ComponentView, GroupView, HistoryDay, IncidentView, MaintenanceView, PageView, Section,
};

/// Days that bars show, today included.
pub const DAYS: usize = 90;
/// Days that the history of the home page tells, today included.
pub const HISTORY_DAYS: usize = 14;
