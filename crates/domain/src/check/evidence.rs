//! Evidence of a check: every attempt with its hops, assertion results and the first 4 KiB of the
//! body; bounded, and without credentials. `store` encrypts it.
//!
//! The bounds below are our choice. A check has at most 11 attempts of at most 11 hops, so the
//! largest evidence stays below 1 MiB. The evidence of a typical failure is a few KiB.

mod collect;

use rules::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AssertionResult, Assessment, Attempt, Certificate, CheckPlan, DnsAnswer, Failure, Phases,
};

/// Bytes of header names and values kept of the final hop; the line that exceeds the limit is still
/// kept.
const HEADER_BYTES_FINAL: usize = 8 * 1024;
/// The same for a redirecting hop: enough to identify the server; the next hop has the target URL.
const HEADER_BYTES_REDIRECT: usize = 1024;
/// Characters kept of one text: a header value, URL, reason, record or certificate name.
const TEXT_CHARS: usize = 512;
/// Records kept of one DNS answer, and of its alias chain.
const RECORDS: usize = 32;
/// Certificate subjects kept of the final hop's chain; a redirecting hop keeps its leaf.
const CHAIN: usize = 8;

/// Evidence of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub attempts: Vec<AttemptEvidence>,
}

/// Evidence of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEvidence {
    pub started_at: Timestamp,
    /// Duration of the whole exchange, in microseconds.
    pub latency_us: u32,
    /// Failure of the exchange, if it did not complete.
    pub failure: Option<Failure>,
    /// Reasons why the attempt is not a success.
    pub reasons: Vec<String>,
    pub assertions: Vec<AssertionResult>,
    /// HTTP hops, or the one connection of a TCP check.
    pub hops: Vec<HopEvidence>,
    /// First 4 KiB of the final body as text.
    pub body: Option<String>,
    /// Whether the body is longer than `body`.
    pub body_truncated: bool,
    /// Whether less of the body was kept or searched because the memory budget was used up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_cut: bool,
    pub answers: Vec<DnsAnswer>,
}

/// Evidence of one hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopEvidence {
    /// URL without credentials.
    pub url: Option<String>,
    /// Connected address.
    pub address: Option<String>,
    pub phases: Phases,
    /// Protocol version, such as `HTTP/2.0`.
    pub version: Option<String>,
    pub status: Option<u16>,
    /// Response headers; values of cookies and credentials are redacted.
    pub headers: Vec<(String, String)>,
    /// Certificate of the server.
    pub certificate: Option<Certificate>,
}

impl Evidence {
    /// Creates the evidence of all attempts of a plan and redacts the plan's secrets.
    pub fn new(plan: &CheckPlan, attempts: Vec<(Attempt, Assessment)>) -> Self {
        let computed;
        let secrets = if let Some(secrets) = &plan.secrets {
            secrets
        } else {
            computed = plan.check.secrets();
            &computed
        };
        let keep = |(attempt, assessment)| {
            let mut kept = collect::attempt(attempt, assessment);
            if !secrets.is_empty() {
                kept.redact(secrets);
            }
            kept
        };
        Self { attempts: attempts.into_iter().map(keep).collect() }
    }
}

#[cfg(test)]
mod tests;
