//! Delivery worker of one channel or subscriber. It takes due deliveries, in order per monitor or
//! thread, sends a few at a time and records the results. It sleeps while all deliveries are for
//! later, and ends when none wait. `parcel` decides which deliveries share a message.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::notify::{NextTry, next_try};
use futures_util::FutureExt as _;
use rules::{ProviderType, Timestamp};
use store::{AttemptResult, CancelOutcome, NextStep, Outbox, Recipient, StoreError};
use tokio::task::{JoinError, JoinSet};
use tracing::{debug, error, warn};

use super::destination::{Destination, DestinationLookup};
use super::dispatcher::{Dispatcher, WakeSignal};
use super::links;
use super::outgoing::{Membership, OutgoingMessage, UnderWay, parcels};
use super::send::{AttemptOutcome, SendDisposition};
use crate::observe::metrics::MessageOutcome;

/// Maximum number of messages in progress to one recipient.
const AT_A_TIME: usize = 4;
/// First pause after the database failed to respond; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Delivery worker of one channel or subscriber.
pub(super) struct DeliveryWorker {
    pub(super) rounds: Arc<Dispatcher>,
    pub(super) addressee: Recipient,
    pub(super) bell: Arc<WakeSignal>,
}

/// Finished message with the kind of its receiver and the result, if it was sent.
type Back = (OutgoingMessage, ProviderType, Option<AttemptOutcome>);

/// Messages in progress, and the time of the next look at the queue.
#[derive(Default)]
struct WorkerState {
    out: JoinSet<Back>,
    under_way: UnderWay,
    next_at: Option<Timestamp>,
    is_due: bool,
}

impl DeliveryWorker {
    /// Runs until nothing waits or the server stops.
    pub(super) async fn run(self) {
        let mut course = WorkerState { is_due: true, ..WorkerState::default() };
        let rounds = &*self.rounds;
        loop {
            let is_stopping = rounds.stop.is_cancelled();
            if course.is_due && course.out.len() < AT_A_TIME && !is_stopping {
                self.look(&mut course).await;
            }
            if course.out.is_empty() {
                let is_done = !course.is_due && course.next_at.is_none();
                if is_stopping || (is_done && rounds.stop_if_idle(self.addressee, &self.bell)) {
                    return;
                }
            }
            let next_at = course.next_at.filter(|_| !course.is_due);
            tokio::select! {
                biased;
                () = rounds.abandon.cancelled() => return,
                Some(ended) = course.out.join_next() => self.ended(&mut course, ended).await,
                () = self.bell.heard(), if !course.is_due => course.is_due = true,
                () = at(rounds, next_at) => course.is_due = true,
                () = rounds.stop.cancelled(), if !is_stopping => {}
            }
        }
    }

    /// Starts the due deliveries that get a permit. Retries while the database does not respond.
    async fn look(&self, course: &mut WorkerState) {
        let mut pause = FIRST_PAUSE;
        loop {
            self.bell.hush();
            match self.begin(course).await {
                Ok(()) => return,
                Err(StoreError::Closed) => return course.rest(),
                Err(error) => {
                    warn!(addressee = %self.addressee, %error, "failed to read deliveries: {error}");
                }
            }
            tokio::select! {
                () = self.rounds.stop.cancelled() => return course.rest(),
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
            }
        }
    }

    async fn begin(&self, course: &mut WorkerState) -> Result<(), StoreError> {
        let (rounds, outbox) = (&self.rounds, self.rounds.store.outbox());
        let now = rounds.sender.ctx.now();
        let room = AT_A_TIME - course.out.len();
        let asked = u32::try_from(AT_A_TIME + course.under_way.len()).unwrap_or(u32::MAX);
        let queue = outbox.due(self.addressee, now, asked).await?;
        // The remaining due deliveries wait for messages in progress; their end wakes this worker.
        course.is_due = false;
        course.next_at = queue.next_at;
        if queue.due.is_empty() {
            return Ok(());
        }
        // Deleting a channel or subscriber also cancels its deliveries. This is the moment in
        // between.
        let destination = match Destination::find(&rounds.store, self.addressee, now).await? {
            DestinationLookup::Is(destination) => Arc::new(*destination),
            DestinationLookup::Nobody => return Ok(()),
            DestinationLookup::NotTold(why) => {
                debug!(addressee = %self.addressee, "{} is not notified: {why}", self.addressee);
                return self.leave(course, now).await;
            }
        };
        let parcels = parcels(destination.kind(), queue.due, &course.under_way);
        for mut parcel in parcels.into_iter().take(room) {
            fix(outbox, &mut parcel).await?;
            if parcel.dues.is_empty() {
                continue;
            }
            course.under_way.add(&parcel);
            course.out.spawn(deliver(rounds.clone(), destination.clone(), parcel));
        }
        Ok(())
    }

    /// Cancels the waiting deliveries of a suppressed subscriber. If the suppression ended
    /// meanwhile, looks again immediately instead of at the next scan.
    async fn leave(&self, course: &mut WorkerState, now: Timestamp) -> Result<(), StoreError> {
        // Channels and pages are never suppressed.
        let Recipient::Subscriber(id) = self.addressee else { return Ok(()) };
        course.is_due = self.rounds.store.outbox().leave(id, now).await? == CancelOutcome::Hears;
        Ok(())
    }

    /// Records the results of an attempt and of others that ended at the same time.
    async fn ended(&self, course: &mut WorkerState, first: Result<Back, JoinError>) {
        let mut tried = Vec::new();
        let mut next = Some(first);
        while let Some(ended) = next {
            // An aborted task has no result; panics are caught inside it.
            if let Ok((parcel, kind, sent)) = ended {
                course.under_way.remove(&parcel);
                if let Some(sent) = sent {
                    self.conclude(kind, &parcel, &sent, &mut tried);
                }
            }
            next = course.out.try_join_next();
        }
        course.is_due = !self.rounds.stop.is_cancelled();
        if !tried.is_empty() {
            self.record(tried).await;
        }
    }

    /// Returns the next steps after an attempt, the same for all deliveries of the message.
    fn conclude(
        &self,
        kind: ProviderType,
        parcel: &OutgoingMessage,
        sent: &AttemptOutcome,
        tried: &mut Vec<AttemptResult>,
    ) {
        let rounds = &self.rounds;
        let now = rounds.sender.ctx.now();
        let then = match sent.verdict {
            SendDisposition::Accepted => NextStep::Accepted,
            SendDisposition::Never => NextStep::Dead,
            SendDisposition::Again(asked) => {
                let first = parcel.first_try_at().unwrap_or(sent.at);
                let tries = parcel.tries().saturating_add(1);
                match next_try(first, now, tries, asked, rounds.sender.ctx.random()) {
                    NextTry::At(at) => NextStep::Again(at),
                    NextTry::Dead => NextStep::Dead,
                }
            }
        };
        let outcome = match then {
            NextStep::Accepted => MessageOutcome::Accepted,
            NextStep::Again(_) => MessageOutcome::Again,
            NextStep::Dead => MessageOutcome::Dead,
        };
        rounds.metrics.messages(kind, outcome).inc();
        for due in &parcel.dues {
            let (id, addressee, status) = (due.id, self.addressee, sent.status);
            match then {
                NextStep::Accepted => {
                    let seconds = now.since(due.content.at()).as_secs_f64();
                    rounds.metrics.message_seconds.observe(seconds);
                    debug!(delivery.id = %id, %addressee, "delivery {id} was accepted");
                }
                NextStep::Again(at) => debug!(
                    delivery.id = %id, %addressee, status,
                    "delivery {id} failed and will be retried at {at}"
                ),
                NextStep::Dead => warn!(
                    delivery.id = %id, %addressee, status, tries = due.tries + 1,
                    "delivery {id} to {addressee} about {} is a dead letter; `aloft notifications \
                     deliveries` says why", due.content.about()
                ),
            }
            let answer = sent.answer.clone();
            let number = due.attempts + 1;
            tried.push(AttemptResult {
                id,
                number,
                at: sent.at,
                took: sent.took,
                status,
                answer,
                then,
            });
        }
    }

    /// Records attempts, however long the database takes. An accepted delivery is not sent again
    /// only because recording it failed.
    async fn record(&self, tried: Vec<AttemptResult>) {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.rounds.store.outbox().attempted(tried.clone()).await {
                Ok(()) | Err(StoreError::Closed) => return,
                Err(error) => warn!(
                    addressee = %self.addressee, %error,
                    "{} attempts could not be stored and are kept in memory: {error}", tried.len()
                ),
            }
            tokio::select! {
                () = self.rounds.abandon.cancelled() => return,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
            }
        }
    }
}

impl WorkerState {
    /// Waits for the next wakeup: the recipient no longer exists.
    fn rest(&mut self) {
        self.is_due = false;
        self.next_at = None;
    }
}

/// Records before the first attempt what all attempts must repeat. Removes the deliveries that are
/// no longer pending.
async fn fix(outbox: Outbox<'_>, parcel: &mut OutgoingMessage) -> Result<(), StoreError> {
    let told = match parcel.to_fix() {
        None => return Ok(()),
        Some(Membership::Together(key)) => {
            outbox.begin_storm(&parcel.ids(), key.to_owned()).await?
        }
        Some(Membership::Alone(id)) => {
            if outbox.begin_alone(id).await? {
                vec![id]
            } else {
                Vec::new()
            }
        }
    };
    parcel.dues.retain(|due| told.contains(&due.id));
    Ok(())
}

/// Waits until the clock shows `instant`; without one, waits forever.
async fn at(rounds: &Dispatcher, instant: Option<Timestamp>) {
    match instant {
        Some(instant) => rounds.sender.ctx.sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Sends a message in its turn. Starts nothing after the server began to stop.
async fn deliver(
    rounds: Arc<Dispatcher>,
    destination: Arc<Destination>,
    parcel: OutgoingMessage,
) -> Back {
    let told = async {
        let read_at = match &*destination {
            Destination::Channel(channel, _) => {
                let events = parcel.events();
                links::place(&rounds.store, &rounds.sender, channel.workspace, &events).await
            }
            // Emails to subscribers link to their page.
            Destination::Subscriber(..) => None,
        };
        destination.tell(&rounds.sender, &parcel, read_at.as_deref(), &rounds.stop).await
    };
    let sent = AssertUnwindSafe(told).catch_unwind().await.unwrap_or_else(|_| {
        let addressee = destination.addressee();
        error!(%addressee, "failed to compose a message: this is a bug");
        let at = rounds.sender.ctx.now();
        let answer = "the server failed to compose this message; see its log".to_owned();
        let verdict = SendDisposition::Again(None);
        Some(AttemptOutcome { at, took: Duration::ZERO, status: None, answer, verdict })
    });
    (parcel, destination.kind(), sent)
}

#[cfg(test)]
mod tests {
    use rules::status_page::{PageDraft, SubscriberDraft};
    use rules::{PageId, SubscriberId};
    use store::{InitialState, NewPage, NewSubscriber};

    use super::super::tests::{NotifierFixture, START, WORKSPACE, change};
    use super::*;

    fn a_page() -> PageDraft {
        let (title, slug) = (Some("Acme".to_owned()), Some("acme".to_owned()));
        PageDraft { title, slug, ..PageDraft::default() }
    }

    /// Creates a worker for a subscriber with a pending delivery, and the page.
    async fn to_a_subscriber(bench: &NotifierFixture) -> (DeliveryWorker, PageId) {
        let (page, id) = (PageId::from_bits(1), SubscriberId::from_bits(1));
        let (settings, idempotency) = (a_page().parse().unwrap(), None);
        let new = NewPage { id: page, workspace: WORKSPACE, settings, idempotency };
        bench.store.pages().create(new, change()).await.unwrap();
        let (page_id, email) = (Some(page.to_string()), Some("eve@example.com".to_owned()));
        let draft = SubscriberDraft { page_id, email, ..SubscriberDraft::default() };
        let (settings, begins, idempotency) =
            (draft.parse().unwrap(), InitialState::Unconfirmed, None);
        let new = NewSubscriber { id, workspace: WORKSPACE, settings, begins, idempotency };
        bench.store.subscribers().add(new, change()).await.unwrap();
        let (rounds, bell) = (bench.notifier().0, Arc::default());
        (DeliveryWorker { rounds, addressee: id.into(), bell }, page)
    }

    #[tokio::test]
    async fn who_may_hear_again_since_a_look_is_looked_after_again_at_once() {
        let bench = NotifierFixture::new().await;
        let (courier, page) = to_a_subscriber(&bench).await;
        let mut course = WorkerState::default();
        courier.leave(&mut course, START).await.unwrap();
        assert!(course.is_due, "the page was opened again meanwhile");

        let members = PageDraft {
            access_type: Some("email-domain".to_owned()),
            auth_email_domains: vec!["acme.com".to_owned()],
            ..a_page()
        };
        let pages = bench.store.pages();
        let seen = pages.get(WORKSPACE, page).await.unwrap();
        pages.update(seen, members.parse().unwrap(), change()).await.unwrap();
        courier.leave(&mut course, START).await.unwrap();
        assert!(!course.is_due, "nothing waits any more");
        let queue = bench.store.outbox().due(courier.addressee, START, 1).await.unwrap();
        assert_eq!(queue.due, []);
    }
}
