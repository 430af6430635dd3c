//! What the pipeline writes: results, missed slots, verdicts and incidents of one batch in one
//! transaction. When it is answered it is committed, and on the disk itself where it decides anything
//! (`writer::disk`); memory is changed after that (design §2).

use std::sync::Arc;

use domain::cadence::Missed;
use domain::check::{CheckResult, Outcome};
use domain::judge::{History, IncidentChange, Transition};
use domain::notify::Grounds;
use rules::{MonitorId, MonitorStatus, Timestamp};

use crate::db::{Connection, query};
use crate::results::{Placed, ResultRow};
use crate::writer::{Durable, Session};
use crate::{Store, StoreError, evidence, incidents, judge_states, missed, outbox, results};

/// What is stored together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Results, in any order; the second of an identity is dropped, here or when it is read.
    pub results: Vec<CheckResult>,
    /// Slots that nobody ran.
    pub missed: Vec<Missed>,
    /// What the judge remembers from now on, of each monitor whose memory changed.
    pub histories: Vec<(MonitorId, History)>,
    /// The same, where stored results say it too: it need not be on the disk at once. Of a monitor that is in
    /// both these are as they are now, and stored last.
    pub votes: Vec<(MonitorId, History)>,
    /// Every change of status with what it means for incidents, in their order: one without is not
    /// seen by those who remember what they read (see [`Store::generation`]).
    pub transitions: Vec<(MonitorId, Transition)>,
    /// Why, with what each region saw last, of the transition at the same place: what people are told.
    pub grounds: Vec<(MonitorId, Grounds)>,
    /// When it was put together, by the core's clock: messages are placed from then on. A transition that
    /// is later takes its own time.
    pub at: Timestamp,
}

/// What became of a batch. What belongs to monitors deleted meanwhile is dropped, and counted for
/// results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Results that are stored.
    pub stored: u64,
    /// Results whose identity another one of the batch has.
    pub duplicates: u64,
    /// Results of monitors that are deleted.
    pub ownerless: u64,
}

impl Batch {
    /// Whether it is results and nothing else.
    fn is_plain(&self) -> bool {
        let Self { results, missed, histories, votes, transitions, grounds: _, at: _ } = self;
        let memory = histories.is_empty() && votes.is_empty();
        let others = missed.is_empty() && transitions.is_empty();
        memory && others && results.iter().all(|result| result.evidence.is_none())
    }

    /// When it is to be on the disk: checks that found nothing, and votes, can wait for the next sync.
    fn durable(&self) -> Durable {
        let Self { results, missed, histories, votes: _, transitions, grounds: _, at: _ } = self;
        let others = missed.is_empty() && histories.is_empty() && transitions.is_empty();
        if others && results.iter().all(|result| result.outcome == Outcome::Success) {
            Durable::Soon
        } else {
            Durable::AtOnce
        }
    }
}

impl Store {
    /// Stores a batch; the answer comes after the commit. Batches that wait together are committed
    /// together. The batch is shared, so that it can be tried again.
    pub async fn commit(&self, batch: Arc<Batch>) -> Result<Committed, StoreError> {
        let shared = Arc::clone(&batch);
        let (committed, placed) = self
            .write_at_once(batch.durable(), move |session| {
                Box::pin(async move { apply(session, &shared).await })
            })
            .await?;
        self.tail().note(&placed);
        Ok(committed)
    }

    /// Like [`Self::commit`], for who has nothing else to do on its thread: where the database is embedded
    /// and nobody else writes, the batch is stored there, and the thread waits for the disk.
    pub async fn commit_here(&self, batch: Arc<Batch>) -> Result<Committed, StoreError> {
        let shared = Arc::clone(&batch);
        let (committed, placed) = self
            .write_here(batch.durable(), move |session| {
                Box::pin(async move { apply(session, &shared).await })
            })
            .await?;
        self.tail().note(&placed);
        Ok(committed)
    }
}

/// Says what became of the batch, and where its results lie.
async fn apply(
    session: &mut Session,
    batch: &Batch,
) -> Result<(Committed, Vec<Placed>), StoreError> {
    session.touches_nothing();
    if !batch.is_plain() {
        session.begin().await?;
    }
    let (mut rows, ownerless) = numbered(session, &batch.results).await?;
    let all = rows.len();
    results::arrange(&mut rows);
    let bodies = results::bodies(&rows);
    if bodies.len() > 1 {
        session.begin().await?;
    }
    let placed = results::insert(&mut session.db, &mut session.ends, &bodies).await?;
    let stored = rows.len() as u64;
    let committed = Committed { stored, duplicates: all as u64 - stored, ownerless };
    evidence::insert(session, &rows).await?;
    for missed in &batch.missed {
        if let Some(number) = session.numbers.monitor(&mut session.db, missed.monitor).await? {
            missed::insert(&mut session.db, number, missed).await?;
        }
    }
    for (place, (monitor, transition)) in batch.transitions.iter().enumerate() {
        if let Some(number) = session.numbers.monitor(&mut session.db, *monitor).await? {
            let (owner, paused) = judge_states::owner(&mut session.db, number).await?;
            session.touches(owner);
            // A pause is stored before the judge hears of it, and closes what is open: of what was
            // judged of the revision before, nothing but the end follows.
            let mut histories = batch.histories.iter().filter(|(of, _)| of == monitor);
            let judged = histories.next_back().map(|(_, history)| history.revision);
            let is_past = paused.zip(judged).is_some_and(|(paused, judged)| judged < paused);
            if is_past && transition.to != MonitorStatus::Unknown {
                continue;
            }
            let is_new = judge_states::note_change(&mut session.db, number, transition).await?
                || turns_incident(&mut session.db, transition).await?;
            change_incident(session, number, transition).await?;
            // What an earlier try of the batch stored was told with it.
            if is_new {
                let grounds = batch.grounds.get(place).filter(|(of, _)| of == monitor);
                let grounds = grounds.map(|(_, grounds)| grounds);
                outbox::note_transition(session, number, transition, grounds, batch.at).await?;
            }
        }
    }
    for (monitor, history) in batch.histories.iter().chain(&batch.votes) {
        if let Some(number) = session.numbers.monitor(&mut session.db, *monitor).await? {
            judge_states::put(&mut session.db, number, history).await?;
        }
    }
    Ok((committed, placed))
}

/// The results with the numbers of their monitors and probes, and how many have no monitor any more.
async fn numbered<'r>(
    session: &mut Session,
    results: &'r [CheckResult],
) -> Result<(Vec<ResultRow<'r>>, u64), StoreError> {
    let mut rows = Vec::with_capacity(results.len());
    let mut ownerless = 0;
    for result in results {
        let Some(monitor) =
            session.numbers.monitor(&mut session.db, result.identity.monitor).await?
        else {
            ownerless += 1;
            continue;
        };
        let probe = session.numbers.probe(&mut session.db, &result.probe).await?;
        rows.push(ResultRow { monitor, probe, result });
    }
    Ok((rows, ownerless))
}

/// Whether the transition opens an incident that is not there, or closes one that is open.
async fn turns_incident(db: &mut Connection, transition: &Transition) -> Result<bool, StoreError> {
    let (id, opens) = match transition.incident {
        IncidentChange::None | IncidentChange::Suspended(_) | IncidentChange::Resumed(_) => {
            return Ok(false);
        }
        IncidentChange::Opened(id) => (id, true),
        IncidentChange::Closed { id, .. } => (id, false),
    };
    let closed_at: Option<Option<i64>> = query("SELECT closed_at FROM incidents WHERE id = $1")
        .bind(id.to_string())
        .scalar(db)
        .await?;
    Ok(if opens { closed_at.is_none() } else { closed_at == Some(None) })
}

async fn change_incident(
    session: &mut Session,
    monitor: i64,
    transition: &Transition,
) -> Result<(), StoreError> {
    match transition.incident {
        IncidentChange::None | IncidentChange::Suspended(_) | IncidentChange::Resumed(_) => Ok(()),
        IncidentChange::Opened(id) => {
            incidents::open(&mut session.db, id, monitor, transition.at).await
        }
        IncidentChange::Closed { id, how } => {
            incidents::close(&mut session.db, id, transition.at, how).await
        }
    }
}
