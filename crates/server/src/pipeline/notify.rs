//! notify at work: sends what the outbox holds through its channels until the receiver accepts it
//! or it expires. Each channel with due deliveries has a delivery worker. `domain::notify` decides
//! message text, the meaning of responses and retries; the outbox decides what is due.

mod concurrency;
mod destination;
mod dispatcher;
mod fan_out_worker;
mod links;
mod outcome;
mod outgoing;
mod send;
mod smtp;
#[cfg(test)]
mod tests;
mod worker;
mod worker_context;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::notify::{
    CloseReason, Event, EventBatch, Mail, Message, Unconfigured, VendorConfig, delivery_key,
    is_stateful,
};
use pages::SubscriberTokens;
use probe::Client;
use rules::notification::ChannelSettings;
use rules::{ChannelId, ProviderType, Timestamp, WorkspaceId, counted};
use store::{Recipient, Store, StoreError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use web::context::Context;

use self::concurrency::ConcurrencyLimits;
use self::dispatcher::Dispatcher;
use self::outcome::{AttemptOutcome, SendDisposition};
use self::send::{ATTEMPT_WITHIN, SendTarget, Sender};
use self::smtp::Mailer;
use self::worker_context::WorkerContext;
use crate::config::MailServer;
use crate::observe::Metrics;

/// Time between two scans of everything that waits. A scan finds deliveries without a wakeup and
/// updates the metrics of the outbox.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// Pause after the database failed to respond at the start.
const PAUSE: Duration = Duration::from_secs(1);
/// Time that a stop waits for the last results to be recorded.
const RECORD_WITHIN: Duration = Duration::from_secs(2);

const _: () =
    assert!(ATTEMPT_WITHIN.as_secs() + RECORD_WITHIN.as_secs() <= super::STOP_WITHIN.as_secs());

/// Pauses between attempts of an email that a caller waits for. Greylisting mail servers refuse the
/// first attempt.
const EMAIL_PAUSES: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];

/// Dependencies of a notifier.
#[derive(Debug)]
pub struct NotifierParts<'p, Root> {
    pub ctx: Context,
    pub store: Store,
    pub metrics: Metrics,
    pub client: Client,
    /// Mail server; `None` disables email.
    pub mail: Option<MailServer>,
    /// Certificates in DER that the mail client trusts besides the usual ones.
    pub extra_roots: &'p [Root],
    /// Server-side settings of the other kinds.
    pub vendors: VendorConfig,
    /// URL of this server, without a trailing slash.
    pub public_url: Option<String>,
}

/// Sends due deliveries and tests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Notifier(Arc<Dispatcher>);

/// Handle of the sending tasks, which stops them.
#[derive(Debug)]
pub struct RunningNotifier {
    dispatcher: Arc<Dispatcher>,
    listening: JoinHandle<()>,
}

/// Result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Whether the receiver accepted the message.
    pub accepted: bool,
    /// Status of the response, if there was one.
    pub status: Option<u16>,
    /// Response or reason of the failure, on one line and without possible secrets.
    pub response: String,
    /// Time of sending.
    pub at: Timestamp,
    /// Time from the DNS lookup to the response.
    pub took: Duration,
}

impl Notifier {
    /// Creates a notifier that is not started.
    ///
    /// Fails if the mail server cannot be used.
    pub fn new<Root: AsRef<[u8]>>(parts: NotifierParts<'_, Root>) -> Result<Self, String> {
        let NotifierParts { ctx, store, metrics, client, mail, extra_roots, vendors, public_url } =
            parts;
        let mailer = mail.map(|server| Mailer::new(server, extra_roots)).transpose();
        let mailer = mailer.map_err(|error| error.to_string())?;
        let concurrency = ConcurrencyLimits::new();
        let tokens = SubscriberTokens::new(store.session_key());
        let sender = Sender { ctx, client, mailer, vendors, public_url, concurrency, tokens };
        Ok(Self(Arc::new(Dispatcher::new(WorkerContext::new(sender, store, metrics)))))
    }

    /// Starts sending.
    pub fn start(&self) -> RunningNotifier {
        let dispatcher = Arc::clone(&self.0);
        // Subscribe before the first scan, so that nothing is missed.
        let wakeup_receiver = dispatcher.context.store.outbox().listen();
        let listening = tokio::spawn(listen(Arc::clone(&dispatcher), wakeup_receiver));
        RunningNotifier { dispatcher, listening }
    }

    /// Returns the settings that this server lacks to send to a channel of this kind. Returns
    /// `None` if it can send.
    pub fn missing_setting(&self, kind: ProviderType) -> Option<Unconfigured> {
        self.0.context.sender.vendors.missing_setting(kind)
    }

    /// Returns whether WhatsApp messages reach only people who wrote first.
    pub fn is_without_template(&self) -> bool {
        self.0.context.sender.vendors.is_without_template()
    }

    /// Returns whether this server has a public URL. Without one, emails to subscribers cannot
    /// include an unsubscribe link.
    pub fn has_address(&self) -> bool {
        self.0.context.sender.public_url.is_some()
    }

    /// Returns the token that cancels a test before it sends: its caller is gone, or the server
    /// stops.
    pub fn test_stop_token(&self) -> CancellationToken {
        self.0.context.stop.child_token()
    }

    /// Sends the test `event` once, immediately, to a channel with these settings, saved or not.
    /// Sends nothing if `stop` is cancelled first.
    ///
    /// A test bypasses the queue; the caller records it if the channel is saved. If it opens an
    /// alert at the receiver, a second message closes it, even if the caller is gone.
    pub async fn test(
        &self,
        workspace: WorkspaceId,
        channel: ChannelId,
        settings: &ChannelSettings,
        event: &Event,
        stop: &CancellationToken,
    ) -> Result<Tested, StoreError> {
        let now = self.0.context.sender.ctx.now();
        let signing = self.0.context.store.signing_secrets().active(workspace, now).await?;
        // The monitor of a test does not exist, so the link leads to the server itself.
        let link = self.0.context.sender.public_url.as_deref();
        let target = SendTarget { workspace, channel, settings, signing: &signing, link };
        let sent = self.send(target, event, stop).await;
        let Some(sent) = sent else { return Err(StoreError::Closed) };
        let accepted = sent.disposition == SendDisposition::Accepted;
        let mut response = sent.response;
        if accepted && is_stateful(settings.provider.kind()) {
            let over = Event { closed: Some(CloseReason::Recovered), ..event.clone() };
            match self.send(target, &over, &self.0.context.stop).await {
                Some(closed) if closed.disposition == SendDisposition::Accepted => {}
                Some(AttemptOutcome { response: why, .. }) => {
                    response = format!("{response}; what the test opened was not closed: {why}");
                }
                None => response += "; what the test opened was not closed: the server is stopping",
            }
        }
        Ok(Tested { accepted, status: sent.status, response, at: sent.at, took: sent.took })
    }

    /// Sends an email that a caller waits for, in turn with all emails. Retries a few times if the
    /// mail server refuses it.
    ///
    /// Fails with the reason if the email was not sent.
    pub async fn send_email(&self, workspace: WorkspaceId, mail: Mail) -> Result<(), String> {
        let (ctx, stop) = (&self.0.context.sender.ctx, &self.0.context.stop);
        let mut pauses = EMAIL_PAUSES.iter();
        loop {
            let compose = || Ok(Message::Mail(mail.clone()));
            let sent = self
                .0
                .context
                .sender
                .send_composed((workspace, ProviderType::Email), compose, stop)
                .await;
            let Some(sent) = sent else { return Err("the server is stopping".to_owned()) };
            let pause = match sent.disposition {
                SendDisposition::Accepted => return Ok(()),
                SendDisposition::GiveUp => None,
                SendDisposition::Retry(_) => pauses.next(),
            };
            let Some(pause) = pause else { return Err(sent.response) };
            ctx.sleep_until(ctx.now() + *pause).await;
        }
    }

    async fn send(
        &self,
        target: SendTarget<'_>,
        event: &Event,
        stop: &CancellationToken,
    ) -> Option<AttemptOutcome> {
        let key = delivery_key(target.channel, event);
        self.0.context.sender.send_batch(target, EventBatch::One(event), &key, stop).await
    }
}

impl RunningNotifier {
    /// Stops in order: starts nothing new, waits for attempts in progress up to their timeout, and
    /// records their results. The next server sends again what was abandoned.
    pub async fn stop(self) {
        let dispatcher = self.dispatcher;
        dispatcher.context.stop.cancel();
        dispatcher.workers.close();
        let ended =
            tokio::time::timeout(ATTEMPT_WITHIN + RECORD_WITHIN, dispatcher.workers.wait()).await;
        if ended.is_err() {
            warn!("cancelled {} in progress", counted(dispatcher.workers.len(), "delivery worker"));
            dispatcher.context.abandon.cancel();
            dispatcher.workers.wait().await;
        }
        if let Err(why) = self.listening.await {
            warn!("alert delivery failed: {why}");
        }
    }
}

/// Wakes a delivery worker for each wakeup, and scans periodically for missed ones.
async fn listen(dispatcher: Arc<Dispatcher>, mut wakeups: UnboundedReceiver<Recipient>) {
    loop {
        // A scan takes longer the more there is to clean up. No alert waits for it.
        let looked = wake_workers_during(&dispatcher, &mut wakeups, run_round(&dispatcher)).await;
        let Some(looked) = looked else { return };
        if let Err(error) = &looked {
            warn!(%error, "failed to read the outbox: {error}");
        }
        let rest = sleep_until_scan(&dispatcher.context.sender.ctx, looked.ok().flatten());
        if wake_workers_during(&dispatcher, &mut wakeups, rest).await.is_none() {
            return;
        }
    }
}

/// Runs `work` and wakes delivery workers meanwhile. Returns `None` if the server stops first, so
/// that an unresponsive database does not delay the stop.
async fn wake_workers_during<T>(
    dispatcher: &Arc<Dispatcher>,
    wakeup_receiver: &mut UnboundedReceiver<Recipient>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            () = dispatcher.context.stop.cancelled() => return None,
            done = &mut work => return Some(done),
            Some(recipient) = wakeup_receiver.recv() => dispatcher.wake(recipient),
        }
    }
}

/// Waits until the next scan. After a database failure it waits by the machine's own clock.
async fn sleep_until_scan(ctx: &Context, next_look: Option<Timestamp>) {
    match next_look {
        Some(at) => ctx.sleep_until(at).await,
        None => tokio::time::sleep(PAUSE).await,
    }
}

/// Updates what the clock changes, and then wakes what waits. Returns the time of the next round.
async fn run_round(dispatcher: &Arc<Dispatcher>) -> Result<Option<Timestamp>, StoreError> {
    let now = dispatcher.context.sender.ctx.now();
    let announced_at = maintain_subscribers(&dispatcher.context.store, now).await;
    // Alerts do not wait for announcements that fail.
    wake_waiting(dispatcher).await?;
    let announced_at = announced_at?;
    let round = now + SCAN_INTERVAL;
    Ok(Some(announced_at.map_or(round, |at| at.min(round))))
}

/// Announces maintenance and removes unconfirmed addresses that expired. Returns the time of the
/// next announcement.
async fn maintain_subscribers(
    store: &Store,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let announced_at = store.subscribers().announce_maintenance(now).await?;
    store.subscribers().expire(now).await?;
    Ok(announced_at)
}

/// Starts workers for waiting deliveries, and updates the metrics.
async fn wake_waiting(dispatcher: &Arc<Dispatcher>) -> Result<(), StoreError> {
    for recipient in dispatcher.context.store.outbox().waiting().await? {
        dispatcher.wake_new(recipient);
    }
    let counts = dispatcher.context.store.outbox().counts().await?;
    dispatcher
        .context
        .metrics
        .deliveries_waiting
        .set(i64::try_from(counts.waiting).unwrap_or(i64::MAX));
    dispatcher.context.metrics.deliveries_dead.set(i64::try_from(counts.dead).unwrap_or(i64::MAX));
    Ok(())
}
