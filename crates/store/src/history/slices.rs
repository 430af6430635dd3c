//! Reading what is to be gathered: a stretch of `results` in slices, of each as much as belongs to
//! some monitors. SQLite hands over a slice as a few long texts, because a value by itself costs as
//! much as reading the row it stands in; PostgreSQL hands over rows.

use sqlx::AssertSqlSafe;

use super::Kept;
use super::row::{COLUMNS, phases_of_hex};
use crate::StoreError;
use crate::db::{Connection, query};

/// Results of one slice: some hundred KiB while it is read, some milliseconds to take away.
const SLICE_ROWS: i64 = 2_000;
/// Results of a part: some 10 MiB while it is gathered.
const PART_ROWS: i64 = 100_000;
/// Each part reads over the rows of all: where there are more results than these parts hold, parts
/// are larger.
const PARTS_MAX: i64 = 16;

/// One text for each number of a row, and the phases: what is small shares a number.
const SQLITE_SLICE: &str = "SELECT group_concat(monitor), group_concat(slot), \
     group_concat((((revision * 256 + attempts) * 4 + outcome) * 4 + trigger) * 32 + region), \
     group_concat(finished_after), group_concat(latency_us), \
     group_concat(probe * 131072 + coalesce(status, 65536)), group_concat(hex(phases)) \
     FROM results WHERE slot >= $1 AND slot < $2 AND monitor >= $3 AND monitor <= $4";

/// A stretch of `results`, and how many of its results were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) rows: u64,
}

/// Monitors by their numbers, both ends among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monitors {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// The slices of a stretch of time.
pub(super) async fn all(db: &mut Connection, from: i64, to: i64) -> Result<Vec<Slice>, StoreError> {
    let mut slices = Vec::new();
    let mut at = from;
    while at < to {
        let slot: Option<i64> = query(
            "SELECT slot FROM results WHERE slot >= $1 AND slot < $2 \
             ORDER BY slot LIMIT 1 OFFSET $3",
        )
        .bind(at)
        .bind(to)
        .bind(SLICE_ROWS)
        .scalar(db)
        .await?;
        let end = slot.map_or(to, |slot| slot.max(at + 1));
        slices.push(Slice { from: at, to: end, rows: 0 });
        at = end;
    }
    Ok(slices)
}

/// All monitors of a stretch, in parts of about as many results where monitors are much alike.
pub(super) async fn parts(
    db: &mut Connection,
    from: i64,
    to: i64,
) -> Result<Vec<Monitors>, StoreError> {
    let row = query(
        "SELECT COUNT(*), MIN(monitor), MAX(monitor) FROM results WHERE slot >= $1 AND slot < $2",
    )
    .bind(from)
    .bind(to)
    .fetch_one(db)
    .await?;
    let (first, last): (Option<i64>, Option<i64>) = (row.try_get(1)?, row.try_get(2)?);
    let Some((first, last)) = first.zip(last) else { return Ok(Vec::new()) };
    let parts = PARTS_MAX.min(1 + row.try_get::<i64>(0)? / PART_ROWS);
    let step = ((last - first) / parts + 1) as usize;
    let begins = (first..=last).step_by(step);
    Ok(begins.map(|first| Monitors { first, last: first + step as i64 - 1 }).collect())
}

/// Results of `slice` that belong to `monitors`, with their monitors' numbers.
pub(super) async fn read(
    db: &mut Connection,
    slice: Slice,
    monitors: Monitors,
) -> Result<Vec<(i64, Kept)>, StoreError> {
    if db.is_embedded() {
        read_texts(db, slice, monitors).await
    } else {
        read_rows(db, slice, monitors).await
    }
}

async fn read_rows(
    db: &mut Connection,
    slice: Slice,
    monitors: Monitors,
) -> Result<Vec<(i64, Kept)>, StoreError> {
    let statement = format!(
        "SELECT monitor, {COLUMNS} FROM results \
         WHERE slot >= $1 AND slot < $2 AND monitor >= $3 AND monitor <= $4"
    );
    let rows = query(AssertSqlSafe(statement))
        .bind(slice.from)
        .bind(slice.to)
        .bind(monitors.first)
        .bind(monitors.last)
        .fetch_all(db)
        .await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, Kept::read(row, 1)?))).collect()
}

async fn read_texts(
    db: &mut Connection,
    slice: Slice,
    monitors: Monitors,
) -> Result<Vec<(i64, Kept)>, StoreError> {
    let row = query(SQLITE_SLICE)
        .bind(slice.from)
        .bind(slice.to)
        .bind(monitors.first)
        .bind(monitors.last)
        .fetch_one(db)
        .await?;
    let numbers: Option<&str> = row.try_get(0)?;
    let Some(numbers) = numbers else { return Ok(Vec::new()) };
    let column = |number| row.try_get::<&str>(number).map(|text| text.split(','));
    let (mut slots, mut codes, mut ends) = (column(1)?, column(2)?, column(3)?);
    let (mut latencies, mut rest, mut phases) = (column(4)?, column(5)?, column(6)?);
    let mut kept = Vec::with_capacity(SLICE_ROWS as usize);
    for number in numbers.split(',') {
        let (codes, rest) = (integer(codes.next())?, integer(rest.next())?);
        let row = Kept {
            slot: integer(slots.next())?,
            finished_after: integer(ends.next())?,
            revision: (codes >> 17) as u32,
            latency_us: integer(latencies.next())? as u32,
            probe: (rest >> 17) as u32,
            status: u16::try_from(rest & 0x1_FFFF).ok(),
            region: (codes & 0x1F) as u8,
            trigger: (codes >> 5 & 0b11) as u8,
            outcome: (codes >> 7 & 0b11) as u8,
            attempts: (codes >> 9 & 0xFF) as u8,
            phases: phases_of_hex(phases.next().unwrap_or_default())?,
        };
        kept.push((integer(Some(number))?, row));
    }
    Ok(kept)
}

fn integer(text: Option<&str>) -> Result<i64, StoreError> {
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| StoreError::corrupt("results", "a number is none"))
}
