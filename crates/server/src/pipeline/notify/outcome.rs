//! Outcome of one attempt, and the reasons that a receiver gave no usual response.

use std::time::Duration;

use domain::notify::VendorResponse;
use rules::Timestamp;

/// Reaction of the receiver to a message, before the worker decides the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AttemptOutcome {
    /// Start of the attempt.
    pub(super) at: Timestamp,
    pub(super) took: Duration,
    /// Status of the response, if there was one.
    pub(super) status: Option<u16>,
    /// Response of the receiver or reason of the failure, for people.
    pub(super) response: String,
    pub(super) disposition: SendDisposition,
}

/// Whether the receiver accepted the message, and if not, whether a retry may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendDisposition {
    Accepted,
    /// Retry later, after at least this pause if the receiver gave one.
    Retry(Option<Duration>),
    /// Do not retry.
    GiveUp,
}

/// Reason that there is no usual response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SendError {
    /// No response; a retry may succeed.
    NoResponse(String),
    /// The receiver responded before the message was sent.
    Responded(VendorResponse),
    /// There is nothing to send; a retry would not help.
    Impossible(String),
}

impl AttemptOutcome {
    /// Returns a final failure without a response, which is not retried.
    pub(super) const fn give_up(at: Timestamp, took: Duration, why: String) -> Self {
        Self { at, took, status: None, response: why, disposition: SendDisposition::GiveUp }
    }
}
