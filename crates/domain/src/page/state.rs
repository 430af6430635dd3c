//! The states of a component, derived from a monitor's status and maintenance.

use std::fmt;

use rules::MonitorStatus;

use crate::judge::CloseReason;

/// State of a component, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    Up,
    /// The status of its monitor is unknown.
    Unknown,
    /// Planned maintenance; results of its monitor are not shown meanwhile.
    Maintenance,
    /// Slow or partly failing.
    Degraded,
    Down,
}

impl State {
    /// Returns the state for a monitor's status.
    pub const fn from_status(status: MonitorStatus) -> Self {
        match status {
            MonitorStatus::Active => Self::Up,
            MonitorStatus::Degraded => Self::Degraded,
            MonitorStatus::Error => Self::Down,
            MonitorStatus::Unknown => Self::Unknown,
        }
    }

    /// Returns the state after an incident that was closed for this reason.
    pub const fn after_close(how: CloseReason) -> Self {
        match how {
            CloseReason::Recovered | CloseReason::Resolved => Self::Up,
            CloseReason::Degraded => Self::Degraded,
            CloseReason::Paused | CloseReason::Deleted => Self::Unknown,
        }
    }

    /// Returns the name used in JSON, CSS classes and anchors; visitors see translations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Unknown => "unknown",
            Self::Maintenance => "maintenance",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }

    /// Returns whether a visitor who looks for problems should see it first.
    pub const fn is_problem(self) -> bool {
        matches!(self, Self::Degraded | Self::Down)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
