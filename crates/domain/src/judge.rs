//! judge: combines the results of all regions into one status (design §5 "Votes", "Verdict",
//! "Transitions"). A pure state machine: [`History`] is its whole state per monitor, `now` and
//! random numbers are parameters, and [`Effects`] describe what to do. `check` runs checks, `store`
//! persists the state, `notify` sends alerts.

mod doubt;
mod history;
mod policy;
mod step;
mod transition;
mod unwritten;
mod verdict;
mod votes;

pub use doubt::{Canaries, DoubtChange, Doubts, HostMark, HostReport, Relief, Standing};
pub use history::{Ballot, Heard, History, Hold, RegionState};
pub use policy::{Policy, ProbeSlot, Serving};
pub use step::{Changed, Effects, Moment, delete, receive, resolve, revise, tick};
pub use transition::{ClosedAs, IncidentChange, Transition};
pub use unwritten::{RECALLED, Unwritten};
pub use verdict::{Share, Why};
pub use votes::region_status;

#[cfg(test)]
mod tests;
