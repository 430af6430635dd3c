//! Progress of an attempt, stored outside of the future that a timeout cancels, so that a timed-out
//! attempt still reports its observations and its stage.

use std::net::SocketAddr;
use std::time::Duration;

use domain::check::{Failure, FailureKind};
use tokio::time::Instant;

/// Current stage of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Looking up a name.
    LookUp,
    /// Connecting to the last recorded address.
    Connect,
    /// Performing the TLS handshake.
    Tls,
    /// Waiting for the first byte of the response.
    FirstByte,
    /// Waiting for the whole response head.
    Answer,
    /// Reading the response head.
    Head,
    /// Reading the response body.
    Body,
}

impl Stage {
    /// Creates the failure of an attempt that timed out in this stage; `name` is its target,
    /// `address` the last peer.
    pub(crate) fn out_of_time(
        self,
        limit: Duration,
        name: &str,
        address: Option<SocketAddr>,
    ) -> Failure {
        let peer = address.map_or_else(|| name.to_owned(), |address| address.to_string());
        let doing = match self {
            Self::LookUp => format!("looking up `{name}`"),
            Self::Connect => format!("connecting to {peer}"),
            Self::Tls => format!("TLS handshake with {peer}"),
            Self::FirstByte => format!("waiting for the first byte from {peer}"),
            Self::Answer => format!("waiting for the response from {peer}"),
            Self::Head => format!("reading the headers from {peer}"),
            Self::Body => format!("reading the body from {peer}"),
        };
        let detail = format!("timed out after {} ms while {doing}", limit.as_millis());
        Failure::new(FailureKind::Timeout, detail)
    }
}

/// Returns the whole microseconds since `start`.
pub(crate) fn micros_since(start: Instant) -> u32 {
    micros(start.elapsed())
}

/// Converts `duration` to whole microseconds; durations over 71 minutes saturate.
pub(crate) fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}
