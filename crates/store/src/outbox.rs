//! Outbox: deliveries and their attempts. Rows are written in the transaction of their event
//! (`enqueue`) and handed to the delivery workers in order (`queue`). Attempts are recorded
//! (`attempts`) and kept as a log (`deliveries`). A corrupt event does not block later ones
//! (`corrupt`). `domain::notify` decides who is notified and when, and the server sends.

mod alert_inputs;
mod attempts;
mod corrupt;
mod deliveries;
mod enqueue;
mod fan_out;
mod last;
mod page_events;
mod queue;
mod replay;
mod rows;
mod subscriber_deliveries;

use std::time::Duration;

use domain::notify::{Event, HoldReason, Payload};
use rules::{
    ChannelId, DeliveryId, MonitorId, PageId, ProviderType, SubscriberId, Timestamp, WorkspaceId,
};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::recipient::{OrderingKey, Recipient};
use crate::{Store, StoreError, subscribers};

pub(crate) use attempts::delete_attempts;
pub(crate) use enqueue::maintenance_changed;
pub(crate) use enqueue::{
    Ending, cancel_for, cancel_for_page, channel_changed, enqueue_end, enqueue_transition,
};
pub use fan_out::FanOutProgress;
pub use last::LastDelivery;
pub(crate) use page_events::{enqueue_maintenance, enqueue_report};
pub(crate) use rows::{DeliveryTarget, Events, enqueue_page_event, open as open_event};
pub use subscriber_deliveries::SubscriberDeliveryFilter;

/// Handle of the outbox.
#[derive(Clone, Copy, Debug)]
pub struct Outbox<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the deliveries and their attempts.
    pub const fn outbox(&self) -> Outbox<'_> {
        Outbox { store: self }
    }
}

/// State of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// It waits for its first or next attempt.
    Waiting,
    /// The receiver accepted it.
    Accepted,
    /// No attempt follows: a dead letter, which can be replayed.
    Dead,
    /// It was not sent, because its event was over before, or its channel was deleted.
    Cancelled,
}

/// Delivery of one event to one recipient. `A` depends on the kind of the recipient: an alert to a
/// channel, or a page event to a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery<A = AlertToChannel> {
    /// Identifier among all deliveries. Later ones have greater ones.
    pub id: DeliveryId,
    pub workspace: WorkspaceId,
    /// Recipient and event.
    pub about: A,
    /// Kind of the recipient at the time of the event.
    pub kind: ProviderType,
    pub state: DeliveryState,
    /// Reason why it waits unattempted, if it does.
    pub hold_reason: Option<HoldReason>,
    pub created_at: Timestamp,
    /// Time of the next attempt, while it waits.
    pub due_at: Timestamp,
    /// Number of attempts since it was created or replayed.
    pub attempt_count: u32,
    /// Time of completion.
    pub completed_at: Option<Timestamp>,
    /// Latest attempts, at most [`Self::ATTEMPTS_MAX`], oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// Delivery of a page event to a subscriber.
pub type SubscriberDelivery = Delivery<EventToSubscriber>;

/// Alert to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertToChannel {
    /// Channel, which may be deleted.
    pub channel: ChannelId,
    /// Monitor of the event, which may be deleted. `None` for tests.
    pub monitor: Option<MonitorId>,
    pub event: Event,
}

/// Page event to a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventToSubscriber {
    pub subscriber: SubscriberId,
    pub page: PageId,
    /// Kind of the event: see [`domain::notify::PageEvent::word`].
    pub event_kind: String,
    /// Idempotency key, the same for each attempt.
    pub key: String,
    /// Ordering key.
    thread: String,
}

/// Attempt to send a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Number within the delivery, from 1.
    pub number: u32,
    /// Start time.
    pub at: Timestamp,
    pub duration: Duration,
    /// Status code of the response, if any.
    pub status: Option<u16>,
    /// Response of the receiver, or the reason why there is none, with possible secrets removed.
    pub response: String,
}

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub channel: Option<ChannelId>,
    /// Monitor of the event.
    pub monitor: Option<MonitorId>,
    pub state: Option<DeliveryState>,
}

/// Deliveries that are due for one recipient.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DueDeliveries {
    /// Deliveries in order. Those of one digest are adjacent, whether its set is fixed (they share
    /// [`DueDelivery::digest_key`]) or not yet (`hold_reason` is [`HoldReason::Digest`]).
    pub due: Vec<DueDelivery>,
    /// Time at which something else may be due. Asking earlier does no harm.
    pub next_at: Option<Timestamp>,
}

/// Delivery that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    pub id: DeliveryId,
    pub workspace: WorkspaceId,
    pub recipient: Recipient,
    /// Key of the order that it must keep.
    pub ordering_key: OrderingKey,
    /// Idempotency key, the same for each attempt.
    pub key: String,
    /// Payload.
    pub content: Payload,
    /// [`HoldReason::Digest`] if it belongs to the digest of all such deliveries in the queue,
    /// `None` otherwise.
    pub hold_reason: Option<HoldReason>,
    /// Key of its digest, once that is fixed.
    pub digest_key: Option<String>,
    /// Time since which it is due.
    pub due_at: Timestamp,
    /// Time of the first attempt since it was created or replayed.
    pub first_attempt_at: Option<Timestamp>,
    /// Number of attempts since then.
    pub attempt_count: u32,
    /// Number of all attempts, including those before a replay.
    pub total_attempts: u32,
}

/// Result of one attempt of one delivery. Each delivery of a digest has its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptResult {
    pub id: DeliveryId,
    /// Number of the attempt, from 1: one more than [`DueDelivery::total_attempts`].
    pub number: u32,
    /// Start time.
    pub at: Timestamp,
    pub duration: Duration,
    /// Status code of the response, if any.
    pub status: Option<u16>,
    /// Response of the receiver as one line, with possible secrets removed.
    pub response: String,
    pub next_step: NextStep,
}

/// Consequence of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// No further attempt: the receiver accepted it.
    Accepted,
    /// Another attempt at this time.
    Again(Timestamp),
    /// No further attempt: it is a dead letter.
    Dead,
}

/// Test of a saved channel that was sent at once, with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDelivery {
    pub workspace: WorkspaceId,
    pub channel: ChannelId,
    pub kind: ProviderType,
    pub event: Event,
    /// Start time.
    pub at: Timestamp,
    pub duration: Duration,
    /// Status code of the response, if any.
    pub status: Option<u16>,
    /// Response of the receiver as one line, with possible secrets removed.
    pub response: String,
    /// Whether it was accepted. A test is not retried.
    pub arrived: bool,
}

/// Outcome of cancelling the deliveries of a suppressed subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CancelOutcome {
    /// All waiting deliveries were cancelled.
    Cancelled,
    /// The subscriber is no longer suppressed, and its deliveries wait.
    NotSuppressed,
}

/// Size of the outbox, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxCounts {
    /// Number of waiting deliveries.
    pub waiting: u64,
    /// Number of dead letters.
    pub dead: u64,
    /// Due time of the delivery that has been due the longest.
    pub oldest_due_at: Option<Timestamp>,
}

impl<A> Delivery<A> {
    /// Maximum number of attempts that a delivery lists.
    pub const ATTEMPTS_MAX: u32 = 10;
}

impl DeliveryState {
    pub const ALL: &[Self] = &[Self::Waiting, Self::Accepted, Self::Dead, Self::Cancelled];

    /// Returns the stored and published name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Accepted => "accepted",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    /// Parses the name of a state.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|state| state.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown delivery state `{word}`"))
    }
}

impl Outbox<'_> {
    /// Returns a receiver of wake-ups: after a commit, the recipients with something due, now or
    /// later. A new receiver replaces the previous
    /// one. Nothing is lost while there is none: listen first, and then call [`Outbox::waiting`].
    pub fn listen(&self) -> UnboundedReceiver<Recipient> {
        self.store.outbox_listener().listen()
    }

    /// Cancels all waiting deliveries of a subscriber, if it is still suppressed.
    pub async fn cancel_for(
        &self,
        id: SubscriberId,
        now: Timestamp,
    ) -> Result<CancelOutcome, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let seen = subscribers::one(&mut session.db, &session.vault, id).await?;
                    // The page may have been opened again since it was checked.
                    if seen.is_some_and(|seen| !seen.is_suppressed()) {
                        return Ok(CancelOutcome::NotSuppressed);
                    }
                    enqueue::cancel_for(&mut session.db, id, now).await?;
                    Ok(CancelOutcome::Cancelled)
                })
            })
            .await
    }
}
