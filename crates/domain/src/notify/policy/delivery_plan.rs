//! Plans the deliveries of one channel after a change of a monitor: new messages, messages to hold
//! and why, and held messages that are obsolete. Pure: the channel's earlier deliveries are
//! parameters. `builder` handles each kind of change, `timing` computes times.

mod builder;
mod timing;

#[cfg(test)]
mod tests;

use std::time::Duration;

use rules::notification::NotificationPreferences;
use rules::{IncidentId, MonitorStatus, ProviderType, Timestamp};

pub use timing::{next_reminder, reschedule_held, schedule};

use self::builder::PlanBuilder;
use super::grouping::GroupWindow;
use crate::judge::{IncidentChange, Transition};
use crate::notify::{Cause, CloseReason, Event, EventKind, MonitorSnapshot};

/// Reason a delivery waits before its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HoldReason {
    /// Sent only if the problem lasts until then: degradations and reminders.
    MinDuration,
    /// Sent when the maintenance ends, if the problem lasts until then.
    Maintenance,
    /// Sent when the quiet hours end, whatever happened since.
    QuietHours,
    /// Sent in a digest.
    Digest,
}

/// A change of a monitor that may cause alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertChange {
    /// An incident opened.
    Down(IncidentId),
    /// The problem ended: an open incident, and a degradation unless the monitor is now degraded.
    Ended {
        /// The incident that closed.
        incident: Option<IncidentId>,
        /// Reason for the end.
        reason: CloseReason,
    },
    /// The monitor is degraded and was not down before.
    Degraded,
    /// The status is unknown.
    Unknown,
}

/// Data of the change, the same for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertContext {
    /// Time of the change.
    pub at: Timestamp,
    /// Time of storing it, from which deliveries are scheduled. Later than `at` if storing was
    /// delayed.
    pub now: Timestamp,
    /// Name of the workspace.
    pub workspace: String,
    pub monitor: MonitorSnapshot,
    /// Period of the monitor.
    pub period: Duration,
    /// Cause, with the last result of each region.
    pub cause: Cause,
    /// End of the monitor's active maintenance.
    pub muted_until: Option<Timestamp>,
}

/// State of a channel with regard to the monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelState {
    pub kind: ProviderType,
    pub preferences: NotificationPreferences,
    /// Whether it is linked to the monitor. A channel unlinked since only gets the end of earlier
    /// alerts.
    pub is_linked: bool,
    /// Its current group window.
    pub window: Option<GroupWindow>,
    /// Sent and pending deliveries about problems that have not ended for it.
    pub open_deliveries: Vec<OpenDelivery>,
}

/// A delivery about a problem that has not ended for its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenDelivery {
    /// ID of the delivery in the store.
    pub delivery: i64,
    pub subject: AlertSubject,
    /// Start of the problem.
    pub since: Timestamp,
    /// Number of the reminder; 0 if it is not a reminder.
    pub reminder: u32,
    pub progress: DeliveryProgress,
}

/// Subject of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertSubject {
    Incident(IncidentId),
    /// Degradation after an incident that the channel was notified of. One message ends both.
    TrailingDegradation(IncidentId),
    /// Any other degradation.
    Degradation,
}

/// Progress of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryProgress {
    /// It was accepted, or waits without a hold: it is due now, or for a retry.
    AcceptedOrPending,
    /// It waits until then and was not attempted.
    Held(HoldReason, Timestamp),
    /// It is a dead letter.
    Dead,
}

/// Plan of a channel's deliveries after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryPlan {
    /// New deliveries, in order.
    pub written: Vec<NewDelivery>,
    /// Deliveries that will not be sent, because their problem ended.
    pub cancelled: Vec<i64>,
    /// Deliveries about problems that ended now.
    pub over: Vec<i64>,
    /// The group window, if it changed.
    pub window: Option<GroupWindow>,
}

/// A new delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    pub event: Event,
    /// When to send it, and why so late.
    pub due: DueTime,
    /// Whether it reports a lasting problem, of whose end the channel is to be notified.
    pub opens: bool,
}

/// Due time of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTime {
    /// Earliest time to send.
    pub due_at: Timestamp,
    /// Reason to wait until then; `None` to send at once.
    pub hold_reason: Option<HoldReason>,
}

impl HoldReason {
    /// All variants.
    pub const ALL: &[Self] =
        &[Self::MinDuration, Self::Maintenance, Self::QuietHours, Self::Digest];

    /// Returns the name used in storage and the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MinDuration => "min_duration",
            Self::Maintenance => "maintenance",
            Self::QuietHours => "quiet_hours",
            Self::Digest => "digest",
        }
    }

    /// Parses the name of a reason.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|holds| holds.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown reason to wait `{word}`"))
    }
}

impl AlertChange {
    /// Converts a transition, or returns `None` if it never causes messages.
    pub fn from_transition(transition: &Transition) -> Option<Self> {
        match (transition.incident, transition.to) {
            (IncidentChange::Opened(id), _) => Some(Self::Down(id)),
            (IncidentChange::Closed { id, reason: how }, _) => {
                Some(Self::Ended { incident: Some(id), reason: how })
            }
            (IncidentChange::Suspended(_) | IncidentChange::Resumed(_), _)
            | (IncidentChange::None, MonitorStatus::Error) => None,
            (IncidentChange::None, MonitorStatus::Active) => {
                Some(Self::Ended { incident: None, reason: CloseReason::Recovered })
            }
            (IncidentChange::None, MonitorStatus::Degraded) => Some(Self::Degraded),
            (IncidentChange::None, MonitorStatus::Unknown) => Some(Self::Unknown),
        }
    }

    /// Returns whether a problem begins.
    pub const fn is_opening(self) -> bool {
        match self {
            Self::Down(_) | Self::Degraded => true,
            Self::Ended { .. } | Self::Unknown => false,
        }
    }
}

/// Returns the event for the end of what `opening` reported.
pub fn end_event(opening: &Event, at: Timestamp, how: CloseReason) -> Event {
    Event {
        kind: EventKind::Recovered,
        at,
        closed: Some(how),
        cause: Cause::default(),
        reminder: 0,
        ..opening.clone()
    }
}

/// Plans the deliveries of a channel after a change.
pub fn plan_deliveries(
    change: AlertChange,
    context: &AlertContext,
    channel: &ChannelState,
) -> DeliveryPlan {
    let mut builder = PlanBuilder::new(context, channel);
    match change {
        AlertChange::Down(incident) => builder.incident_opened(incident),
        AlertChange::Ended { incident, reason: how } => builder.problem_ended(incident, how),
        AlertChange::Degraded => builder.degraded(),
        AlertChange::Unknown => builder.cancel_held(),
    }
    builder.plan
}

impl AlertSubject {
    /// Returns the subject of an opening of this kind.
    pub fn new(kind: EventKind, incident: Option<IncidentId>) -> Self {
        match (kind, incident) {
            (EventKind::StillDegraded, Some(incident)) => Self::TrailingDegradation(incident),
            (_, Some(incident)) => Self::Incident(incident),
            (_, None) => Self::Degradation,
        }
    }
}

impl OpenDelivery {
    /// Returns whether the channel counts as notified by it.
    fn is_notified(&self) -> bool {
        let stands = match self.progress {
            DeliveryProgress::AcceptedOrPending
            | DeliveryProgress::Held(HoldReason::QuietHours | HoldReason::Digest, _) => true,
            DeliveryProgress::Held(HoldReason::MinDuration | HoldReason::Maintenance, _)
            | DeliveryProgress::Dead => false,
        };
        stands && self.reminder == 0
    }

    /// Returns whether it waits and was never attempted.
    const fn is_held(&self) -> bool {
        matches!(self.progress, DeliveryProgress::Held(..))
    }

    /// Returns whether it is dropped when its problem ends.
    fn is_dropped_at_end(&self) -> bool {
        match self.progress {
            DeliveryProgress::Held(HoldReason::MinDuration | HoldReason::Maintenance, _) => true,
            DeliveryProgress::Held(HoldReason::QuietHours | HoldReason::Digest, _) => {
                self.reminder > 0
            }
            DeliveryProgress::AcceptedOrPending | DeliveryProgress::Dead => false,
        }
    }
}
