//! check: what a probe has to do ([`Plan`], [`Job`]), what it saw ([`Attempt`]), and what that
//! means ([`Assessment`], [`CheckResult`]). Talking on the network belongs to the crate `probe`,
//! what all regions together mean to `judge`.

mod assess;
pub mod dns;
mod evidence;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
pub mod http;
mod plan;
mod redact;
mod result;
mod retry;
mod seen;
pub mod tcp;
mod text;

pub use assess::{AssertionResult, Assessment, Outcome, assess};
pub use evidence::{AttemptEvidence, Evidence, HopEvidence};
pub use plan::{Identity, Job, Plan, PlannedCheck, Trigger, Unplannable};
pub use result::{CheckResult, ProbeId, conclude};
pub use retry::{NoRetry, Retry, next_attempt};
pub use seen::{
    Attempt, Body, Certificate, DnsAnswer, DnsRecord, DnsSeen, Failure, FailureKind, Found, Hop,
    HttpSeen, Phases, Seen, TcpSeen,
};
