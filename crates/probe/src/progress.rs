//! How far an attempt has come: kept outside of what may be cut off by the time limit, so that an
//! attempt that ran out of time still says what it saw and where it stood.

use std::net::SocketAddr;
use std::time::Duration;

use domain::check::{Failure, FailureKind};
use tokio::time::Instant;

/// What an attempt is doing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Looking up a name.
    LookUp,
    /// Connecting to the address last written down.
    Connect,
    /// Shaking hands.
    Tls,
    /// Waiting for the answer's first byte.
    FirstByte,
    /// Waiting for all of the answer's head.
    Answer,
    /// Reading the head of the answer.
    Head,
    /// Reading the body of the answer.
    Body,
}

impl Stage {
    /// The failure of an attempt whose time was over at this stage; `name` is what it was after,
    /// `address` the one it talked to last.
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

/// Whole microseconds since `start`.
pub(crate) fn micros_since(start: Instant) -> u32 {
    micros(start.elapsed())
}

/// Whole microseconds of `duration`; more than 71 minutes are as many as a number holds.
pub(crate) fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}
