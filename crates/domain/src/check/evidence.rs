//! What is kept of a check for people who ask why: every attempt, its hops, what was asserted, the
//! first 4 KiB of the body; bounded, and without credentials. Encrypting it belongs to `store`.
//!
//! The bounds below are ours. A check has at most 11 attempts of at most 11 hops, so that the
//! evidence of the worst one stays below 1 MiB; that of an ordinary failure is a few KiB.

mod keep;

use rules::Timestamp;
use serde::{Deserialize, Serialize};

use super::redact::Configured;
use super::{AssertionResult, Assessment, Attempt, Certificate, DnsAnswer, Failure, Phases, Plan};

/// Bytes of names and values kept of the final hop's headers; the line that goes past is the last.
const HEADER_BYTES_FINAL: usize = 8 * 1024;
/// The same of a hop that redirected: enough to see who sent where, which the next hop's URL says.
const HEADER_BYTES_REDIRECT: usize = 1024;
/// Characters kept of one text: a header's value, a URL, a reason, a record, a certificate's name.
const TEXT_CHARS: usize = 512;
/// Records kept of one DNS answer, and names of its chain of aliases.
const RECORDS: usize = 32;
/// Certificates kept of the final hop's chain, by their subjects; a redirect's has its leaf.
const CHAIN: usize = 8;

/// All that is kept of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Every attempt, in order.
    pub attempts: Vec<AttemptEvidence>,
}

/// All that is kept of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEvidence {
    /// When it began.
    pub started_at: Timestamp,
    /// Whole exchange, in microseconds.
    pub latency_us: u32,
    /// Why the exchange did not come to its end.
    pub failure: Option<Failure>,
    /// Why the attempt is not a success.
    pub reasons: Vec<String>,
    /// Each assertion and what was seen of it.
    pub assertions: Vec<AssertionResult>,
    /// HTTP hops, or the one connection of a TCP check.
    pub hops: Vec<HopEvidence>,
    /// First 4 KiB of the final body as text.
    pub body: Option<String>,
    /// Whether the body went on.
    pub body_truncated: bool,
    /// Whether less of the body was kept or looked through, because there was no memory for more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_cut: bool,
    /// DNS answers.
    pub answers: Vec<DnsAnswer>,
}

/// All that is kept of one hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopEvidence {
    /// Where it went, without credentials.
    pub url: Option<String>,
    /// The address connected to.
    pub address: Option<String>,
    /// How long each phase took.
    pub phases: Phases,
    /// Version of the protocol, such as `HTTP/2.0`.
    pub version: Option<String>,
    /// Status of the answer.
    pub status: Option<u16>,
    /// Headers of the answer, values of cookies and credentials redacted.
    pub headers: Vec<(String, String)>,
    /// The certificate the server showed.
    pub certificate: Option<Certificate>,
}

impl Evidence {
    /// What is kept of these attempts of a plan: all of them, without the secrets of the plan.
    pub fn of(plan: &Plan, attempts: Vec<(Attempt, Assessment)>) -> Self {
        let secrets = Configured::of(plan);
        let keep = |(attempt, assessment)| {
            let mut kept = keep::attempt(attempt, assessment);
            if !secrets.is_empty() {
                kept.hide(&secrets);
            }
            kept
        };
        Self { attempts: attempts.into_iter().map(keep).collect() }
    }
}

#[cfg(test)]
mod tests;
