//! The courier of one channel or subscriber: takes what is due, in order per monitor or thread, has it
//! sent, writes down what came of it, and looks again; at most a few at a time. It ends when nothing waits, and sleeps while what waits
//! is for later. Which deliveries are told together is decided in `parcel`.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::notify::{NextTry, next_try};
use futures_util::FutureExt as _;
use rules::{ProviderType, Timestamp};
use store::{Addressee, Left, Outbox, StoreError, Then, Tried};
use tokio::task::{JoinError, JoinSet};
use tracing::{debug, error, warn};

use super::destination::{Destination, Found};
use super::parcel::{Fix, Parcel, UnderWay, parcels};
use super::reading;
use super::rounds::{Bell, Rounds};
use super::send::{Sent, Verdict};
use crate::observe::metrics::MessageOutcome;

/// Messages to one addressee that are on their way at a time.
const AT_A_TIME: usize = 4;
/// First pause after the database did not answer; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The courier of one channel or subscriber.
pub(super) struct Courier {
    pub(super) rounds: Arc<Rounds>,
    pub(super) addressee: Addressee,
    pub(super) bell: Arc<Bell>,
}

/// A parcel that came back: from a receiver of this kind, and what came of it where it was begun.
type Back = (Parcel, ProviderType, Option<Sent>);

/// What is on its way, and when to look for more.
#[derive(Default)]
struct Course {
    out: JoinSet<Back>,
    under_way: UnderWay,
    next_at: Option<Timestamp>,
    is_due: bool,
}

impl Courier {
    /// Works until nothing waits, or the server stops.
    pub(super) async fn run(self) {
        let mut course = Course { is_due: true, ..Course::default() };
        let rounds = &*self.rounds;
        loop {
            let is_stopping = rounds.stop.is_cancelled();
            if course.is_due && course.out.len() < AT_A_TIME && !is_stopping {
                self.look(&mut course).await;
            }
            if course.out.is_empty() {
                let is_done = !course.is_due && course.next_at.is_none();
                if is_stopping || (is_done && rounds.retire(self.addressee, &self.bell)) {
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

    /// Begins what is due and has a place. While the database does not answer it looks again and
    /// again.
    async fn look(&self, course: &mut Course) {
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

    async fn begin(&self, course: &mut Course) -> Result<(), StoreError> {
        let (rounds, outbox) = (&self.rounds, self.rounds.store.outbox());
        let now = rounds.sender.ctx.now();
        let room = AT_A_TIME - course.out.len();
        let asked = u32::try_from(AT_A_TIME + course.under_way.len()).unwrap_or(u32::MAX);
        let queue = outbox.due(self.addressee, now, asked).await?;
        // What is due and not begun now waits for what is on its way, whose end is heard.
        course.is_due = false;
        course.next_at = queue.next_at;
        if queue.due.is_empty() {
            return Ok(());
        }
        // The deliveries of whom is deleted are cancelled with it: this is the moment between.
        let destination = match Destination::find(&rounds.store, self.addressee, now).await? {
            Found::Is(destination) => Arc::new(*destination),
            Found::Nobody => return Ok(()),
            Found::NotTold(why) => {
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

    /// Tells nothing of what waits to who was found shut out. Who may hear again since then is told now,
    /// and not at the next round.
    async fn leave(&self, course: &mut Course, now: Timestamp) -> Result<(), StoreError> {
        // Channels and pages are told whatever it is.
        let Addressee::Subscriber(id) = self.addressee else { return Ok(()) };
        course.is_due = self.rounds.store.outbox().leave(id, now).await? == Left::Hears;
        Ok(())
    }

    /// Writes down what came of a try, and of those that ended with it.
    async fn ended(&self, course: &mut Course, first: Result<Back, JoinError>) {
        let mut tried = Vec::new();
        let mut next = Some(first);
        while let Some(ended) = next {
            // A task that was given up says nothing; panics are caught within it.
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

    /// What follows a try, the same for all that were told together.
    fn conclude(&self, kind: ProviderType, parcel: &Parcel, sent: &Sent, tried: &mut Vec<Tried>) {
        let rounds = &self.rounds;
        let now = rounds.sender.ctx.now();
        let then = match sent.verdict {
            Verdict::Accepted => Then::Accepted,
            Verdict::Never => Then::Dead,
            Verdict::Again(asked) => {
                let first = parcel.first_try_at().unwrap_or(sent.at);
                let tries = parcel.tries().saturating_add(1);
                match next_try(first, now, tries, asked, rounds.sender.ctx.chance()) {
                    NextTry::At(at) => Then::Again(at),
                    NextTry::Dead => Then::Dead,
                }
            }
        };
        let outcome = match then {
            Then::Accepted => MessageOutcome::Accepted,
            Then::Again(_) => MessageOutcome::Again,
            Then::Dead => MessageOutcome::Dead,
        };
        rounds.metrics.messages(kind, outcome).inc();
        for due in &parcel.dues {
            let (id, addressee, status) = (due.id, self.addressee, sent.status);
            match then {
                Then::Accepted => {
                    let seconds = now.since(due.content.at()).as_secs_f64();
                    rounds.metrics.message_seconds.observe(seconds);
                    debug!(delivery.id = %id, %addressee, "delivery {id} was accepted");
                }
                Then::Again(at) => debug!(
                    delivery.id = %id, %addressee, status,
                    "delivery {id} failed and will be retried at {at}"
                ),
                Then::Dead => warn!(
                    delivery.id = %id, %addressee, status, tries = due.tries + 1,
                    "delivery {id} to {addressee} about {} is a dead letter; `aloft notifications \
                     deliveries` says why", due.content.about()
                ),
            }
            let answer = sent.answer.clone();
            let number = due.attempts + 1;
            tried.push(Tried { id, number, at: sent.at, took: sent.took, status, answer, then });
        }
    }

    /// Writes down what was tried, however long the database takes: what arrived is not sent again by
    /// this process because it could not be written down.
    async fn record(&self, tried: Vec<Tried>) {
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

impl Course {
    /// There is nobody to ask any more.
    fn rest(&mut self) {
        self.is_due = false;
        self.next_at = None;
    }
}

/// Writes down what every other try has to tell, before the first; what is not to be told any more is
/// left out.
async fn fix(outbox: Outbox<'_>, parcel: &mut Parcel) -> Result<(), StoreError> {
    let told = match parcel.to_fix() {
        None => return Ok(()),
        Some(Fix::Together(key)) => outbox.begin_storm(&parcel.ids(), key.to_owned()).await?,
        Some(Fix::Alone(id)) => {
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

/// Ends when the clock shows `instant`; never without one.
async fn at(rounds: &Rounds, instant: Option<Timestamp>) {
    match instant {
        Some(instant) => rounds.sender.ctx.sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Sends a parcel when its turn comes; nothing is begun once the server stops.
async fn deliver(rounds: Arc<Rounds>, destination: Arc<Destination>, parcel: Parcel) -> Back {
    let told = async {
        let read_at = match &*destination {
            Destination::Channel(channel, _) => {
                let events = parcel.events();
                reading::place(&rounds.store, &rounds.sender, channel.workspace, &events).await
            }
            // Who subscribed to a page is led to that page.
            Destination::Subscriber(..) => None,
        };
        destination.tell(&rounds.sender, &parcel, read_at.as_deref(), &rounds.stop).await
    };
    let sent = AssertUnwindSafe(told).catch_unwind().await.unwrap_or_else(|_| {
        let addressee = destination.addressee();
        error!(%addressee, "failed to compose a message: this is a bug");
        let at = rounds.sender.ctx.now();
        let answer = "the server failed to compose this message; see its log".to_owned();
        let verdict = Verdict::Again(None);
        Some(Sent { at, took: Duration::ZERO, status: None, answer, verdict })
    });
    (parcel, destination.kind(), sent)
}

#[cfg(test)]
mod tests {
    use rules::status_page::{PageDraft, SubscriberDraft};
    use rules::{PageId, SubscriberId};
    use store::{Begins, NewPage, NewSubscriber};

    use super::super::tests::{Bench, START, WORKSPACE, change};
    use super::*;

    fn a_page() -> PageDraft {
        let (title, slug) = (Some("Acme".to_owned()), Some("acme".to_owned()));
        PageDraft { title, slug, ..PageDraft::default() }
    }

    /// A courier to somebody to whom a letter waits, and the page.
    async fn to_a_subscriber(bench: &Bench) -> (Courier, PageId) {
        let (page, id) = (PageId::from_bits(1), SubscriberId::from_bits(1));
        let (settings, idempotency) = (a_page().parse().unwrap(), None);
        let new = NewPage { id: page, workspace: WORKSPACE, settings, idempotency };
        bench.store.pages().create(new, change()).await.unwrap();
        let (page_id, email) = (Some(page.to_string()), Some("eve@example.com".to_owned()));
        let draft = SubscriberDraft { page_id, email, ..SubscriberDraft::default() };
        let (settings, begins, idempotency) = (draft.parse().unwrap(), Begins::Asked, None);
        let new = NewSubscriber { id, workspace: WORKSPACE, settings, begins, idempotency };
        bench.store.subscribers().add(new, change()).await.unwrap();
        let (rounds, bell) = (bench.notifier().0, Arc::default());
        (Courier { rounds, addressee: id.into(), bell }, page)
    }

    #[tokio::test]
    async fn who_may_hear_again_since_a_look_is_looked_after_again_at_once() {
        let bench = Bench::new().await;
        let (courier, page) = to_a_subscriber(&bench).await;
        let mut course = Course::default();
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
