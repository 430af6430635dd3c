//! judge: combines the results of all regions into one status (design §5 "Votes", "Verdict",
//! "Transitions"). A pure state machine: [`JudgeState`] is its whole state per monitor, `now` and
//! random numbers are parameters, and [`Effects`] describe what to do. `probe` runs checks,
//! `check` assesses them, `store`
//! persists the state, `notify` sends alerts.

mod deferred;
mod policy;
mod state;
mod step;
mod suspicion;
mod transition;
mod verdict;
mod votes;

pub use deferred::{Changed, DeferredWrites, RECALL_PERIOD};
pub use policy::{Policy, ProbeIndex, ServedRegion};
pub use state::{GracePeriod, JudgeState, RegionResult, RegionState, Vote};
pub use step::{Effects, StepContext, delete, receive, resolve, revise, tick};
pub use suspicion::{
    ClearedBy, ConnectivityCheck, FailedHosts, HostMark, HostOutcome, ProbeSuspicions, ProbeTrust,
    StoredSuspicion, SuspicionChange,
};
pub use transition::{CloseReason, IncidentChange, Transition};
pub use verdict::StatusReason;
pub use votes::{Share, forget_void_results, region_status};

#[cfg(test)]
mod tests;
