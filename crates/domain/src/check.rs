//! check: the work of a probe ([`Plan`], [`Job`]), its observations ([`Attempt`]), and their
//! meaning ([`Assessment`], [`CheckResult`]). The crate `probe` does the networking; `judge`
//! combines the results of all regions.

mod assess;
pub mod dns;
mod evidence;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
pub mod http;
mod plan;
pub(crate) mod redact;
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
