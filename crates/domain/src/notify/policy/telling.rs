//! Plans the deliveries of one channel after a change of a monitor: new messages, messages to hold
//! and why, and held messages that are obsolete. Pure: the channel's earlier deliveries are
//! parameters. `teller` handles each kind of change, `placing` computes times.

mod placing;
mod teller;

#[cfg(test)]
mod tests;

use std::time::Duration;

use rules::notification::Wishes;
use rules::{IncidentId, MonitorStatus, ProviderType, Timestamp};

pub use placing::{place, remind, ripen};

use self::teller::Teller;
use super::grouping::Window;
use crate::judge::{IncidentChange, Transition};
use crate::notify::{Ended, Event, EventKind, Grounds, Subject};

/// Reason a delivery waits before its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// Sent only if the problem lasts until then: degradations and reminders.
    Lasting,
    /// Sent when the maintenance ends, if the problem lasts until then.
    Maintenance,
    /// Sent when the quiet hours end, whatever happened since.
    Quiet,
    /// Sent in a digest.
    Storm,
}

/// A change of a monitor that may cause alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// An incident opened.
    Down(IncidentId),
    /// The problem ended: an open incident, and a degradation unless the monitor is now degraded.
    Over {
        /// The incident that closed.
        incident: Option<IncidentId>,
        /// Reason for the end.
        how: Ended,
    },
    /// The monitor is degraded and was not down before.
    Degraded,
    /// The status is unknown.
    Unsure,
}

/// Data of the change, the same for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Time of the change.
    pub at: Timestamp,
    /// Time of storing it, from which deliveries are scheduled. Later than `at` if storing was
    /// delayed.
    pub now: Timestamp,
    /// Name of the workspace.
    pub workspace: String,
    pub monitor: Subject,
    /// Period of the monitor.
    pub period: Duration,
    /// Cause, with the last result of each region.
    pub grounds: Grounds,
    /// End of the monitor's active maintenance.
    pub muted_until: Option<Timestamp>,
}

/// State of a channel with regard to the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hearer {
    pub kind: ProviderType,
    pub wishes: Wishes,
    /// Whether it is linked to the monitor. A channel unlinked since only gets the end of earlier
    /// alerts.
    pub is_linked: bool,
    /// Its current group window.
    pub window: Option<Window>,
    /// Sent and pending deliveries about problems that have not ended for it.
    pub told: Vec<Told>,
}

/// A delivery about a problem that has not ended for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// ID of the delivery in the store.
    pub delivery: i64,
    pub matter: Matter,
    /// Start of the problem.
    pub since: Timestamp,
    /// Number of the reminder; 0 if it is not a reminder.
    pub reminder: u32,
    pub stands: Stands,
}

/// Subject of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    Incident(IncidentId),
    /// Degradation after an incident that the channel was notified of. One message ends both.
    Tail(IncidentId),
    /// Any other degradation.
    Degradation,
}

/// Progress of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// It was delivered or is being attempted.
    Sent,
    /// It waits until then and was not attempted.
    Held(Holds, Timestamp),
    /// It is a dead letter.
    Lost,
}

/// Plan of a channel's deliveries after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// New deliveries, in order.
    pub written: Vec<Written>,
    /// Deliveries that will not be sent, because their problem ended.
    pub cancelled: Vec<i64>,
    /// Deliveries about problems that ended now.
    pub over: Vec<i64>,
    /// The group window, if it changed.
    pub window: Option<Window>,
}

/// A new delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub event: Event,
    /// When to send it, and why so late.
    pub place: Placed,
    /// Whether it reports a lasting problem, of whose end the channel is to be notified.
    pub opens: bool,
}

/// Due time of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Earliest time to send.
    pub due_at: Timestamp,
    /// Reason to wait until then; `None` to send at once.
    pub holds: Option<Holds>,
}

impl Holds {
    /// All variants.
    pub const ALL: &[Self] = &[Self::Lasting, Self::Maintenance, Self::Quiet, Self::Storm];

    /// Returns the name used in storage and the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lasting => "lasting",
            Self::Maintenance => "maintenance",
            Self::Quiet => "quiet",
            Self::Storm => "storm",
        }
    }

    /// Parses the name of a reason.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|holds| holds.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown reason to wait `{word}`"))
    }
}

impl Occasion {
    /// Converts a transition, or returns `None` if it never causes messages.
    pub fn of(transition: &Transition) -> Option<Self> {
        match (transition.incident, transition.to) {
            (IncidentChange::Opened(id), _) => Some(Self::Down(id)),
            (IncidentChange::Closed { id, how }, _) => {
                Some(Self::Over { incident: Some(id), how: how.into() })
            }
            (IncidentChange::Suspended(_) | IncidentChange::Resumed(_), _)
            | (IncidentChange::None, MonitorStatus::Error) => None,
            (IncidentChange::None, MonitorStatus::Active) => {
                Some(Self::Over { incident: None, how: Ended::Recovered })
            }
            (IncidentChange::None, MonitorStatus::Degraded) => Some(Self::Degraded),
            (IncidentChange::None, MonitorStatus::Unknown) => Some(Self::Unsure),
        }
    }
}

/// Returns the event for the end of what `opening` reported.
pub fn end_of(opening: &Event, at: Timestamp, how: Ended) -> Event {
    Event {
        kind: EventKind::Recovered,
        at,
        closed: Some(how),
        grounds: Grounds::default(),
        reminder: 0,
        ..opening.clone()
    }
}

/// Plans the deliveries of a channel after a change.
pub fn tell(occasion: Occasion, scene: &Scene, hearer: &Hearer) -> Telling {
    let mut teller = Teller::new(scene, hearer);
    match occasion {
        Occasion::Down(incident) => teller.down(incident),
        Occasion::Over { incident, how } => teller.over(incident, how),
        Occasion::Degraded => teller.degraded(),
        Occasion::Unsure => teller.forget_held(),
    }
    teller.telling
}

impl Matter {
    /// Returns the subject of an opening of this kind.
    pub fn of(kind: EventKind, incident: Option<IncidentId>) -> Self {
        match (kind, incident) {
            (EventKind::StillDegraded, Some(incident)) => Self::Tail(incident),
            (_, Some(incident)) => Self::Incident(incident),
            (_, None) => Self::Degradation,
        }
    }
}

impl Told {
    /// Returns whether the channel counts as notified by it.
    fn is_heard(&self) -> bool {
        let stands = match self.stands {
            Stands::Sent | Stands::Held(Holds::Quiet | Holds::Storm, _) => true,
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) | Stands::Lost => false,
        };
        stands && self.reminder == 0
    }

    /// Returns whether it waits and was never attempted.
    const fn is_held(&self) -> bool {
        matches!(self.stands, Stands::Held(..))
    }

    /// Returns whether it is dropped when its problem ends.
    fn is_void_when_over(&self) -> bool {
        match self.stands {
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) => true,
            Stands::Held(Holds::Quiet | Holds::Storm, _) => self.reminder > 0,
            Stands::Sent | Stands::Lost => false,
        }
    }
}
