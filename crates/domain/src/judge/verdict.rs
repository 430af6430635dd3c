//! The table of design §5 "Verdict": derives one status from the counted votes.

use std::fmt;

use rules::{MonitorStatus, Region};
use serde::{Deserialize, Serialize};

use super::votes::{Share, Tally};

/// A status and its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) status: MonitorStatus,
    /// The row of the table that decided.
    pub(super) reason: StatusReason,
}

/// Human-readable reason for a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatusReason {
    /// No region has a vote.
    NoVotes,
    Paused,
    Deleted,
    /// A user resolved the incident; the status did not change.
    Resolved,
    /// More than half of the votes fail.
    Failing(Share),
    /// Half of the votes fail, after more had failed.
    Tie(Share),
    /// A region failed in two consecutive slots, but most votes do not fail.
    RegionFailing(Region),
    /// More than half of the votes are degraded.
    Slow(Share),
    /// Too few votes fail or are degraded.
    Fine(Share),
}

/// State of a tie: half of the votes fail. Its meaning depends on the previous status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    /// No tie, or one that did not begin in `error`: it has no effect.
    Harmless,
    /// It began in `error` less than two periods ago.
    Young,
    /// It began in `error` two periods ago or more.
    Old,
}

/// Returns the status that follows `was`, or `None` if it does not change.
///
/// It does not change if the table requires two consecutive slots and there was one: a first
/// failure neither turns `unknown` into `active` nor ends an `error`. One region that failed twice
/// is enough.
pub(super) fn verdict(tally: &Tally, was: MonitorStatus, tie: Tie) -> Option<Verdict> {
    let failing = tally.failing();
    let of = |status, why| Some(Verdict { status, reason: why });
    if tally.votes == 0 {
        return of(MonitorStatus::Unknown, StatusReason::NoVotes);
    }
    if 2 * failing.votes > failing.of_votes {
        let believed = !tally.is_thin() || tally.failed_twice.is_some();
        return of(MonitorStatus::Error, StatusReason::Failing(failing)).filter(|_| believed);
    }
    match (tie, was) {
        (Tie::Young, MonitorStatus::Error) => {
            return of(MonitorStatus::Error, StatusReason::Tie(failing));
        }
        // A tie that became `degraded` stays so: setting the clock back must not turn it into
        // `error` again.
        (Tie::Young | Tie::Old, _) => {
            return of(MonitorStatus::Degraded, StatusReason::Tie(failing));
        }
        (Tie::Harmless, _) => {}
    }
    if let Some(region) = tally.failed_twice {
        return of(MonitorStatus::Degraded, StatusReason::RegionFailing(region));
    }
    if tally.is_slow() {
        return of(MonitorStatus::Degraded, StatusReason::Slow(tally.slow()));
    }
    of(MonitorStatus::Active, StatusReason::Fine(failing))
}

impl fmt::Display for StatusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVotes => f.write_str("no region has reported lately"),
            Self::Paused => f.write_str("the monitor is paused"),
            Self::Deleted => f.write_str("the monitor is deleted"),
            Self::Resolved => f.write_str("a user resolved the incident"),
            Self::Failing(share) if share.is_of_one_probe() => f.write_str("the check fails"),
            Self::Slow(share) if share.is_of_one_probe() => f.write_str("the check is degraded"),
            Self::Failing(share) => write!(f, "fails in {share}"),
            Self::Tie(share) => write!(f, "still fails in {share}, fewer than before"),
            Self::RegionFailing(region) => write!(f, "fails in `{region}`, two slots in a row"),
            Self::Slow(share) => write!(f, "is degraded in {share}"),
            Self::Fine(share) if share.regions == 0 && share.is_of_one_probe() => {
                f.write_str("the check succeeds")
            }
            Self::Fine(Share { regions: 0, of_regions, .. }) => {
                write!(f, "the checks of all {of_regions} regions succeed")
            }
            Self::Fine(share) => write!(f, "fails in no more than {share}"),
        }
    }
}
