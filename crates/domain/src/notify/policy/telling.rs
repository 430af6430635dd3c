//! What a change of a monitor means for one channel: what is written for it, what waits for longer and
//! why, what was held and is over before it was told. Pure: what the channel was told comes in as values.
//! Each kind of change stands in `teller`, times to wait in `placing`.

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

/// Why something waits without having been tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// It is told only if it lasts until then: degradations and reminders.
    Lasting,
    /// It is told when the maintenance ends, if it lasts until then.
    Maintenance,
    /// It is told when the quiet hours end, whatever happened since.
    Quiet,
    /// It is told with others of its minute.
    Storm,
}

/// A change of a monitor that people may be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// It is down: an incident opened.
    Down(IncidentId),
    /// What it was is over: an incident that was open, and a degradation unless it is one now.
    Over {
        /// The incident that closed.
        incident: Option<IncidentId>,
        /// What ended it.
        how: Ended,
    },
    /// It is slow or partly failing, and was not down before.
    Degraded,
    /// Nothing is known of it any more.
    Unsure,
}

/// What is known of the change, the same for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// When it happened.
    pub at: Timestamp,
    /// When it is stored: messages are placed from then on. Later than `at` if storing was held up.
    pub now: Timestamp,
    /// Name of the workspace.
    pub workspace: String,
    /// What it happened to.
    pub monitor: Subject,
    /// How often the monitor is checked.
    pub period: Duration,
    /// Why, with what each region saw.
    pub grounds: Grounds,
    /// When the maintenance ends that is on for the monitor.
    pub muted_until: Option<Timestamp>,
}

/// A channel, with what it was told of the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hearer {
    /// What kind of channel.
    pub kind: ProviderType,
    /// What it wants to hear.
    pub wishes: Wishes,
    /// Whether it tells of this monitor. One that did so before only hears the end of what it heard.
    pub is_linked: bool,
    /// The minute it is in.
    pub window: Option<Window>,
    /// What it was told, or is about to be, and that is not over for it.
    pub told: Vec<Told>,
}

/// A delivery that tells of something which is not over for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The store's number of it.
    pub delivery: i64,
    /// What it tells of.
    pub matter: Matter,
    /// Since when that lasts.
    pub since: Timestamp,
    /// The number of the reminder; 0 where it is none.
    pub reminder: u32,
    /// How far it came.
    pub stands: Stands,
}

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// An incident.
    Incident(IncidentId),
    /// Degradation after an incident that the channel was notified of. One message ends both.
    Tail(IncidentId),
    /// Any other degradation.
    Degradation,
}

/// How far a delivery came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// It arrived, or is being tried.
    Sent,
    /// It waits until then, untried.
    Held(Holds, Timestamp),
    /// It is a dead letter.
    Lost,
}

/// What a change means for a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// What is written for it, in this order.
    pub written: Vec<Written>,
    /// Deliveries that are never told: what they tell of is over.
    pub cancelled: Vec<i64>,
    /// Deliveries that told of something which is over now.
    pub over: Vec<i64>,
    /// The minute the channel is in, where that changed.
    pub window: Option<Window>,
}

/// A delivery that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it tells.
    pub event: Event,
    /// When, and why so late.
    pub place: Placed,
    /// Whether it tells of something that lasts, and whose end the channel is to hear.
    pub opens: bool,
}

/// When something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Not before.
    pub due_at: Timestamp,
    /// Why it waits until then; `None` where it is told at once.
    pub holds: Option<Holds>,
}

impl Holds {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Lasting, Self::Maintenance, Self::Quiet, Self::Storm];

    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lasting => "lasting",
            Self::Maintenance => "maintenance",
            Self::Quiet => "quiet",
            Self::Storm => "storm",
        }
    }

    /// The reason of this word.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|holds| holds.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown reason to wait `{word}`"))
    }
}

impl Occasion {
    /// What a transition is; `None` where people are told nothing, whatever they heard.
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

/// The end of what `opening` told of.
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

/// What a change means for a channel.
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
    /// Returns the matter of an opening of this kind.
    pub fn of(kind: EventKind, incident: Option<IncidentId>) -> Self {
        match (kind, incident) {
            (EventKind::StillDegraded, Some(incident)) => Self::Tail(incident),
            (_, Some(incident)) => Self::Incident(incident),
            (_, None) => Self::Degradation,
        }
    }
}

impl Told {
    /// Whether the channel counts as having heard it.
    fn is_heard(&self) -> bool {
        let stands = match self.stands {
            Stands::Sent | Stands::Held(Holds::Quiet | Holds::Storm, _) => true,
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) | Stands::Lost => false,
        };
        stands && self.reminder == 0
    }

    /// Returns whether it waits and was never tried.
    const fn is_held(&self) -> bool {
        matches!(self.stands, Stands::Held(..))
    }

    /// Whether it is never told when what it tells of is over.
    fn is_void_when_over(&self) -> bool {
        match self.stands {
            Stands::Held(Holds::Lasting | Holds::Maintenance, _) => true,
            Stands::Held(Holds::Quiet | Holds::Storm, _) => self.reminder > 0,
            Stands::Sent | Stands::Lost => false,
        }
    }
}
