//! judge: one status of the results of all regions (design §5 "Votes", "Verdict", "Transitions").
//! A pure state machine: [`History`] is all it remembers of a monitor, `now` and chance come in as
//! values, and [`Effects`] say what the world has to do. Running checks belongs to `check`, keeping
//! the history to `store`, telling people to `notify`.

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
