//! The table of design §5 "Verdict": one status of the votes that were counted.

use std::fmt;

use rules::{MonitorStatus, Region};
use serde::{Deserialize, Serialize};

use super::votes::Tally;

/// A status and why it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The status.
    pub status: MonitorStatus,
    /// Which row of the table decided.
    pub why: Why,
}

/// Why a status is what it is; shown to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// No region has a vote.
    NoVotes,
    /// The monitor is paused.
    Paused,
    /// The monitor is deleted.
    Deleted,
    /// More than half of the votes fail.
    Failing {
        /// Votes that fail.
        failing: u8,
        /// All votes.
        votes: u8,
    },
    /// More than half of the votes fail, but too few regions have one to believe it at once.
    Unconfirmed {
        /// Votes that fail.
        failing: u8,
        /// All votes.
        votes: u8,
    },
    /// Half of the votes fail after more did.
    Tie {
        /// Votes that fail.
        failing: u8,
        /// All votes.
        votes: u8,
    },
    /// A region failed two slots in a row, while most votes do not fail.
    RegionFailing(Region),
    /// More than half of the votes are slow.
    Slow {
        /// Votes that are slow.
        slow: u8,
        /// All votes.
        votes: u8,
    },
    /// Too few votes fail or are slow to matter.
    Fine {
        /// Votes that fail.
        failing: u8,
        /// All votes.
        votes: u8,
    },
}

/// Half of the votes fail. Whether that matters depends on what was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// They do not, or it was no `error` before: a tie alone is nothing.
    Harmless,
    /// It began in `error`, not two periods ago.
    Young,
    /// It began in `error`, two periods ago or more.
    Old,
}

/// The status that the votes make of the status `was`.
///
/// Where the table asks for two slots in a row and there was one, the status stays what it was:
/// `unknown` does not become `active` by a failure. Once it is `error` the votes need no second
/// confirmation to keep it.
pub(super) fn verdict(tally: &Tally, was: MonitorStatus, tie: Tie) -> Verdict {
    let &Tally { votes, failing, slow, .. } = tally;
    let of = |status, why| Verdict { status, why };
    if votes == 0 {
        return of(MonitorStatus::Unknown, Why::NoVotes);
    }
    if 2 * failing > votes {
        let believed =
            was == MonitorStatus::Error || !tally.is_thin() || tally.failed_twice.is_some();
        return if believed {
            of(MonitorStatus::Error, Why::Failing { failing, votes })
        } else {
            of(was, Why::Unconfirmed { failing, votes })
        };
    }
    match (tie, was) {
        (Tie::Young, MonitorStatus::Error) => {
            return of(MonitorStatus::Error, Why::Tie { failing, votes });
        }
        // Once a tie has become `degraded` it stays so while it lasts, and no clock that is set
        // back turns it into `error` again.
        (Tie::Young | Tie::Old, _) => {
            return of(MonitorStatus::Degraded, Why::Tie { failing, votes });
        }
        (Tie::Harmless, _) => {}
    }
    if let Some(region) = tally.failed_twice {
        return of(MonitorStatus::Degraded, Why::RegionFailing(region));
    }
    if tally.is_slow() {
        return of(MonitorStatus::Degraded, Why::Slow { slow, votes });
    }
    of(MonitorStatus::Active, Why::Fine { failing, votes })
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVotes => f.write_str("no region has reported lately"),
            Self::Paused => f.write_str("the monitor is paused"),
            Self::Deleted => f.write_str("the monitor is deleted"),
            Self::Failing { failing, votes } => write!(f, "{failing} of {votes} votes fail"),
            Self::Unconfirmed { failing, votes } => {
                write!(f, "{failing} of {votes} votes fail, for the first time and in few regions")
            }
            Self::Tie { failing, votes } => {
                write!(f, "{failing} of {votes} votes fail, after more did")
            }
            Self::RegionFailing(region) => write!(f, "`{region}` failed two slots in a row"),
            Self::Slow { slow, votes } => write!(f, "{slow} of {votes} votes are slow"),
            Self::Fine { failing: 0, votes: _ } => f.write_str("no vote fails"),
            Self::Fine { failing, votes } => {
                write!(f, "only {failing} of {votes} votes fail")
            }
        }
    }
}
