//! Rollups of an hour or a day. One body holds all regions of a monitor, so that 90 days are 90
//! rows.

use std::collections::{BTreeMap, HashSet};

use domain::check::Trigger;
use domain::history::{Sum, Unreadable, varint};
use rules::{Region, Timestamp};

use super::{Grain, Kept};
use crate::db::Connection;
use crate::quarantine::Quarantine;
use crate::{StoreError, codes};

/// Rollups by region.
pub(super) type Sums = BTreeMap<Region, Sum>;

/// Returns the rollups of a monitor from `since`, a whole hour: hours up to midnight, then days.
/// Adds `recent`, the results that were recently uncompacted. Those compacted by now are found in
/// their blocks, which are read in the same statement as the rollups, so each result counts once.
pub(super) async fn read(
    quarantine: &Quarantine,
    db: &mut Connection,
    (monitor, since): (i64, Timestamp),
    recent: &[Kept],
) -> Result<Sums, StoreError> {
    let since = since.as_millis();
    let midnight =
        (since + Grain::Day.millis() - 1).div_euclid(Grain::Day.millis()) * Grain::Day.millis();
    let hours: Vec<i64> = (Grain::Hour.number(since)..Grain::Hour.number(midnight))
        .map(|hour| super::grain::key(hour, monitor))
        .collect();
    let last = Grain::Day.edge(db, super::grain::Edge::Last).await?;
    // Days of uncompacted results are not stored yet.
    let last = last.into_iter().chain(recent.iter().map(|row| Grain::Day.number(row.slot))).max();
    let days: Vec<i64> = (Grain::Day.number(midnight)..=last.unwrap_or(i64::MIN))
        .map(|day| super::grain::key(day, monitor))
        .collect();
    let blocks = super::block_keys(recent, monitor);
    let wanted =
        [(Grain::TenMinutes, &blocks[..]), (Grain::Hour, &hours[..]), (Grain::Day, &days[..])];
    let mut sums = Sums::new();
    let mut gathered = HashSet::new();
    for (grain, key, body) in super::grain::read_together(db, &wanted).await? {
        match grain {
            Grain::TenMinutes => {
                let rows = super::unpacked(quarantine, key, &body)?;
                gathered.extend(rows.iter().map(Kept::key));
            }
            Grain::Hour | Grain::Day => {
                let read = quarantine.sift(grain.table(), || key.to_string(), decode(&body))?;
                merge(&mut sums, &read.unwrap_or_default());
            }
        }
    }
    for row in recent {
        if row.slot >= since && gathered.insert(row.key()) {
            count(&mut sums, row)?;
        }
    }
    Ok(sums)
}

/// Counts a scheduled result. Confirmation checks run when something is wrong, and manual checks on
/// demand, so neither is representative.
pub(super) fn count(sums: &mut Sums, row: &Kept) -> Result<(), StoreError> {
    if codes::trigger(i64::from(row.trigger))? == Trigger::Scheduled {
        let finished_at = Timestamp::from_millis(row.slot + row.finished_after);
        let sum = sums.entry(codes::region(i64::from(row.region))?).or_default();
        sum.add(codes::outcome(i64::from(row.outcome))?, row.latency_us, finished_at);
    }
    Ok(())
}

/// Adds the counts of `others`.
pub(super) fn merge(sums: &mut Sums, others: &Sums) {
    for (region, other) in others {
        sums.entry(*region).or_default().merge(other);
    }
}

pub(super) fn encode(sums: &Sums) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 * sums.len());
    for (region, sum) in sums {
        varint::push(&mut bytes, codes::of_region(*region) as u64);
        sum.encode(&mut bytes);
    }
    bytes
}

pub(super) fn decode(mut bytes: &[u8]) -> Result<Sums, StoreError> {
    let unreadable = |why: Unreadable| StoreError::corrupt("sums of results", why.to_string());
    let mut sums = Sums::new();
    while !bytes.is_empty() {
        let code = varint::pull_narrow(&mut bytes).map_err(unreadable)?;
        let sum = Sum::decode(&mut bytes).map_err(unreadable)?;
        sums.insert(codes::region(code)?, sum);
    }
    Ok(sums)
}
