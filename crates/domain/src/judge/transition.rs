//! A change of a monitor's status, and its effect on the incident (design §5 "Transitions").

use rules::{IncidentId, MonitorStatus, Timestamp};
use serde::{Deserialize, Serialize};

use super::StatusReason;

/// A change of a monitor's status. `from` equals `to` if only the incident changes: a user resolves
/// it, or a pause or deletion closes it while the status is `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    pub from: MonitorStatus,
    pub to: MonitorStatus,
    /// Time of the change; for a verdict, the end of the last check behind it.
    pub at: Timestamp,
    pub incident: IncidentChange,
    pub why: StatusReason,
}

/// Effect of a change of status on the monitor's incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncidentChange {
    /// No change, or no incident.
    None,
    /// An incident opens and alerts are sent.
    Opened(IncidentId),
    /// It silently stays open while the status is unknown.
    Suspended(IncidentId),
    /// It silently continues after the status was unknown.
    Resumed(IncidentId),
    /// It closes; recipients of the opening alert are notified.
    Closed { id: IncidentId, reason: CloseReason },
}

/// Reason for closing an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseReason {
    /// The monitor is `active` again.
    Recovered,
    /// The monitor is `degraded`: no longer down, but not healthy.
    Degraded,
    Paused,
    Deleted,
    /// A user resolved it.
    Resolved,
}

impl CloseReason {
    /// All variants.
    pub const ALL: [Self; 5] =
        [Self::Recovered, Self::Degraded, Self::Paused, Self::Deleted, Self::Resolved];

    /// Returns the name used in storage and the API.
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
