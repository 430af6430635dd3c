//! notify at work: what the outbox holds is sent through its channels, until each receiver has it or its
//! time is over. A courier goes out for every channel that has something due. What a message says, what
//! an answer means and when to try again is decided by `domain::notify`; what is due, by the outbox.

mod courier;
mod destination;
mod mail;
mod messenger;
mod parcel;
mod places;
mod reading;
mod rounds;
mod send;
#[cfg(test)]
mod tests;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::notify::{
    Ended, Event, Mail, Message, Notice, Servers, Unconfigured, event_key, keeps_alerts,
};
use probe::Client;
use rules::notification::ChannelSettings;
use rules::{ChannelId, ProviderType, Timestamp, WorkspaceId};
use store::{Store, StoreError, Woken};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use self::mail::Mailer;
use self::places::Places;
use self::rounds::Rounds;
use self::send::{Sender, Sent, TRY_WITHIN, Target, Verdict};
use crate::config::MailServer;
use crate::context::Context;
use crate::observe::Metrics;
use crate::status_page::Tickets;

/// Time between two looks at everything that waits: whatever was not heard of is found then, and the
/// figures of the outbox are as old as this.
const ROUND: Duration = Duration::from_secs(30);
/// Pause after the database did not answer at the start.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a stop waits for what was sent to be written down, once the last try has ended.
const RECORD_WITHIN: Duration = Duration::from_secs(5);

/// Pauses before an email that somebody waits for is tried again: servers that do not know a sender
/// refuse the first try.
const POST_PAUSES: [Duration; 3] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_mins(2)];

/// What sending takes.
#[derive(Debug)]
pub struct Parts<'p, Root> {
    /// Time and chance.
    pub ctx: Context,
    /// Where deliveries wait.
    pub store: Store,
    /// What is counted.
    pub metrics: Metrics,
    /// The way out.
    pub client: Client,
    /// What emails are sent through.
    pub mail: Option<MailServer>,
    /// Certificates in DER that it is trusted by besides the usual ones.
    pub extra_roots: &'p [Root],
    /// The server's side of the other kinds.
    pub servers: Servers,
    /// Where people reach this server, without a slash at the end.
    pub public_url: Option<String>,
}

/// Sends what is due, and tests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Notifier(Arc<Rounds>);

/// The tasks that send, for the one who stops them.
#[derive(Debug)]
pub struct Running {
    rounds: Arc<Rounds>,
    listening: JoinHandle<()>,
}

/// What came of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tested {
    /// Whether the receiver took it.
    pub accepted: bool,
    /// Status of its answer, where there was one.
    pub status: Option<u16>,
    /// What it said or why it did not, in one line without what may be a secret.
    pub answer: String,
    /// When it was sent.
    pub at: Timestamp,
    /// From the look-up to the answer.
    pub took: Duration,
}

impl Notifier {
    /// A notifier that sends nothing yet; or why the mail server cannot be used.
    pub fn new<Root: AsRef<[u8]>>(parts: Parts<'_, Root>) -> Result<Self, String> {
        let Parts { ctx, store, metrics, client, mail, extra_roots, servers, public_url } = parts;
        let mailer = mail.map(|server| Mailer::new(server, extra_roots)).transpose();
        let mailer = mailer.map_err(|error| error.to_string())?;
        let places = Places::new();
        let tickets = Tickets::new(store.session_key());
        let sender = Sender { ctx, client, mailer, servers, public_url, places, tickets };
        Ok(Self(Arc::new(Rounds::new(sender, store, metrics))))
    }

    /// Begins to send what waits and what is going to.
    pub fn start(&self) -> Running {
        let rounds = Arc::clone(&self.0);
        // Listening first and asking then leaves nothing out.
        let news = rounds.store.outbox().listen();
        let listening = tokio::spawn(listen(Arc::clone(&rounds), news));
        Running { rounds, listening }
    }

    /// What a channel of this kind lacks on this server; `None` where it can send.
    pub fn lacking(&self, kind: ProviderType) -> Option<Unconfigured> {
        self.0.sender.servers.lacking(kind)
    }

    /// Whether WhatsApp messages reach only people who wrote before.
    pub fn is_without_template(&self) -> bool {
        self.0.sender.servers.is_without_template()
    }

    /// Whether people reach this server: without that no letter to a subscriber can say where it ends.
    pub fn has_address(&self) -> bool {
        self.0.sender.public_url.is_some()
    }

    /// What ends a test that has not begun to send: nobody waits for it any more, or the server stops.
    pub fn stop_of_a_test(&self) -> CancellationToken {
        self.0.stop.child_token()
    }

    /// Sends `event`, which is a test, now and once, to a channel with these settings, saved or not,
    /// unless `stop` comes before. It passes no queue and nothing of it is stored. What a test opens at a
    /// receiver that keeps alerts is closed by a second message, also where nobody waits any more.
    pub async fn test(
        &self,
        workspace: WorkspaceId,
        channel: ChannelId,
        settings: &ChannelSettings,
        event: &Event,
        stop: &CancellationToken,
    ) -> Result<Tested, StoreError> {
        let now = self.0.sender.ctx.now();
        let signing = self.0.store.signing_secrets().of(workspace, now).await?;
        // What a test tells of is no monitor that there is: it leads to the server itself.
        let read_at = self.0.sender.public_url.as_deref();
        let target = Target { workspace, channel, settings, signing: &signing, read_at };
        let sent = self.tell(target, event, stop).await;
        let Some(sent) = sent else { return Err(StoreError::Closed) };
        let accepted = sent.verdict == Verdict::Accepted;
        let mut answer = sent.answer;
        if accepted && keeps_alerts(settings.provider.kind()) {
            let over = Event { closed: Some(Ended::Recovered), ..event.clone() };
            match self.tell(target, &over, &self.0.stop).await {
                Some(closed) if closed.verdict == Verdict::Accepted => {}
                Some(Sent { answer: why, .. }) => {
                    answer = format!("{answer}; what the test opened was not closed: {why}");
                }
                None => answer += "; what the test opened was not closed: the server is stopping",
            }
        }
        Ok(Tested { accepted, status: sent.status, answer, at: sent.at, took: sent.took })
    }

    /// Sends an email that somebody waits for, in its turn among all emails, and a few times where the mail
    /// server does not take it at once; or why it did not go out.
    pub async fn post(&self, workspace: WorkspaceId, mail: Mail) -> Result<(), String> {
        let (ctx, stop) = (&self.0.sender.ctx, &self.0.stop);
        let mut pauses = POST_PAUSES.iter();
        loop {
            let compose = || Ok(Message::Mail(mail.clone()));
            let sent =
                self.0.sender.send_composed((workspace, ProviderType::Email), compose, stop).await;
            let Some(sent) = sent else { return Err("the server is stopping".to_owned()) };
            let pause = match sent.verdict {
                Verdict::Accepted => return Ok(()),
                Verdict::Never => None,
                Verdict::Again(_) => pauses.next(),
            };
            let Some(pause) = pause else { return Err(sent.answer) };
            ctx.sleep_until(ctx.now() + *pause).await;
        }
    }

    async fn tell(
        &self,
        target: Target<'_>,
        event: &Event,
        stop: &CancellationToken,
    ) -> Option<Sent> {
        let key = event_key(target.channel, event);
        self.0.sender.tell(target, Notice::One(event), &key, stop).await
    }
}

impl Running {
    /// Stops in order: nothing more is begun, what is on its way has as long as a try may take, and
    /// what arrived is written down. What is given up is sent again by the next server.
    pub async fn stop(self) {
        let rounds = self.rounds;
        rounds.stop.cancel();
        rounds.couriers.close();
        let ended = tokio::time::timeout(TRY_WITHIN + RECORD_WITHIN, rounds.couriers.wait()).await;
        if ended.is_err() {
            warn!("{} deliveries were still in flight and were cancelled", rounds.couriers.len());
            rounds.abandon.cancel();
            rounds.couriers.wait().await;
        }
        if let Err(why) = self.listening.await {
            warn!("alert delivery failed: {why}");
        }
    }
}

/// Calls a courier for whatever is heard of, and once in a while for what was not.
async fn listen(rounds: Arc<Rounds>, mut news: UnboundedReceiver<Woken>) {
    loop {
        // Looking around takes as long as there is to tidy up, which no alert waits for.
        let looked = meanwhile(&rounds, &mut news, look_around(&rounds)).await;
        let Some(looked) = looked else { return };
        if let Err(error) = &looked {
            warn!(%error, "failed to read the outbox: {error}");
        }
        let rest = rest(&rounds.sender.ctx, looked.ok().flatten());
        if meanwhile(&rounds, &mut news, rest).await.is_none() {
            return;
        }
    }
}

/// Does `work`, and calls couriers for what is heard of until it is done; `None` where the server stops
/// before: a database that takes nothing must not hold that up.
async fn meanwhile<T>(
    rounds: &Arc<Rounds>,
    news: &mut UnboundedReceiver<Woken>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            () = rounds.stop.cancelled() => return None,
            done = &mut work => return Some(done),
            Some(woken) = news.recv() => rounds.call(woken.addressee),
        }
    }
}

/// Ends when it is time to look around again; a database that did not answer is asked by the machine's
/// own clock.
async fn rest(ctx: &Context, next_look: Option<Timestamp>) {
    match next_look {
        Some(at) => ctx.sleep_until(at).await,
        None => tokio::time::sleep(PAUSE).await,
    }
}

/// Finds what waits and nobody was called for, what time itself brings, and the figures; says when to
/// look again.
async fn look_around(rounds: &Arc<Rounds>) -> Result<Option<Timestamp>, StoreError> {
    let now = rounds.sender.ctx.now();
    let turns_at = rounds.store.subscribers().herald(now).await?;
    rounds.store.subscribers().expire(now).await?;
    for woken in rounds.store.outbox().waiting().await? {
        rounds.call_new(woken.addressee);
    }
    let counts = rounds.store.outbox().counts().await?;
    rounds.metrics.deliveries_waiting.set(i64::try_from(counts.waiting).unwrap_or(i64::MAX));
    rounds.metrics.deliveries_dead.set(i64::try_from(counts.dead).unwrap_or(i64::MAX));
    let round = now + ROUND;
    Ok(Some(turns_at.map_or(round, |at| at.min(round))))
}
