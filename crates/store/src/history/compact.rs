//! Compaction: moves results that are some minutes old from `recent_results`, which is in order of
//! time, into blocks by monitor, and updates the rollups. No progress is stored. Results in
//! `recent_results` are pending, and results that a block contains are not counted again. An
//! interrupted round can therefore simply run again.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use domain::judge::RECALL_PERIOD;

use super::{HistoryStore, block, days, rollups};
use crate::StoreError;
use crate::buckets::{self, BucketSize, bucket_of};
use crate::db::{Connection, query};
use crate::quarantine::{self, Damaged, is_unreadable};
use crate::result_rows::{self, RowsBetween};
use crate::stored_result::StoredResult;
use crate::writer::Session;

/// Age at which results are compacted, measured from the latest slot. Most results arrive within
/// this time, and a starting process reads the slots of the last minutes from `recent_results`.
const SETTLED: Duration = Duration::from_mins(5);
const _: () = assert!(SETTLED.as_secs() >= RECALL_PERIOD.as_secs());
/// Maximum number of results per transaction. Other writers wait a few milliseconds for it.
const RESULTS_PER_TRANSACTION: usize = 2_000;
/// Maximum number of rows deleted per transaction, for a similar duration.
const DELETES_PER_TRANSACTION: u64 = 250;
/// Bytes of bodies that are compacted together: about 100,000 results, which need about 10 MiB of
/// memory.
const PART_BYTES: i64 = 5_000_000;
/// Maximum number of parts. Each part reads the results of all monitors, so parts grow if there is
/// more data.
const PARTS_MAX: i64 = 16;

/// Outcome of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactionStats {
    /// Number of results read. 0 if there was nothing to do.
    pub results: u64,
    /// Number of results that were new to the history.
    pub added: u64,
}

/// Blocks and rollups that are ready to be written.
#[derive(Default)]
struct Bodies {
    damaged: Vec<Damaged>,
    blocks: Vec<(i64, Vec<u8>)>,
    hours: Vec<(i64, Vec<u8>)>,
    days: Vec<(i64, Vec<u8>)>,
    added: u64,
}

impl HistoryStore<'_> {
    /// Moves the oldest results into the history, at most those of ten minutes. Call it until there
    /// is nothing to do. The next call repeats interrupted work. Reading and computing happen
    /// beside the writer, which only writes, for a few milliseconds at a time.
    pub async fn compact(&self) -> Result<CompactionStats, StoreError> {
        let mut stats = CompactionStats::default();
        // Take the connection before the lock to avoid a deadlock.
        let mut db = self.store.read().await?;
        // A second compaction at the same time would write rollups based on outdated ones.
        let alone = self.store.recent_index().lock_compaction().await;
        alone.index_existing(&mut db).await?;
        let Some(due) = due(&mut db).await? else { return Ok(stats) };
        let start = BucketSize::TenMinutes.start(*due.start());
        let mut damaged = Vec::new();
        for part in parts(&mut db, &due).await? {
            let (by_monitor, unread) = read(&mut db, &due, &part).await?;
            damaged = unread;
            for chunk in chunks(by_monitor) {
                stats.results += chunk.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>();
                stats.added += self.store_bucket(&mut db, start, chunk).await?;
            }
        }
        if !damaged.is_empty() {
            self.store.quarantine().record_all(&damaged);
            self.store.write(move |session| Box::pin(store_damaged(session, damaged))).await?;
        }
        // From here on, readers find the results in the blocks.
        self.store.recent_index().trim(&due);
        let mut taken = DELETES_PER_TRANSACTION;
        while taken >= DELETES_PER_TRANSACTION {
            let due = due.clone();
            taken = self.store.write(|session| Box::pin(delete_compacted(session, due))).await?;
        }
        Ok(stats)
    }

    /// Merges results of the bucket that begins at `start` into the blocks of their monitors, and
    /// adds the new ones to the rollups. Returns the number of new ones.
    async fn store_bucket(
        &self,
        db: &mut Connection,
        start: i64,
        monitors: Vec<(i64, Vec<StoredResult>)>,
    ) -> Result<u64, StoreError> {
        let bodies = bodies(db, start, monitors).await?;
        let added = bodies.added;
        self.store.quarantine().record_all(&bodies.damaged);
        if added > 0 {
            self.store.write(move |session| Box::pin(write(session, bodies))).await?;
        }
        Ok(added)
    }
}

/// Returns the rows of the bucket with the oldest results, if it is old enough. Later results get
/// keys after these rows.
async fn due(db: &mut Connection) -> Result<Option<RangeInclusive<i64>>, StoreError> {
    let Some((first, latest)) = result_rows::edges(db).await? else { return Ok(None) };
    // The last row is usually recent. If it is a late one, the next row will be recent.
    let mut slot = i64::MIN;
    RowsBetween::keys(latest, latest).each(db, |_, row| slot = slot.max(row.slot)).await?;
    // If the last row is unreadable, its key still gives the bucket.
    slot = slot.max(BucketSize::TenMinutes.start(latest));
    let settled = slot.saturating_sub(SETTLED.as_millis() as i64);
    let bucket = bucket_of(first);
    if BucketSize::TenMinutes.number(settled) <= bucket {
        return Ok(None);
    }
    let last: Option<Option<i64>> = query("SELECT MAX(key) FROM recent_results WHERE key < $1")
        .bind(buckets::key(bucket + 1, 0))
        .scalar(db)
        .await?;
    Ok(last.flatten().map(|last| first..=last))
}

/// Returns ranges of row IDs that cover all monitors. Parts have about equal numbers of results if
/// the monitors are similar.
async fn parts(
    db: &mut Connection,
    due: &RangeInclusive<i64>,
) -> Result<Vec<RangeInclusive<i64>>, StoreError> {
    let bytes: Option<Option<i64>> = query(
        "SELECT CAST(SUM(LENGTH(body)) AS BIGINT) FROM recent_results WHERE key >= $1 \
         AND key <= $2",
    )
    .bind(*due.start())
    .bind(*due.end())
    .scalar(db)
    .await?;
    let last: Option<Option<i64>> = query("SELECT MAX(number) FROM monitors").scalar(db).await?;
    let parts = PARTS_MAX.min(1 + bytes.flatten().unwrap_or(0) / PART_BYTES);
    let step = last.flatten().unwrap_or(0) / parts + 1;
    Ok((0..parts).map(|part| part * step..=(part + 1) * step - 1).collect())
}

/// Returns the results of these monitors in these rows, by monitor, and the rows that are
/// unreadable or truncated.
async fn read(
    db: &mut Connection,
    due: &RangeInclusive<i64>,
    monitors: &RangeInclusive<i64>,
) -> Result<(HashMap<i64, Vec<StoredResult>>, Vec<Damaged>), StoreError> {
    let mut by_monitor: HashMap<i64, Vec<StoredResult>> = HashMap::new();
    let rows = RowsBetween::keys(*due.start(), *due.end());
    let add = |monitor, row| {
        if monitors.contains(&monitor) {
            by_monitor.entry(monitor).or_default().push(row);
        }
    };
    let damaged = rows.each(db, add).await?;
    Ok((by_monitor, damaged))
}

/// Splits monitors, in order of row IDs, into chunks that are written together.
fn chunks(
    by_monitor: HashMap<i64, Vec<StoredResult>>,
) -> impl Iterator<Item = Vec<(i64, Vec<StoredResult>)>> + Send {
    let mut monitors: Vec<(i64, Vec<StoredResult>)> = by_monitor.into_iter().collect();
    monitors.sort_unstable_by_key(|(monitor, _)| *monitor);
    let mut rest = monitors.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut chunk = vec![rest.next()?];
        let mut rows = chunk[0].1.len();
        while let Some(next) =
            rest.next_if(|(_, more)| rows + more.len() <= RESULTS_PER_TRANSACTION)
        {
            rows += next.1.len();
            chunk.push(next);
        }
        Some(chunk)
    })
}

/// Returns the blocks and rollups to write for results of the bucket that begins at `start`.
async fn bodies(
    db: &mut Connection,
    start: i64,
    monitors: Vec<(i64, Vec<StoredResult>)>,
) -> Result<Bodies, StoreError> {
    let keys = |size: BucketSize| -> Vec<i64> {
        monitors.iter().map(|(monitor, _)| size.key(start, *monitor)).collect()
    };
    let blocks = read_map(db, BucketSize::TenMinutes, &keys(BucketSize::TenMinutes)).await?;
    let hours = read_map(db, BucketSize::Hour, &keys(BucketSize::Hour)).await?;
    let days = read_map(db, BucketSize::Day, &keys(BucketSize::Day)).await?;
    let mut bodies = Bodies::default();
    for (monitor, rows) in monitors {
        let key = BucketSize::TenMinutes.key(start, monitor);
        let read = blocks.get(&key).map(|body| block::unpack(body, start));
        let old = bodies.decode_existing(BucketSize::TenMinutes, key, read)?;
        let (all, added) = block::merge(old.unwrap_or_default(), rows);
        if added.is_empty() {
            continue;
        }
        bodies.added += added.len() as u64;
        bodies.blocks.push((key, block::pack(&all, start)));
        let mut sum = rollups::Rollups::new();
        for row in &added {
            rollups::count(&mut sum, row)?;
        }
        let mut add = |size: BucketSize, old: &HashMap<i64, Vec<u8>>| {
            let key = size.key(start, monitor);
            let read = old.get(&key).map(|body| rollups::decode(body));
            let mut merged = bodies.decode_existing(size, key, read)?.unwrap_or_default();
            rollups::merge(&mut merged, &sum);
            Ok::<_, StoreError>((key, rollups::encode(&merged)))
        };
        let (hour, day) = (add(BucketSize::Hour, &hours)?, add(BucketSize::Day, &days)?);
        bodies.hours.push(hour);
        bodies.days.push(day);
    }
    Ok(bodies)
}

impl Bodies {
    /// Returns the older body. An unreadable one is recorded, so that a new one can replace it.
    fn decode_existing<T>(
        &mut self,
        size: BucketSize,
        key: i64,
        read: Option<Result<T, StoreError>>,
    ) -> Result<Option<T>, StoreError> {
        match read {
            Some(Err(why)) if is_unreadable(&why) => {
                self.damaged.push(Damaged::new(size.table(), key, &why));
                Ok(None)
            }
            read => read.transpose(),
        }
    }
}

/// Returns the bodies with these keys.
async fn read_map(
    db: &mut Connection,
    size: BucketSize,
    keys: &[i64],
) -> Result<HashMap<i64, Vec<u8>>, StoreError> {
    Ok(size.read(db, keys).await?.into_iter().collect())
}

/// Writes blocks, and rollups of their new results, in one transaction.
async fn write(session: &mut Session, bodies: Bodies) -> Result<(), StoreError> {
    session.declare_no_change();
    quarantine::move_unreadable(&mut session.db, &bodies.damaged).await?;
    let db = &mut session.db;
    days::create(db, bodies.blocks.iter().map(|(key, _)| *key)).await?;
    BucketSize::TenMinutes.store(db, bodies.blocks).await?;
    BucketSize::Hour.store(db, bodies.hours).await?;
    BucketSize::Day.store(db, bodies.days).await
}

/// Moves unreadable rows to `unreadable_rows` before their originals are deleted.
async fn store_damaged(session: &mut Session, damaged: Vec<Damaged>) -> Result<(), StoreError> {
    session.declare_no_change();
    quarantine::move_unreadable(&mut session.db, &damaged).await
}

/// Deletes the first of the compacted rows. Returns their number.
async fn delete_compacted(
    session: &mut Session,
    due: RangeInclusive<i64>,
) -> Result<u64, StoreError> {
    session.declare_no_change();
    let taken = query(
        "DELETE FROM recent_results WHERE key >= $1 AND key <= (SELECT MAX(key) FROM \
         (SELECT key FROM recent_results WHERE key >= $1 AND key <= $2 ORDER BY key \
         LIMIT $3) AS first)",
    )
    .bind(*due.start())
    .bind(*due.end())
    .bind(DELETES_PER_TRANSACTION as i64)
    .execute(&mut session.db)
    .await?;
    Ok(taken)
}
