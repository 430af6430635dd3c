//! The outbox: who is told what, and what came of it. Rows are written in the transaction of what they
//! tell of (`telling`), handed to the sender in their order (`queue`), tried (`attempts`), and kept to be
//! read (`log`); what cannot be read any more holds up nobody (`unreadable`). Whom to tell and when is decided by `domain::notify`; sending belongs to the server.

mod addressee;
mod announce;
mod attempts;
mod letters;
mod log;
mod memory;
mod queue;
mod replay;
mod rows;
mod spread;
mod telling;
mod unreadable;

use std::time::Duration;

use domain::notify::{Content, Event, Holds};
use rules::{ChannelId, DeliveryId, MonitorId, ProviderType, SubscriberId, Timestamp, WorkspaceId};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{Store, StoreError, subscribers};

pub use addressee::{Addressee, Follows};
pub(crate) use announce::{Maintained, note_maintenance, note_report};
pub(crate) use attempts::forget_attempts;
pub use letters::{Letter, LetterFilter};
pub(crate) use memory::{Listener, Memory};
pub(crate) use rows::{Events, Posted, write_news};
pub use spread::Spread;
pub(crate) use telling::maintenance_changed;
pub(crate) use telling::{Ending, channel_changed, leave, leave_page, note_end, note_transition};

/// The handle of the outbox.
#[derive(Clone, Copy, Debug)]
pub struct Outbox<'s> {
    pub(crate) store: &'s Store,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// It will be tried, the first time or again.
    Waiting,
    /// The receiver took it.
    Accepted,
    /// It is tried no more: a dead letter, which can be replayed.
    Dead,
    /// It was never told, because what it tells of was over before, or its channel was deleted.
    Cancelled,
}

/// One event for one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its identifier; later ones are greater.
    pub id: DeliveryId,
    /// Whose it is.
    pub workspace: WorkspaceId,
    /// Whom it is for; the channel may be deleted since.
    pub channel: ChannelId,
    /// What kind of channel it was.
    pub kind: ProviderType,
    /// Whose event it is, also of one that is deleted; `None` for tests.
    pub monitor: Option<MonitorId>,
    /// What it tells.
    pub event: Event,
    /// What became of it.
    pub state: DeliveryState,
    /// Why it waits untried, where it does.
    pub holds: Option<Holds>,
    /// When it was written down.
    pub created_at: Timestamp,
    /// When it is tried next, while it waits.
    pub due_at: Timestamp,
    /// Tries since it was written down or replayed.
    pub tries: u32,
    /// When it came to its end.
    pub done_at: Option<Timestamp>,
    /// The newest of its attempts, at most [`Delivery::ATTEMPTS_SHOWN`], oldest first.
    pub attempts: Vec<DeliveryAttempt>,
}

/// One try to deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Its number among those of the delivery, from 1 on.
    pub number: u32,
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Status of the answer, where there was one with a status.
    pub status: Option<u16>,
    /// What the receiver said, or why there is no answer, without what may be a secret.
    pub answer: String,
}

/// Which deliveries are listed; `None` is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// For this channel.
    pub channel: Option<ChannelId>,
    /// Of this monitor's events.
    pub monitor: Option<MonitorId>,
    /// In this state.
    pub state: Option<DeliveryState>,
}

/// Something is due for somebody, now or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Woken {
    /// For whom.
    pub addressee: Addressee,
    /// When.
    pub due_at: Timestamp,
}

/// What is to be sent to one addressee now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// In their order; those of one storm stand together, whether its set is fixed (they share
    /// [`Due::storm`]) or not yet (`holds` is [`Holds::Storm`]).
    pub due: Vec<Due>,
    /// When something else may be due, if nothing comes before; asking early does no harm.
    pub next_at: Option<Timestamp>,
}

/// A delivery that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its identifier.
    pub id: DeliveryId,
    /// Whose it is.
    pub workspace: WorkspaceId,
    /// To whom.
    pub addressee: Addressee,
    /// What it stays in order with.
    pub follows: Follows,
    /// The same in every try.
    pub key: String,
    /// What to tell.
    pub content: Content,
    /// [`Holds::Storm`] where it goes with all others of the queue that say so, else `None`.
    pub holds: Option<Holds>,
    /// The storm that it goes with, once that was fixed: the storm's key.
    pub storm: Option<String>,
    /// Since when it is due.
    pub due_at: Timestamp,
    /// When it was tried first, since it was written down or replayed.
    pub first_try_at: Option<Timestamp>,
    /// How often it was tried since then.
    pub tries: u32,
    /// How often it was tried in all, also before it was replayed.
    pub attempts: u32,
}

/// What came of one try of one delivery. Those of a storm each have theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Which delivery.
    pub id: DeliveryId,
    /// Which of its tries, from 1 on: the one after those that [`Due::attempts`] counts.
    pub number: u32,
    /// When the try began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Status of the answer, where there was one with a status.
    pub status: Option<u16>,
    /// What the receiver said, in one line without what may be a secret.
    pub answer: String,
    /// What follows.
    pub then: Then,
}

/// What follows a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Nothing: it arrived.
    Accepted,
    /// Another try, then.
    Again(Timestamp),
    /// Nothing: it is a dead letter.
    Dead,
}

/// A test of a saved channel that was sent at once, with what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestNote {
    /// Whose channel.
    pub workspace: WorkspaceId,
    /// Which channel.
    pub channel: ChannelId,
    /// What kind.
    pub kind: ProviderType,
    /// What was told.
    pub event: Event,
    /// When the try began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// Status of the answer, where there was one with a status.
    pub status: Option<u16>,
    /// What the receiver said, in one line without what may be a secret.
    pub answer: String,
    /// Whether it arrived; a test is not tried again.
    pub arrived: bool,
}

/// What became of the letters of a subscriber that was found not to hear of its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Nothing of what waits is told.
    Cancelled,
    /// It hears of its page again, and all of it waits.
    Hears,
}

/// How full the outbox is: for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxCounts {
    /// Deliveries that wait.
    pub waiting: u64,
    /// Dead letters that are kept.
    pub dead: u64,
    /// Since when the delivery that is due longest has been due.
    pub oldest_due_at: Option<Timestamp>,
}

impl Delivery {
    /// Most attempts that are shown of one delivery.
    pub const ATTEMPTS_SHOWN: u32 = 10;
}

impl DeliveryState {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Waiting, Self::Accepted, Self::Dead, Self::Cancelled];

    /// The word that is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Accepted => "accepted",
            Self::Dead => "dead",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state of this word.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|state| state.as_str() == word);
        known.copied().ok_or_else(|| format!("`{word}` is no state of a delivery"))
    }
}

impl Outbox<'_> {
    /// What is due from now on, as it is committed; whoever listened before hears no more. Nothing is
    /// lost while nobody listens: listen first, then ask [`Outbox::waiting`].
    pub fn listen(&self) -> UnboundedReceiver<Woken> {
        self.store.outbox_listener().listen()
    }

    /// Tells a subscriber nothing of what waits for it, where it still is one that may not hear of its page.
    pub async fn leave(&self, id: SubscriberId, now: Timestamp) -> Result<Left, StoreError> {
        self.store
            .write(move |session| {
                session.touches_nothing();
                Box::pin(async move {
                    let seen = subscribers::one(&mut session.db, &session.vault, id).await?;
                    // The page may have been opened again since it was looked at.
                    if seen.is_some_and(|seen| !seen.is_shut_out()) {
                        return Ok(Left::Hears);
                    }
                    telling::leave(&mut session.db, id, now).await?;
                    Ok(Left::Cancelled)
                })
            })
            .await
    }
}
