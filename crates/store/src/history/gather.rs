//! Gathering: moves results that are some minutes old out of the table in the order of time, into
//! blocks by monitor, and sums them up. Nothing remembers how far it came: what stands in `results`
//! is not done yet, and what a block has already is not counted again, so that it may end anywhere
//! and begin anew.

use std::collections::HashMap;
use std::time::Duration;

use rules::Timestamp;

use super::slices::{self, Monitors, Slice};
use super::{Grain, HistoryStore, Kept, block, sums};
use crate::StoreError;
use crate::db::{Connection, query};
use crate::writer::Session;

/// Results stay where they were written until a slot so much later has one. Most come in within
/// this time, and a process that starts looks at the slots of the last minutes there.
const SETTLED: Duration = Duration::from_mins(5);
/// Results whose monitors are written in one transaction, which others wait for: some milliseconds.
const WRITTEN_AT_ONCE: usize = 2_000;

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
        // Who else gathers would write sums of what is older than the first one's.
        let _alone = self.store.tail().gathering().await;
        let mut gathered = Gathered::default();
        let Some((from, to)) = self.due().await? else { return Ok(gathered) };
        let mut db = self.store.read().await?;
        let mut slices = slices::all(&mut db, from, to).await?;
        for part in slices::parts(&mut db, from, to).await? {
            let by_monitor = read(&mut db, &mut slices, part).await?;
            for chunk in chunks(by_monitor) {
                gathered.results += chunk.iter().map(|(_, rows)| rows.len() as u64).sum::<u64>();
                gathered.added += self.keep(&mut db, from, chunk).await?;
            }
        }
        for slice in slices.into_iter().filter(|slice| slice.rows > 0) {
            self.take_away(slice).await?;
        }
        let first = first_slot(&mut db).await?;
        self.store.tail().trim(first.unwrap_or(i64::MAX));
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
        if added > 0 {
            self.store.write(move |session| Box::pin(put(session, bodies))).await?;
        }
        Ok(added)
    }

    /// Takes away a stretch that was gathered. Where a result came in since, all of it stays and is
    /// gathered again.
    async fn take_away(&self, slice: Slice) -> Result<(), StoreError> {
        let taken = self.store.write(move |session| Box::pin(take_away(session, slice))).await;
        match taken {
            Err(StoreError::Conflict { .. }) => Ok(()),
            taken => taken,
        }
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
}

/// Results of `monitors` in all slices by monitor; notes how many were read of each slice.
async fn read(
    db: &mut Connection,
    slices: &mut [Slice],
    monitors: Monitors,
) -> Result<HashMap<i64, Vec<Kept>>, StoreError> {
    let mut by_monitor: HashMap<i64, Vec<Kept>> = HashMap::new();
    for slice in slices {
        let rows = slices::read(db, *slice, monitors).await?;
        slice.rows += rows.len() as u64;
        for (monitor, row) in rows {
            by_monitor.entry(monitor).or_default().push(row);
        }
    }
    Ok(by_monitor)
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

async fn first_slot(db: &mut Connection) -> Result<Option<i64>, StoreError> {
    let first: Option<Option<i64>> = query("SELECT MIN(slot) FROM results").scalar(db).await?;
    Ok(first.flatten())
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
        let old = blocks.get(&key).map(|body| block::unpack(body, start)).transpose()?;
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
        let add = |grain: Grain, old: &HashMap<i64, Vec<u8>>| {
            let key = grain.key(start, monitor);
            let mut merged = old.get(&key).map(|body| sums::decode(body)).transpose()?;
            let merged = merged.get_or_insert_default();
            sums::merge(merged, &sum);
            Ok::<_, StoreError>((key, sums::encode(merged)))
        };
        bodies.hours.push(add(Grain::Hour, &hours)?);
        bodies.days.push(add(Grain::Day, &days)?);
    }
    Ok(bodies)
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
    let db = &mut session.db;
    Grain::TenMinutes.put(db, bodies.blocks).await?;
    Grain::Hour.put(db, bodies.hours).await?;
    Grain::Day.put(db, bodies.days).await
}

async fn take_away(session: &mut Session, slice: Slice) -> Result<(), StoreError> {
    session.touches_nothing();
    let taken = query("DELETE FROM results WHERE slot >= $1 AND slot < $2")
        .bind(slice.from)
        .bind(slice.to)
        .execute(&mut session.db)
        .await?;
    if taken == slice.rows {
        Ok(())
    } else {
        // Undoes it.
        Err(StoreError::Conflict { what: "results from", id: slice.from.to_string() })
    }
}
