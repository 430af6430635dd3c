//! check: the work of a probe ([`CheckPlan`], [`Job`]), its observations ([`Attempt`]), and their
//! meaning ([`Assessment`], [`CheckResult`]). The crate `probe` does the networking; `judge`
//! combines the results of all regions.

mod assess;
mod calls;
pub mod dns;
mod evidence;
mod findings;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
mod heartbeat;
pub mod http;
mod observation;
mod plan;
pub(crate) mod redact;
mod result;
mod retry;
pub mod tcp;
mod text;

pub use assess::{Assessment, Outcome, assess};
pub use calls::{HeartbeatCall, evaluate, received};
pub use evidence::{AttemptEvidence, Evidence, HopEvidence};
pub use findings::AssertionResult;
pub use heartbeat::{
    Availability, HeartbeatFailure, HeartbeatPlan, HeartbeatState, Signal, expected_calls,
};
pub use observation::{
    Attempt, Certificate, DnsAnswer, DnsObservation, DnsRecord, Failure, FailureKind, Hop,
    HttpObservation, Observation, ObservedBody, Phases, SearchResult, TcpObservation,
};
pub use plan::{CheckPlan, InvalidPlan, Job, JobMessage, PlannedCheck, ResultKey, Trigger};
pub use result::{CheckResult, ProbeName, Undecided, conclude};
pub use retry::{NoRetry, Retry, next_attempt};
