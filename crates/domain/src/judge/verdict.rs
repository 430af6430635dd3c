//! The table of design §5 "Verdict": one status of the votes that were counted.

use std::fmt;

use rules::{MonitorStatus, Region};
use serde::{Deserialize, Serialize};

use super::votes::Tally;

/// A status and why it is that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The status.
    pub(super) status: MonitorStatus,
    /// Which row of the table decided.
    pub(super) why: Why,
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
    /// A person resolved the incident: the status is what it was.
    Resolved,
    /// More than half of the votes fail.
    Failing(Share),
    /// Half of the votes fail after more did.
    Tie(Share),
    /// A region failed two slots in a row, while most votes do not fail.
    RegionFailing(Region),
    /// More than half of the votes are slow.
    Slow(Share),
    /// Too few votes fail or are slow to matter.
    Fine(Share),
}

/// How many say so: votes, and the regions behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Votes that say so.
    pub votes: u8,
    /// All votes.
    pub of_votes: u8,
    /// Regions that say so.
    pub regions: u8,
    /// All regions with a vote.
    pub of_regions: u8,
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

/// The status that the votes make of the status `was`; `None` where it stays what it was.
///
/// It stays where the table asks for two slots in a row and there was one: a first failure neither
/// makes `active` of `unknown` nor ends an `error`. One region that failed twice is enough.
pub(super) fn verdict(tally: &Tally, was: MonitorStatus, tie: Tie) -> Option<Verdict> {
    let failing = tally.failing();
    let of = |status, why| Some(Verdict { status, why });
    if tally.votes == 0 {
        return of(MonitorStatus::Unknown, Why::NoVotes);
    }
    if 2 * failing.votes > failing.of_votes {
        let believed = !tally.is_thin() || tally.failed_twice.is_some();
        return of(MonitorStatus::Error, Why::Failing(failing)).filter(|_| believed);
    }
    match (tie, was) {
        (Tie::Young, MonitorStatus::Error) => {
            return of(MonitorStatus::Error, Why::Tie(failing));
        }
        // Once a tie has become `degraded` it stays so while it lasts, and no clock that is set
        // back turns it into `error` again.
        (Tie::Young | Tie::Old, _) => {
            return of(MonitorStatus::Degraded, Why::Tie(failing));
        }
        (Tie::Harmless, _) => {}
    }
    if let Some(region) = tally.failed_twice {
        return of(MonitorStatus::Degraded, Why::RegionFailing(region));
    }
    if tally.is_slow() {
        return of(MonitorStatus::Degraded, Why::Slow(tally.slow()));
    }
    of(MonitorStatus::Active, Why::Fine(failing))
}

impl Share {
    /// Returns whether one probe saw all of it. Naming several regions would claim several places.
    const fn is_of_one_probe(self) -> bool {
        self.of_votes == 1
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVotes => f.write_str("no region has reported lately"),
            Self::Paused => f.write_str("the monitor is paused"),
            Self::Deleted => f.write_str("the monitor is deleted"),
            Self::Resolved => f.write_str("somebody resolved the incident"),
            Self::Failing(share) if share.is_of_one_probe() => f.write_str("the check fails"),
            Self::Slow(share) if share.is_of_one_probe() => f.write_str("the check is slow"),
            Self::Failing(share) => write!(f, "fails in {share}"),
            Self::Tie(share) => write!(f, "still fails in {share}, after it did in more"),
            Self::RegionFailing(region) => write!(f, "fails in `{region}`, two slots in a row"),
            Self::Slow(share) => write!(f, "is slow in {share}"),
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

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} regions", self.regions, self.of_regions)?;
        // Where one probe serves all regions, or each its own, the votes tell nothing more.
        if self.of_votes == 1 || self.of_votes == self.of_regions {
            return Ok(());
        }
        write!(f, " ({} of {} probes)", self.votes, self.of_votes)
    }
}
