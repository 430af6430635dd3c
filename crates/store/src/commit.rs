//! Writes a batch of the pipeline in one transaction: results, missed slots, verdicts and
//! incidents. The reply comes after the commit. Changes that decide anything are on disk by then
//! (`writer::durability`). The pipeline records no further input before that, so its
//! memory is at most this batch ahead.

mod transitions;

use std::collections::HashSet;
use std::sync::Arc;

use domain::cadence::Missed;
use domain::check::{CheckResult, Outcome, ProbeName, ResultKey};
use domain::judge::{JudgeState, StoredSuspicion, Transition};
use domain::notify::Cause;
use rules::{MonitorId, Timestamp};

use self::transitions::{DamageHandling, is_damage};
use crate::result_rows::{ResultRow, RowKey};
use crate::subject_watches::Subject;
use crate::writer::{Durability, Session};
use crate::{
    Store, StoreError, evidence, judge_states, missed_slots, probe_suspicions, result_rows,
};

/// Changes that are stored together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Results in any order. The second of two with one key is dropped, here or on reading.
    pub results: Vec<CheckResult>,
    /// Slots that were not run.
    pub missed: Vec<Missed>,
    /// Scheduled checks that were reported late: their slots no longer count as missed.
    pub late: Vec<ResultKey>,
    /// Results of this batch that have no vote, even after a restart.
    pub without_vote: Vec<ResultKey>,
    /// New state of the judge, for each monitor whose state changed.
    pub judge_states: Vec<(MonitorId, JudgeState)>,
    /// New state of the judge that stored results can restore, so it need not be on disk at once.
    /// If a monitor is in both lists, this state is the newer one and is stored last.
    pub deferred_states: Vec<(MonitorId, JudgeState)>,
    /// Changes of status with their effect on incidents, in order. Caches do not notice a change of
    /// status that is missing here (see [`Store::generation`]).
    pub transitions: Vec<(MonitorId, Transition)>,
    /// Cause of the transition at the same index, with the last observation of each region. Alerts
    /// include it.
    pub causes: Vec<(MonitorId, Cause)>,
    /// Probes whose suspicion began or ended.
    pub suspicions: Vec<(ProbeName, StoredSuspicion)>,
    /// Creation time of the batch by the server's clock. Deliveries are scheduled from this time,
    /// or from the time of their transition if that is later.
    pub at: Timestamp,
}

/// Outcome of a batch. Changes of monitors that were deleted meanwhile are dropped; dropped results
/// are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Number of stored results.
    pub stored: u64,
    /// Number of results with the key of another result of the batch.
    pub duplicates: u64,
    /// Number of results of deleted monitors.
    pub ownerless: u64,
}

impl Batch {
    /// Returns whether the batch has only results, none of them with details for the database.
    fn is_plain(&self, successes: &HashSet<ResultKey>) -> bool {
        let Self {
            results,
            missed,
            late,
            without_vote: _,
            judge_states,
            deferred_states,
            transitions,
            causes: _,
            suspicions,
            at: _,
        } = self;
        let states = judge_states.is_empty() && deferred_states.is_empty();
        let memory = states && suspicions.is_empty();
        let others = missed.is_empty() && late.is_empty() && transitions.is_empty();
        memory && others && !results.iter().any(|result| evidence::is_stored(result, successes))
    }

    /// Returns the subjects that the batch changes, some of them several times.
    fn subjects(&self) -> impl Iterator<Item = Subject> {
        let results = self.results.iter().map(|result| result.identity.monitor);
        let missed = self.missed.iter().map(|missed| missed.monitor);
        let late = self.late.iter().map(|late| late.monitor);
        let statuses = self.transitions.iter().map(|(monitor, _)| Subject::Status(*monitor));
        statuses.chain(results.chain(missed).chain(late).map(Subject::Results))
    }

    /// Returns when the batch must be on disk. Successful results and votes can wait for the next
    /// sync.
    fn durability(&self) -> Durability {
        let Self {
            results,
            missed,
            late,
            without_vote: _,
            judge_states,
            deferred_states: _,
            transitions,
            causes: _,
            suspicions,
            at: _,
        } = self;
        let missed = missed.is_empty() && late.is_empty();
        let memory = judge_states.is_empty() && suspicions.is_empty();
        let others = missed && memory && transitions.is_empty();
        if others && results.iter().all(|result| result.outcome == Outcome::Success) {
            Durability::Soon
        } else {
            Durability::AtOnce
        }
    }
}

impl Store {
    /// Stores a batch and returns after the commit. Waiting batches are committed together. The
    /// batch is shared, so that the caller can retry it.
    pub async fn commit(&self, batch: Arc<Batch>) -> Result<Committed, StoreError> {
        Box::pin(self.commit_on(CommitThread::Writer, batch)).await
    }

    /// Like [`Self::commit`], for a caller whose thread has no other work. If the database is
    /// embedded and nothing else writes, the calling thread stores the batch and waits for the
    /// disk.
    pub async fn commit_inline(&self, batch: Arc<Batch>) -> Result<Committed, StoreError> {
        Box::pin(self.commit_on(CommitThread::Caller, batch)).await
    }

    /// Stores a batch, at the second attempt without transitions that need a damaged row. Callers box it,
    /// because each attempt is a large future.
    async fn commit_on(
        &self,
        thread: CommitThread,
        batch: Arc<Batch>,
    ) -> Result<Committed, StoreError> {
        let attempt = async |damage| {
            let shared = SharedBatch::new(self, &batch, damage);
            let due = batch.durability();
            match thread {
                CommitThread::Writer => {
                    self.write_with(due, move |session| Box::pin(apply(session, shared))).await
                }
                CommitThread::Caller => {
                    self.write_inline(due, move |session| Box::pin(apply(session, shared))).await
                }
            }
        };
        let stored = match attempt(DamageHandling::Fail).await {
            Err(why) if is_damage(&why) => attempt(DamageHandling::LeaveOut).await,
            stored => stored,
        };
        Ok(self.record_committed(&batch, &stored?))
    }

    /// Notes in memory, and in the file of successes, what was committed.
    fn record_committed(&self, batch: &Batch, applied: &Applied) -> Committed {
        self.recent_index().record(&applied.row_keys);
        self.successes().store(self.vault(), &batch.results, &applied.successes);
        self.signal_change(batch.subjects());
        applied.committed
    }
}

/// Thread that stores a batch.
#[derive(Clone, Copy, Debug)]
enum CommitThread {
    Writer,
    /// The caller's, if nothing else writes.
    Caller,
}

/// A batch for the writer.
struct SharedBatch {
    batch: Arc<Batch>,
    /// The successes whose details the database keeps.
    successes: HashSet<ResultKey>,
    damage: DamageHandling,
}

/// Result of a batch.
struct Applied {
    committed: Committed,
    /// Where its results are.
    row_keys: Vec<RowKey>,
    successes: HashSet<ResultKey>,
}

impl SharedBatch {
    fn new(store: &Store, batch: &Arc<Batch>, damage: DamageHandling) -> Self {
        let successes = store.successes().due(&batch.results);
        Self { batch: Arc::clone(batch), successes, damage }
    }
}

/// Stores a batch.
async fn apply(session: &mut Session, shared: SharedBatch) -> Result<Applied, StoreError> {
    let SharedBatch { batch, successes, damage } = shared;
    session.declare_no_change();
    if !batch.is_plain(&successes) {
        session.begin().await?;
    }
    let (mut rows, ownerless) = with_row_ids(session, &batch).await?;
    let all = rows.len();
    result_rows::arrange(&mut rows);
    let bodies = result_rows::bodies(&rows);
    if bodies.len() > 1 {
        session.begin().await?;
    }
    let row_keys = result_rows::insert(&mut session.db, &mut session.ends, &bodies).await?;
    let stored = rows.len() as u64;
    let committed = Committed { stored, duplicates: all as u64 - stored, ownerless };
    evidence::insert(session, &rows, &successes).await?;
    let missed = with_monitors(session, &batch.missed, |missed| missed.monitor).await?;
    missed_slots::insert(&mut session.db, missed.into_iter()).await?;
    for late in &batch.late {
        if let Some(number) = session.row_ids.monitor(&mut session.db, late.monitor).await? {
            missed_slots::remove(session, number, late.region, late.slot).await?;
        }
    }
    let left_out = transitions::apply(session, &batch, damage).await?;
    for states in [&batch.judge_states, &batch.deferred_states] {
        let states = with_monitors(session, states, |(monitor, _)| *monitor).await?;
        // A judge that starts again decides again about a transition that was left out.
        let states = states.into_iter().filter(|(_, (monitor, _))| !left_out.contains(monitor));
        let states = states.map(|(number, (_, judge_state))| (number, judge_state));
        judge_states::store(&mut session.db, states).await?;
    }
    for (probe, state) in &batch.suspicions {
        probe_suspicions::store(&mut session.db, probe, state).await?;
    }
    Ok(Applied { committed, row_keys, successes })
}

/// Returns the results with the row IDs of their monitors and probes, and the number of results
/// without a monitor.
async fn with_row_ids<'r>(
    session: &mut Session,
    batch: &'r Batch,
) -> Result<(Vec<ResultRow<'r>>, u64), StoreError> {
    let results = &batch.results;
    let owned = with_monitors(session, results, |result| result.identity.monitor).await?;
    let mut rows = Vec::with_capacity(owned.len());
    for (monitor, result) in owned {
        let probe = session.row_ids.probe(&mut session.db, &result.probe).await?;
        let votes = !batch.without_vote.contains(&result.identity);
        rows.push(ResultRow { monitor, probe, result, votes });
    }
    let ownerless = (results.len() - rows.len()) as u64;
    Ok((rows, ownerless))
}

/// Returns the items whose monitors exist, with the row IDs of these.
async fn with_monitors<'i, T>(
    session: &mut Session,
    items: &'i [T],
    monitor: impl Fn(&T) -> MonitorId,
) -> Result<Vec<(i64, &'i T)>, StoreError> {
    let known = |session: &Session| -> Vec<(i64, &'i T)> {
        let known = |item| Some((session.row_ids.known_monitor(monitor(item))?, item));
        items.iter().filter_map(known).collect()
    };
    let found = known(session);
    if found.len() == items.len() {
        return Ok(found);
    }
    let Session { db, row_ids, .. } = &mut *session;
    row_ids.load_monitors(db, items.iter().map(&monitor)).await?;
    Ok(known(session))
}
