//! The states of a component: what a visitor understands of a monitor's status and of a maintenance.

use std::fmt;

use rules::MonitorStatus;

use crate::judge::ClosedAs;

/// How a component is, from well to worst known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// It works.
    Up,
    /// Nothing is known of it.
    Unknown,
    /// It is worked on as planned; whatever its monitor sees is no surprise.
    Maintenance,
    /// It is slow or partly failing.
    Degraded,
    /// It is down.
    Down,
}

impl State {
    /// The state of a component whose monitor has this status.
    pub const fn of(status: MonitorStatus) -> Self {
        match status {
            MonitorStatus::Active => Self::Up,
            MonitorStatus::Degraded => Self::Degraded,
            MonitorStatus::Error => Self::Down,
            MonitorStatus::Unknown => Self::Unknown,
        }
    }

    /// How a component is that an incident ended for like this.
    pub const fn after(how: ClosedAs) -> Self {
        match how {
            ClosedAs::Recovered | ClosedAs::Resolved => Self::Up,
            ClosedAs::Degraded => Self::Degraded,
            ClosedAs::Paused | ClosedAs::Deleted => Self::Unknown,
        }
    }

    /// The word in JSON, classes and anchors; people read words in their language.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Unknown => "unknown",
            Self::Maintenance => "maintenance",
            Self::Degraded => "degraded",
            Self::Down => "down",
        }
    }

    /// Whether a visitor who looks for trouble wants to see it first.
    pub const fn is_trouble(self) -> bool {
        matches!(self, Self::Degraded | Self::Down)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
