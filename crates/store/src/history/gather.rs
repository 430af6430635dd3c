//! Gathering: moves results that are some minutes old out of the table in the order of time, into
//! blocks by monitor, and sums them up. Nothing remembers how far it came: what stands in `recent_results`
//! is not done yet, and what a block has already is not counted again, so that it may end anywhere
//! and begin anew.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use domain::judge::RECALLED;

use super::grain::stretch_of;
use super::{Grain, HistoryStore, Kept, block, grain_key, sums};
use crate::StoreError;
use crate::db::{Connection, query};
use crate::quarantine::{self, Damaged, is_unreadable};
use crate::results::{self, RowsBetween};
use crate::writer::Session;

/// Results stay where they were written until a slot so much later has one. Most come in within
/// this time, and a process that starts looks at the slots of the last minutes there.
const SETTLED: Duration = Duration::from_mins(5);
const _: () = assert!(SETTLED.as_secs() >= RECALLED.as_secs());
/// Results whose monitors are written in one transaction, which others wait for: some milliseconds.
const WRITTEN_AT_ONCE: usize = 2_000;
/// Rows that are taken away in one transaction: as long.
const TAKEN_AT_ONCE: u64 = 250;
/// Bytes of bodies that are gathered together: some 100,000 results, which are some 10 MiB meanwhile.
const PART_BYTES: i64 = 5_000_000;
/// Each part reads over the results of all: where there are more than these parts hold, parts are larger.
const PARTS_MAX: i64 = 16;

/// What a round did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathered {
    /// Results looked at; none when there was nothing to do.
    pub results: u64,
    /// Results that were new to the history.
    pub added: u64,
}

/// What a monitor's stretch comes to, ready to be written.
#[derive(Default)]
struct Bodies {
    damaged: Vec<Damaged>,
    blocks: Vec<(i64, Vec<u8>)>,
    hours: Vec<(i64, Vec<u8>)>,
    days: Vec<(i64, Vec<u8>)>,
    added: u64,
}

impl HistoryStore<'_> {
    /// Moves the oldest results into the history, those of ten minutes at most. To be called again
    /// until there is nothing to do; what is lost on the way is done again by the next call. All
    /// is read and reckoned beside the writer, who only writes, a few milliseconds at a time.
    pub async fn gather(&self) -> Result<Gathered, StoreError> {
        let mut gathered = Gathered::default();
        // The connection comes first: who has one may wait for who is alone.
        let mut db = self.store.read().await?;
        // Who else gathers would write sums of what is older than the first one's.
        let alone = self.store.tail().alone().await;
        alone.learn(&mut db).await?;
        let Some(due) = due(&mut db).await? else { return Ok(gathered) };
        let start = Grain::TenMinutes.start(*due.start());
        let mut damaged = Vec::new();
        for part in parts(&mut db, &due).await? {
            let (by_monitor, unread) = read(&mut db, &due, &part).await?;
            damaged = unread;
            for chunk in chunks(by_monitor) {
                gathered.results += chunk.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>();
                gathered.added += self.keep(&mut db, start, chunk).await?;
            }
        }
        if !damaged.is_empty() {
            self.store.quarantine().note_all(&damaged);
            self.store.write(move |session| Box::pin(keep_damaged(session, damaged))).await?;
        }
        // From here on who reads finds it in the blocks.
        self.store.tail().trim(&due);
        let mut taken = TAKEN_AT_ONCE;
        while taken >= TAKEN_AT_ONCE {
            let due = due.clone();
            taken = self.store.write(|session| Box::pin(take_away(session, due))).await?;
        }
        Ok(gathered)
    }

    /// Puts results of the stretch that begins at `start` into the blocks of their monitors, adds
    /// those that are new there to the sums, and says how many those are.
    async fn keep(
        &self,
        db: &mut Connection,
        start: i64,
        monitors: Vec<(i64, Vec<Kept>)>,
    ) -> Result<u64, StoreError> {
        let bodies = bodies(db, start, monitors).await?;
        let added = bodies.added;
        self.store.quarantine().note_all(&bodies.damaged);
        if added > 0 {
            self.store.write(move |session| Box::pin(put(session, bodies))).await?;
        }
        Ok(added)
    }
}

/// The rows of the stretch that holds the oldest results, where it is old enough: what comes in from now on
/// lies behind them.
async fn due(db: &mut Connection) -> Result<Option<RangeInclusive<i64>>, StoreError> {
    let Some((first, latest)) = results::edges(db).await? else { return Ok(None) };
    // The last row is of about now; where it is not, because it came late, the next one will be.
    let mut slot = i64::MIN;
    RowsBetween::keys(latest, latest).each(db, |_, row| slot = slot.max(row.slot)).await?;
    // Nothing of the last row may be readable: its key names the stretch.
    slot = slot.max(Grain::TenMinutes.start(latest));
    let settled = slot.saturating_sub(SETTLED.as_millis() as i64);
    let stretch = stretch_of(first);
    if Grain::TenMinutes.number(settled) <= stretch {
        return Ok(None);
    }
    let last: Option<Option<i64>> = query("SELECT MAX(key) FROM recent_results WHERE key < $1")
        .bind(grain_key(stretch + 1, 0))
        .scalar(db)
        .await?;
    Ok(last.flatten().map(|last| first..=last))
}

/// All monitors by their numbers, in parts of about as many results where monitors are much alike.
async fn parts(
    db: &mut Connection,
    due: &RangeInclusive<i64>,
) -> Result<Vec<RangeInclusive<i64>>, StoreError> {
    let bytes: Option<Option<i64>> = query(
        "SELECT CAST(SUM(LENGTH(body)) AS BIGINT) FROM recent_results WHERE key >= $1 AND key <= $2",
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

/// Results of these monitors in these rows, by monitor, and the rows that cannot be read to their end.
async fn read(
    db: &mut Connection,
    due: &RangeInclusive<i64>,
    monitors: &RangeInclusive<i64>,
) -> Result<(HashMap<i64, Vec<Kept>>, Vec<Damaged>), StoreError> {
    let mut by_monitor: HashMap<i64, Vec<Kept>> = HashMap::new();
    let rows = RowsBetween::keys(*due.start(), *due.end());
    let add = |monitor, row| {
        if monitors.contains(&monitor) {
            by_monitor.entry(monitor).or_default().push(row);
        }
    };
    let damaged = rows.each(db, add).await?;
    Ok((by_monitor, damaged))
}

/// Monitors in the order of their numbers, as many at a time as are written together.
fn chunks(
    by_monitor: HashMap<i64, Vec<Kept>>,
) -> impl Iterator<Item = Vec<(i64, Vec<Kept>)>> + Send {
    let mut monitors: Vec<(i64, Vec<Kept>)> = by_monitor.into_iter().collect();
    monitors.sort_unstable_by_key(|(monitor, _)| *monitor);
    let mut rest = monitors.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut chunk = vec![rest.next()?];
        let mut rows = chunk[0].1.len();
        while let Some(next) = rest.next_if(|(_, more)| rows + more.len() <= WRITTEN_AT_ONCE) {
            rows += next.1.len();
            chunk.push(next);
        }
        Some(chunk)
    })
}

/// What is to be written of results of the stretch that begins at `start`.
async fn bodies(
    db: &mut Connection,
    start: i64,
    monitors: Vec<(i64, Vec<Kept>)>,
) -> Result<Bodies, StoreError> {
    let keys = |grain: Grain| -> Vec<i64> {
        monitors.iter().map(|(monitor, _)| grain.key(start, *monitor)).collect()
    };
    let blocks = read_map(db, Grain::TenMinutes, &keys(Grain::TenMinutes)).await?;
    let hours = read_map(db, Grain::Hour, &keys(Grain::Hour)).await?;
    let days = read_map(db, Grain::Day, &keys(Grain::Day)).await?;
    let mut bodies = Bodies::default();
    for (monitor, rows) in monitors {
        let key = Grain::TenMinutes.key(start, monitor);
        let read = blocks.get(&key).map(|body| block::unpack(body, start));
        let old = bodies.sound(Grain::TenMinutes, key, read)?;
        let (all, added) = block::merge(old.unwrap_or_default(), rows);
        if added.is_empty() {
            continue;
        }
        bodies.added += added.len() as u64;
        bodies.blocks.push((key, block::pack(&all, start)));
        let mut sum = sums::Sums::new();
        for row in &added {
            sums::count(&mut sum, row)?;
        }
        let mut add = |grain: Grain, old: &HashMap<i64, Vec<u8>>| {
            let key = grain.key(start, monitor);
            let read = old.get(&key).map(|body| sums::decode(body));
            let mut merged = bodies.sound(grain, key, read)?.unwrap_or_default();
            sums::merge(&mut merged, &sum);
            Ok::<_, StoreError>((key, sums::encode(&merged)))
        };
        let (hour, day) = (add(Grain::Hour, &hours)?, add(Grain::Day, &days)?);
        bodies.hours.push(hour);
        bodies.days.push(day);
    }
    Ok(bodies)
}

impl Bodies {
    /// What was read of an older body. One that cannot be read makes room for a new one.
    fn sound<T>(
        &mut self,
        grain: Grain,
        key: i64,
        read: Option<Result<T, StoreError>>,
    ) -> Result<Option<T>, StoreError> {
        match read {
            Some(Err(why)) if is_unreadable(&why) => {
                self.damaged.push(Damaged::new(grain.table(), key, &why));
                Ok(None)
            }
            read => read.transpose(),
        }
    }
}

/// The bodies with these keys.
async fn read_map(
    db: &mut Connection,
    grain: Grain,
    keys: &[i64],
) -> Result<HashMap<i64, Vec<u8>>, StoreError> {
    Ok(grain.read(db, keys).await?.into_iter().collect())
}

/// Writes blocks and the sums of what is new in them, in one transaction.
async fn put(session: &mut Session, bodies: Bodies) -> Result<(), StoreError> {
    session.touches_nothing();
    quarantine::put_away(session, &bodies.damaged).await?;
    let db = &mut session.db;
    Grain::TenMinutes.put(db, bodies.blocks).await?;
    Grain::Hour.put(db, bodies.hours).await?;
    Grain::Day.put(db, bodies.days).await
}

/// Keeps rows that cannot be read beside the ones that are taken away.
async fn keep_damaged(session: &mut Session, damaged: Vec<Damaged>) -> Result<(), StoreError> {
    session.touches_nothing();
    quarantine::put_away(session, &damaged).await
}

/// Takes away the first of the rows that were gathered, and says how many.
async fn take_away(session: &mut Session, due: RangeInclusive<i64>) -> Result<u64, StoreError> {
    session.touches_nothing();
    let taken = query(
        "DELETE FROM recent_results WHERE key >= $1 AND key <= (SELECT MAX(key) FROM \
         (SELECT key FROM recent_results WHERE key >= $1 AND key <= $2 ORDER BY key LIMIT $3) AS first)",
    )
    .bind(*due.start())
    .bind(*due.end())
    .bind(TAKEN_AT_ONCE as i64)
    .execute(&mut session.db)
    .await?;
    Ok(taken)
}
