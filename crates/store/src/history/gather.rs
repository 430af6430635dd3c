//! Gathering: moves results that are some minutes old out of the table in the order of time, into
//! blocks by monitor, and sums them up. Nothing remembers how far it came: what stands in `results`
//! is not done yet, and what a block has already is not counted again, so that it may end anywhere
//! and begin anew.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use rules::Timestamp;
use sqlx::AssertSqlSafe;

use super::row::COLUMNS;
use super::{Grain, HistoryStore, Kept, block, sums};
use crate::db::{Connection, query};
use crate::writer::Session;
use crate::{Store, StoreError};

/// Results stay where they were written until a slot so much later has one. Most come in within
/// this time, and a process that starts looks at the slots of the last minutes there.
const SETTLED: Duration = Duration::from_mins(5);
/// Results that one round moves at most: some 20 MiB while it lasts.
const ROUND_ROWS: usize = 400_000;
/// Results read, and taken away, at a time: some MiB as rows.
const SLICE_ROWS: i64 = 2_000;
/// Monitors written in one transaction, which others wait for: some milliseconds.
const MONITORS_AT_ONCE: usize = 64;

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Results looked at; none when there was nothing to do.
    pub results: u64,
    /// Results that were new to the history.
    pub added: u64,
}

/// A stretch of `results` that was read, and how many were in it.
#[derive(Clone, Copy, Debug)]
struct Slice {
    from: i64,
    to: i64,
    rows: i64,
}

impl HistoryStore<'_> {
    /// Moves the oldest results into the history, those of ten minutes at most. To be called again
    /// until there is nothing to do; what is lost on the way is done again by the next call.
    pub async fn gather(&self) -> Result<Gathered, StoreError> {
        let Some((from, to)) = self.due().await? else { return Ok(Gathered::default()) };
        let (by_monitor, slices) = self.read(from, to).await?;
        let mut gathered = Gathered::default();
        let mut monitors: Vec<(i64, Vec<Kept>)> = by_monitor.into_iter().collect();
        while !monitors.is_empty() {
            let chunk = monitors.split_off(monitors.len().saturating_sub(MONITORS_AT_ONCE));
            gathered.results += chunk.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>();
            gathered.added +=
                self.store.write(move |session| Box::pin(keep(session, from, chunk))).await?;
        }
        for slice in slices {
            self.store.write(move |session| Box::pin(take_away(session, slice))).await?;
        }
        let first = first_slot(&mut self.store.read().await?).await?;
        self.store.tail().trim(first.unwrap_or(i64::MAX));
        Ok(gathered)
    }

    /// The stretch that holds the oldest results, where it is old enough.
    async fn due(&self) -> Result<Option<(i64, i64)>, StoreError> {
        let mut db = self.store.read().await?;
        let Some(first) = first_slot(&mut db).await? else { return Ok(None) };
        drop(db);
        let Some(latest) = self.store.results().latest_slot().await? else { return Ok(None) };
        let settled = Grain::TenMinutes.start_of(latest - SETTLED);
        let from = Grain::TenMinutes.start_of(Timestamp::from_millis(first));
        let to = from + Duration::from_millis(Grain::TenMinutes.millis() as u64);
        Ok((to <= settled).then_some((from.as_millis(), to.as_millis())))
    }

    /// Results with slots from `from` to before `to` by monitor, as many as one round moves.
    async fn read(
        &self,
        from: i64,
        to: i64,
    ) -> Result<(HashMap<i64, Vec<Kept>>, Vec<Slice>), StoreError> {
        let mut db = self.store.read().await?;
        let mut by_monitor: HashMap<i64, Vec<Kept>> = HashMap::new();
        let mut slices = Vec::new();
        let (mut at, mut read) = (from, 0);
        while at < to && read < ROUND_ROWS {
            let end = slice_end(&mut db, at, to).await?;
            let statement =
                format!("SELECT monitor, {COLUMNS} FROM results WHERE slot >= $1 AND slot < $2");
            let rows =
                query(AssertSqlSafe(statement)).bind(at).bind(end).fetch_all(&mut db).await?;
            for row in &rows {
                by_monitor.entry(row.try_get(0)?).or_default().push(Kept::read(row, 1)?);
            }
            if !rows.is_empty() {
                slices.push(Slice { from: at, to: end, rows: rows.len() as i64 });
            }
            read += rows.len();
            at = end;
        }
        Ok((by_monitor, slices))
    }
}

/// The end of a stretch from `from` on that holds as many results as are read at a time.
async fn slice_end(db: &mut Connection, from: i64, to: i64) -> Result<i64, StoreError> {
    let slot: Option<i64> = query(
        "SELECT slot FROM results WHERE slot >= $1 AND slot < $2 ORDER BY slot LIMIT 1 OFFSET $3",
    )
    .bind(from)
    .bind(to)
    .bind(SLICE_ROWS)
    .scalar(db)
    .await?;
    Ok(slot.map_or(to, |slot| slot.max(from + 1)))
}

async fn first_slot(db: &mut Connection) -> Result<Option<i64>, StoreError> {
    let first: Option<Option<i64>> = query("SELECT MIN(slot) FROM results").scalar(db).await?;
    Ok(first.flatten())
}

/// Puts results of the stretch that begins at `start` into the blocks of their monitors, adds those
/// that are new there to the sums, and says how many those are.
async fn keep(
    session: &mut Session,
    start: i64,
    monitors: Vec<(i64, Vec<Kept>)>,
) -> Result<u64, StoreError> {
    let db = &mut session.db;
    let keys = |grain: Grain| -> Vec<i64> {
        monitors.iter().map(|(monitor, _)| grain.key(start, *monitor)).collect()
    };
    let mut blocks = read_map(db, Grain::TenMinutes, &keys(Grain::TenMinutes)).await?;
    let mut hours = read_map(db, Grain::Hour, &keys(Grain::Hour)).await?;
    let mut days = read_map(db, Grain::Day, &keys(Grain::Day)).await?;
    let mut added_in_all = 0;
    for (monitor, rows) in monitors {
        let key = Grain::TenMinutes.key(start, monitor);
        let old = blocks.get(&key).map(|body| block::unpack(body, start)).transpose()?;
        let (all, added) = block::merge(old.unwrap_or_default(), rows);
        if added.is_empty() {
            blocks.remove(&key);
            hours.remove(&Grain::Hour.key(start, monitor));
            days.remove(&Grain::Day.key(start, monitor));
            continue;
        }
        added_in_all += added.len() as u64;
        blocks.insert(key, block::pack(&all, start));
        let mut sum = sums::Sums::new();
        for row in &added {
            sums::count(&mut sum, row)?;
        }
        for (grain, bodies) in [(Grain::Hour, &mut hours), (Grain::Day, &mut days)] {
            let key = grain.key(start, monitor);
            let mut merged = bodies.get(&key).map(|body| sums::decode(body)).transpose()?;
            let merged = merged.get_or_insert_default();
            sums::merge(merged, &sum);
            bodies.insert(key, sums::encode(merged));
        }
    }
    Grain::TenMinutes.put(db, blocks.into_iter().collect()).await?;
    Grain::Hour.put(db, hours.into_iter().collect()).await?;
    Grain::Day.put(db, days.into_iter().collect()).await?;
    Ok(added_in_all)
}

/// The bodies with these keys, in the order of keys.
async fn read_map(
    db: &mut Connection,
    grain: Grain,
    keys: &[i64],
) -> Result<BTreeMap<i64, Vec<u8>>, StoreError> {
    Ok(grain.read(db, keys).await?.into_iter().collect())
}

/// Takes away a stretch that was gathered. Where a result came in since, all of it stays and is
/// gathered again.
async fn take_away(session: &mut Session, slice: Slice) -> Result<(), StoreError> {
    let db = &mut session.db;
    let rows: Option<i64> = query("SELECT COUNT(*) FROM results WHERE slot >= $1 AND slot < $2")
        .bind(slice.from)
        .bind(slice.to)
        .scalar(&mut *db)
        .await?;
    if rows == Some(slice.rows) {
        query("DELETE FROM results WHERE slot >= $1 AND slot < $2")
            .bind(slice.from)
            .bind(slice.to)
            .execute(db)
            .await?;
    }
    Ok(())
}

impl Store {
    /// Notes, before the first commit, what the process before left behind.
    pub(crate) async fn begin_tail(&self) -> Result<(), StoreError> {
        if !self.tail().has_begun() {
            let latest = self.results().latest_slot().await?;
            self.tail().begin(latest.map_or(i64::MIN, Timestamp::as_millis));
        }
        Ok(())
    }
}
