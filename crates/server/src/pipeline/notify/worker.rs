//! Delivery worker of one channel or subscriber. It takes due deliveries, in order per monitor or
//! thread, sends a few at a time and records the results. It sleeps while all deliveries are for
//! later, and ends when none wait. `outgoing` decides which deliveries share a message.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::backoff::Backoff;
use domain::notify::{NextAttempt, next_attempt};
use futures_util::FutureExt as _;
use rules::{ProviderType, Timestamp, counted};
use store::{AttemptResult, CancelOutcome, NextStep, Outbox, Recipient, StoreError};
use tokio::task::{JoinError, JoinSet};
use tracing::{debug, error, warn};

use super::destination::{Destination, DestinationLookup};
use super::links;
use super::outcome::{AttemptOutcome, SendDisposition};
use super::outgoing::{InFlightMessages, Membership, OutgoingMessage, outgoing_messages};
use super::worker_context::{WakeSignal, WorkerContext};
use crate::observe::metrics::MessageOutcome;

/// Maximum number of messages in progress to one recipient.
const AT_A_TIME: usize = 4;
/// Pauses after the database failed to respond.
pub(super) const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(100), max: Duration::from_secs(5) };

/// Delivery worker of one channel or subscriber.
pub(super) struct DeliveryWorker {
    pub(super) context: Arc<WorkerContext>,
    pub(super) recipient: Recipient,
    pub(super) wake_signal: Arc<WakeSignal>,
}

/// Finished message with the kind of its receiver and the result, if it was sent.
type FinishedMessage = (OutgoingMessage, ProviderType, Option<AttemptOutcome>);

/// Messages in progress, and the time of the next look at the queue.
#[derive(Default)]
struct WorkerState {
    tasks: JoinSet<FinishedMessage>,
    in_flight: InFlightMessages,
    next_at: Option<Timestamp>,
    is_due: bool,
}

impl DeliveryWorker {
    /// Runs until nothing waits or the server stops.
    pub(super) async fn run(self) {
        let mut state = WorkerState { is_due: true, ..WorkerState::default() };
        let context = &*self.context;
        loop {
            let is_stopping = context.stop.is_cancelled();
            if state.is_due && state.tasks.len() < AT_A_TIME && !is_stopping {
                self.start_due(&mut state).await;
            }
            if state.tasks.is_empty() {
                let is_done = !state.is_due && state.next_at.is_none();
                if is_stopping
                    || (is_done && context.remove_if_idle(self.recipient, &self.wake_signal))
                {
                    return;
                }
            }
            let next_at = state.next_at.filter(|_| !state.is_due);
            tokio::select! {
                biased;
                () = context.abandon.cancelled() => return,
                Some(ended) = state.tasks.join_next() => self.record_finished(&mut state, ended).await,
                () = self.wake_signal.wait(), if !state.is_due => state.is_due = true,
                () = wait_until(context, next_at) => state.is_due = true,
                () = context.stop.cancelled(), if !is_stopping => {}
            }
        }
    }

    /// Starts the due deliveries that get a permit. Retries while the database does not respond.
    async fn start_due(&self, state: &mut WorkerState) {
        let mut pauses = BACKOFF.pauses();
        loop {
            self.wake_signal.clear();
            match self.try_start_due(state).await {
                Ok(()) => return,
                Err(why) if why.has_ended() => return state.stop_looking(),
                Err(error) => {
                    warn!(recipient = %self.recipient, %error, "failed to read deliveries: {error}");
                }
            }
            tokio::select! {
                () = self.context.stop.cancelled() => return state.stop_looking(),
                Some(ended) = state.tasks.join_next() => self.record_finished(state, ended).await,
                () = tokio::time::sleep(pauses.next_pause()) => {}
            }
        }
    }

    async fn try_start_due(&self, state: &mut WorkerState) -> Result<(), StoreError> {
        let (context, outbox) = (&self.context, self.context.store.outbox());
        let now = context.sender.ctx.now();
        let room = AT_A_TIME - state.tasks.len();
        let limit = u32::try_from(AT_A_TIME + state.in_flight.len()).unwrap_or(u32::MAX);
        let queue = outbox.due(self.recipient, now, limit).await?;
        // The remaining due deliveries wait for messages in progress; their end wakes this worker.
        state.is_due = false;
        state.next_at = queue.next_at;
        if queue.due.is_empty() {
            return Ok(());
        }
        // Deleting a channel or subscriber also cancels its deliveries. A recipient may be
        // missing in between.
        let destination = match Destination::find(&context.store, self.recipient, now).await? {
            DestinationLookup::Found(destination) => Arc::new(*destination),
            DestinationLookup::Deleted => return Ok(()),
            DestinationLookup::Suppressed(why) => {
                debug!(recipient = %self.recipient, "{} is not notified: {why}", self.recipient);
                return self.cancel_suppressed(state, now).await;
            }
        };
        let messages = outgoing_messages(destination.kind(), queue.due, &state.in_flight);
        for mut message in messages.into_iter().take(room) {
            record_membership(outbox, &mut message).await?;
            if message.deliveries.is_empty() {
                continue;
            }
            state.in_flight.add(&message);
            state.tasks.spawn(deliver(context.clone(), destination.clone(), message));
        }
        Ok(())
    }

    /// Cancels the waiting deliveries of a suppressed subscriber. If the suppression ended
    /// meanwhile, looks again immediately instead of at the next scan.
    async fn cancel_suppressed(
        &self,
        state: &mut WorkerState,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        // Channels and pages are never suppressed.
        let Recipient::Subscriber(id) = self.recipient else { return Ok(()) };
        state.is_due =
            self.context.store.outbox().cancel_for(id, now).await? == CancelOutcome::NotSuppressed;
        Ok(())
    }

    /// Records the results of an attempt and of others that ended at the same time.
    async fn record_finished(
        &self,
        state: &mut WorkerState,
        first: Result<FinishedMessage, JoinError>,
    ) {
        let mut tried = Vec::new();
        let mut next = Some(first);
        while let Some(ended) = next {
            // An aborted task has no result; panics are caught inside it.
            if let Ok((message, kind, sent)) = ended {
                state.in_flight.remove(&message);
                if let Some(sent) = sent {
                    self.decide_next_steps(kind, &message, &sent, &mut tried);
                }
            }
            next = state.tasks.try_join_next();
        }
        state.is_due = !self.context.stop.is_cancelled();
        if !tried.is_empty() {
            self.record(tried).await;
        }
    }

    /// Decides what follows an attempt, and adds it to `tried` for each delivery of the message.
    fn decide_next_steps(
        &self,
        kind: ProviderType,
        message: &OutgoingMessage,
        sent: &AttemptOutcome,
        tried: &mut Vec<AttemptResult>,
    ) {
        let context = &self.context;
        let now = context.sender.ctx.now();
        let then = match sent.disposition {
            SendDisposition::Accepted => NextStep::Accepted,
            SendDisposition::GiveUp => NextStep::Dead,
            SendDisposition::Retry(retry_after) => {
                let first = message.first_attempt_at().unwrap_or(sent.at);
                let attempts = message.attempts().saturating_add(1);
                match next_attempt(first, now, attempts, retry_after, context.sender.ctx.random()) {
                    NextAttempt::At(at) => NextStep::Again(at),
                    NextAttempt::Dead => NextStep::Dead,
                }
            }
        };
        let outcome = match then {
            NextStep::Accepted => MessageOutcome::Accepted,
            NextStep::Again(_) => MessageOutcome::Retry,
            NextStep::Dead => MessageOutcome::Dead,
        };
        context.metrics.messages(kind, outcome).inc();
        for due in &message.deliveries {
            let (id, recipient, status) = (due.id, self.recipient, sent.status);
            match then {
                NextStep::Accepted => {
                    let seconds = now.since(due.content.at()).as_secs_f64();
                    context.metrics.message_seconds.observe(seconds);
                    debug!(delivery.id = %id, %recipient, "delivery {id} was accepted");
                }
                NextStep::Again(at) => debug!(
                    delivery.id = %id, %recipient, status,
                    "delivery {id} failed and will be retried at {at}"
                ),
                NextStep::Dead => warn!(
                    delivery.id = %id, %recipient, status, attempts = due.attempt_count + 1,
                    "delivery {id} to {recipient} about {} is a dead letter; `aloft channels \
                     deliveries` shows why", due.content.about()
                ),
            }
            let response = sent.response.clone();
            let number = due.total_attempts + 1;
            tried.push(AttemptResult {
                id,
                number,
                at: sent.at,
                duration: sent.took,
                status,
                response,
                next_step: then,
            });
        }
    }

    /// Records attempts, however long the database takes. An accepted delivery is not sent again
    /// only because recording it failed.
    async fn record(&self, tried: Vec<AttemptResult>) {
        let mut pauses = BACKOFF.pauses();
        loop {
            match self.context.store.outbox().record_attempts(tried.clone()).await {
                Ok(()) => {
                    self.context.store.outbox().signal_deliveries(self.recipient);
                    return;
                }
                Err(why) if why.has_ended() => return,
                Err(error) => warn!(
                    recipient = %self.recipient, %error,
                    "failed to store {}, kept in memory: {error}", counted(tried.len(), "attempt")
                ),
            }
            tokio::select! {
                () = self.context.abandon.cancelled() => return,
                () = tokio::time::sleep(pauses.next_pause()) => {}
            }
        }
    }
}

impl WorkerState {
    /// Looks at the queue no more: the store is closed, or the server stops.
    fn stop_looking(&mut self) {
        self.is_due = false;
        self.next_at = None;
    }
}

/// Records before the first attempt what all attempts must repeat. Removes the deliveries that are
/// no longer pending.
async fn record_membership(
    outbox: Outbox<'_>,
    message: &mut OutgoingMessage,
) -> Result<(), StoreError> {
    let retained = match message.unrecorded_membership() {
        None => return Ok(()),
        Some(Membership::Together(key)) => {
            outbox.fix_digest(&message.ids(), key.to_owned()).await?
        }
        Some(Membership::Alone(id)) => {
            if outbox.fix_single(id).await? {
                vec![id]
            } else {
                Vec::new()
            }
        }
    };
    message.deliveries.retain(|due| retained.contains(&due.id));
    Ok(())
}

/// Waits until the clock shows `instant`; without one, waits forever.
async fn wait_until(context: &WorkerContext, instant: Option<Timestamp>) {
    match instant {
        Some(instant) => context.sender.ctx.sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Sends a message in its turn. Starts nothing after the server began to stop.
async fn deliver(
    context: Arc<WorkerContext>,
    destination: Arc<Destination>,
    message: OutgoingMessage,
) -> FinishedMessage {
    let sending = async {
        let link = match &*destination {
            Destination::Channel(channel, _) => {
                let events = message.events();
                links::page_link(&context.store, &context.sender, channel.workspace, &events).await
            }
            // Emails to subscribers link to their page.
            Destination::Subscriber(..) => None,
        };
        destination.send(&context.sender, &message, link.as_deref(), &context.stop).await
    };
    let sent = AssertUnwindSafe(sending).catch_unwind().await.unwrap_or_else(|_| {
        let recipient = destination.recipient();
        error!(%recipient, "failed to compose a message: this is a bug");
        let at = context.sender.ctx.now();
        let response = "the server failed to compose this message; see its log".to_owned();
        Some(AttemptOutcome {
            at,
            took: Duration::ZERO,
            status: None,
            response,
            disposition: SendDisposition::Retry(None),
        })
    });
    (message, destination.kind(), sent)
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
        let new = NewSubscriber {
            id,
            workspace: WORKSPACE,
            settings,
            initial_state: begins,
            idempotency,
        };
        bench.store.subscribers().add(new, change()).await.unwrap();
        let (context, wake_signal) = (Arc::clone(&bench.notifier().0.context), Arc::default());
        (DeliveryWorker { context, recipient: id.into(), wake_signal }, page)
    }

    #[tokio::test]
    async fn reopened_subscriber_is_checked_again_immediately() {
        let bench = NotifierFixture::new().await;
        let (worker, page) = to_a_subscriber(&bench).await;
        let mut state = WorkerState::default();
        worker.cancel_suppressed(&mut state, START).await.unwrap();
        assert!(state.is_due, "the page was opened again meanwhile");

        let members = PageDraft {
            access_type: Some("email-domain".to_owned()),
            auth_email_domains: vec!["acme.com".to_owned()],
            ..a_page()
        };
        let pages = bench.store.pages();
        let seen = pages.get(WORKSPACE, page).await.unwrap();
        pages.update(seen, members.parse().unwrap(), change()).await.unwrap();
        worker.cancel_suppressed(&mut state, START).await.unwrap();
        assert!(!state.is_due, "nothing waits any more");
        let queue = bench.store.outbox().due(worker.recipient, START, 1).await.unwrap();
        assert_eq!(queue.due, []);
    }
}
