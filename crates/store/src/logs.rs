//! Response logs: the single results of one monitor, newest first. Results of the last minutes are
//! in `recent_results`, older ones in the blocks of the history. Callers do not see the difference.

mod detailed;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use domain::check::{CheckResult, Outcome, ResultKey, Trigger};
use rules::{MonitorId, Region, Timestamp, WorkspaceId};

use self::detailed::Detailed;
use crate::buckets::{self, BucketSize};
use crate::db::Connection;
use crate::history;
use crate::quarantine::Quarantine;
use crate::stored_result::{self, Key, StoredResult};
use crate::{Store, StoreError, codes, evidence};

/// Number of blocks that the first query of a listing reads. Each further query reads twice as
/// many.
const FIRST_BLOCKS: i64 = 4;
/// Maximum number of blocks per query.
const MOST_BLOCKS: i64 = 128;
/// Number of blocks that one listing reads: two weeks. After that, the page ends early.
const LISTING_BLOCKS: i64 = 2_016;
/// Number of blocks that a listing reads while it has found nothing. It exceeds the default
/// retention, so that a page is not empty if another one follows.
const EMPTY_LISTING_BLOCKS: i64 = 3 * LISTING_BLOCKS;
/// Maximum number of evidence rows of one slot that are searched: each region and trigger, and some
/// revisions.
const EVIDENCE_OF_A_SLOT: u32 = 200;

/// Handle of the response logs.
#[derive(Clone, Copy, Debug)]
pub struct Logs<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the response logs of single monitors.
    pub const fn logs(&self) -> Logs<'_> {
        Logs { store: self }
    }
}

/// Filter of a listing. An empty list matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    pub outcomes: Vec<Outcome>,
    pub regions: Vec<Region>,
    pub triggers: Vec<Trigger>,
    /// First slot, inclusive.
    pub from: Option<Timestamp>,
    /// Last slot, exclusive.
    pub to: Option<Timestamp>,
    /// Only those whose details are kept.
    pub with_details: bool,
}

/// Key of a result within its monitor, and cursor of a listing, which goes backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogCursor {
    pub slot: Timestamp,
    pub region: Region,
    pub trigger: Trigger,
    /// Revision of the monitor that was checked.
    pub revision: u32,
}

/// Page of a listing.
#[derive(Clone, Debug)]
pub struct LogPage {
    /// Results, newest first, without evidence.
    pub logs: Vec<CheckResult>,
    /// Checks whose details are stored; those of this page are among them.
    pub details: HashSet<ResultKey>,
    /// Cursor of the next page, which begins after it. `None` on the last page.
    pub next: Option<LogCursor>,
}

impl Logs<'_> {
    /// Returns results of a monitor after a cursor, newest first, at most `limit`. Reads at most
    /// two weeks, or six if nothing is found, so a page can be short and still have a next one.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        filter: &LogFilter,
        after: Option<LogCursor>,
        limit: u32,
    ) -> Result<LogPage, StoreError> {
        let mut db = self.store.read().await?;
        let number = history::number(&mut db, workspace, monitor).await?;
        let query = LogQuery::new(filter, after, limit as usize);
        let detailed = Detailed::begin(self.store, monitor, number);
        let mut found = DistinctResults::default();
        for row in history::recent(self.store, &mut db, monitor, number).await? {
            found.add(&query, row);
        }
        let (rows, next) = if filter.with_details {
            detailed.page(&mut db, &query, found).await?
        } else {
            let settled =
                found.search_back(self.store.quarantine(), &mut db, &query, number).await?;
            found.page(&query, settled)?
        };
        let names = stored_result::probe_names(&mut db).await?;
        let logs: Vec<CheckResult> =
            rows.iter().map(|row| row.result(monitor, &names)).collect::<Result<_, _>>()?;
        let mut slots: Vec<i64> = rows.iter().map(|row| row.slot).collect();
        slots.dedup();
        let mut details = {
            let quarantine = self.store.quarantine();
            evidence::of_slots((quarantine, &mut db), (monitor, number), &slots).await?
        };
        details.extend(detailed.successes());
        Ok(LogPage { logs, details, next })
    }

    /// Returns one result with its evidence, if that was stored.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        cursor: LogCursor,
    ) -> Result<CheckResult, StoreError> {
        let mut db = self.store.read().await?;
        let number = history::number(&mut db, workspace, monitor).await?;
        let mut rows = history::recent(self.store, &mut db, monitor, number).await?;
        let block = BucketSize::TenMinutes.key(cursor.slot.as_millis(), number);
        for (key, body) in BucketSize::TenMinutes.read(&mut db, &[block]).await? {
            rows.extend(history::unpack_readable(self.store.quarantine(), key, &body)?);
        }
        let row = rows
            .iter()
            .find(|row| row.key() == cursor.key())
            .ok_or_else(|| StoreError::not_found("response log", &cursor.slot))?;
        let mut result = row.result(monitor, &stored_result::probe_names(&mut db).await?)?;
        drop(db);
        let of_slot = (cursor.slot, cursor.slot);
        let evidence = self.store.evidence();
        let entries = evidence.between(workspace, monitor, of_slot, EVIDENCE_OF_A_SLOT).await?;
        let own = entries.into_iter().find(|entry| entry.identity == result.identity);
        result.evidence = own.map(|entry| Arc::clone(&entry.evidence)).or_else(|| {
            let success = self.store.successes().find(self.store.vault(), &result.identity);
            success.map(Arc::new)
        });
        Ok(result)
    }
}

impl LogCursor {
    const fn key(&self) -> Key {
        let region = codes::region_code(self.region) as u8;
        let trigger = codes::trigger_code(self.trigger) as u8;
        (self.slot.as_millis(), region, trigger, self.revision)
    }

    fn from_key((slot, region, trigger, revision): Key) -> Result<Self, StoreError> {
        Ok(Self {
            slot: Timestamp::from_millis(slot),
            region: codes::region(i64::from(region))?,
            trigger: codes::trigger(i64::from(trigger))?,
            revision,
        })
    }
}

/// Filter, in the codes of stored rows.
struct LogQuery {
    outcomes: Vec<u8>,
    regions: Vec<u8>,
    triggers: Vec<u8>,
    /// First slot, inclusive.
    from: i64,
    /// Upper bound of keys, exclusive.
    before: Option<Key>,
    limit: usize,
}

impl LogQuery {
    fn new(filter: &LogFilter, after: Option<LogCursor>, limit: usize) -> Self {
        let to = filter.to.map(|to| (to.as_millis(), 0, 0, 0));
        let after = after.map(|cursor| cursor.key());
        let code = |code: i64| code as u8;
        Self {
            outcomes: filter.outcomes.iter().map(|it| code(codes::outcome_code(*it))).collect(),
            regions: filter.regions.iter().map(|it| code(codes::region_code(*it))).collect(),
            triggers: filter.triggers.iter().map(|it| code(codes::trigger_code(*it))).collect(),
            from: filter.from.map_or(i64::MIN, Timestamp::as_millis),
            before: [to, after].into_iter().flatten().min(),
            limit,
        }
    }

    fn matches(&self, row: &StoredResult) -> bool {
        self.matches_key(row.key(), row.outcome)
    }

    /// Whether a result with this key and outcome is asked for.
    fn matches_key(&self, key: Key, outcome: u8) -> bool {
        let (slot, region, trigger, _) = key;
        let any = |query: &[u8], code| query.is_empty() || query.contains(&code);
        slot >= self.from
            && self.before.is_none_or(|before| key < before)
            && any(&self.outcomes, outcome)
            && any(&self.regions, region)
            && any(&self.triggers, trigger)
    }
}

/// Distinct results found so far.
#[derive(Default)]
struct DistinctResults(BTreeMap<Key, StoredResult>);

impl DistinctResults {
    fn add(&mut self, log_query: &LogQuery, row: StoredResult) {
        if log_query.matches(&row) {
            self.0.insert(row.key(), row);
        }
    }

    /// Reads blocks, newest first, until the page is full or no blocks remain. Returns the slot
    /// from which the results are complete.
    async fn search_back(
        &mut self,
        quarantine: &Quarantine,
        db: &mut Connection,
        query: &LogQuery,
        monitor: i64,
    ) -> Result<i64, StoreError> {
        let size = BucketSize::TenMinutes;
        let Some((first, last)) = size.edges(db).await? else { return Ok(i64::MIN) };
        let first = first.max(size.number(query.from));
        let mut end = 1 + query.before.map_or(last, |(slot, ..)| last.min(size.number(slot)));
        let (mut looked, mut step) = (0, FIRST_BLOCKS);
        while end > first {
            let settled = end * size.millis();
            let is_full = self.0.range((settled, 0, 0, 0)..).nth(query.limit).is_some();
            let most = if self.0.is_empty() { EMPTY_LISTING_BLOCKS } else { LISTING_BLOCKS };
            if is_full || looked >= most {
                return Ok(settled);
            }
            let begin = first.max(end - step);
            let keys: Vec<i64> = (begin..end).map(|bucket| buckets::key(bucket, monitor)).collect();
            for (key, body) in size.read(db, &keys).await? {
                for row in history::unpack_readable(quarantine, key, &body)? {
                    self.add(query, row);
                }
            }
            looked += end - begin;
            step = MOST_BLOCKS.min(2 * step);
            end = begin;
        }
        Ok(i64::MIN)
    }

    /// Returns the page of results from `settled` on, and the cursor of the next page.
    fn page(
        self,
        query: &LogQuery,
        settled: i64,
    ) -> Result<(Vec<StoredResult>, Option<LogCursor>), StoreError> {
        let mut rows: Vec<StoredResult> =
            self.0.range((settled, 0, 0, 0)..).rev().map(|(_, row)| *row).collect();
        if rows.len() > query.limit {
            rows.truncate(query.limit);
            let next = rows.last().map(|last| LogCursor::from_key(last.key())).transpose()?;
            return Ok((rows, next));
        }
        let next =
            (settled > i64::MIN).then(|| LogCursor::from_key((settled, 0, 0, 0))).transpose()?;
        Ok((rows, next))
    }
}
