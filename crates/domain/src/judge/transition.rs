//! A change of a monitor's status, and what it means for its incident (design §5 "Transitions").

use rules::{IncidentId, MonitorStatus, Timestamp};

use super::Why;

/// A change of a monitor's status. `from` and `to` may be the same where only the incident changes:
/// a person resolves it, or a pause or a deletion closes it of a monitor that was `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The status before.
    pub from: MonitorStatus,
    /// The status from now on.
    pub to: MonitorStatus,
    /// When it changed: of a verdict, the end of the last check that it rests on.
    pub at: Timestamp,
    /// What happens to the incident.
    pub incident: IncidentChange,
    /// Why.
    pub why: Why,
}

/// What a change of status means for the monitor's incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncidentChange {
    /// There is none.
    None,
    /// One begins, and people are told.
    Opened(IncidentId),
    /// It stays open while nothing is known, silently.
    Suspended(IncidentId),
    /// It goes on after nothing was known, silently.
    Resumed(IncidentId),
    /// It ends, and who heard of its opening is told.
    Closed {
        /// Which one.
        id: IncidentId,
        /// What ended it.
        how: ClosedAs,
    },
}

/// What ended an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClosedAs {
    /// The monitor is `active` again.
    Recovered,
    /// The monitor is `degraded`: no longer down, not yet fine.
    Degraded,
    /// The monitor was paused.
    Paused,
    /// The monitor was deleted.
    Deleted,
    /// A person said that it is over, whatever the checks say.
    Resolved,
}

impl ClosedAs {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::Recovered, Self::Degraded, Self::Paused, Self::Deleted, Self::Resolved];

    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recovered => "recovered",
            Self::Degraded => "degraded",
            Self::Paused => "paused",
            Self::Deleted => "deleted",
            Self::Resolved => "resolved",
        }
    }
}
