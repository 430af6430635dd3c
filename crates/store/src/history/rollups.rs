//! Rollups of an hour or a day. One body holds all regions of a monitor, so that 90 days are 90
//! rows.

use std::collections::{BTreeMap, HashSet};

use domain::check::Trigger;
use domain::history::{Rollup, Unreadable, varint};
use rules::{Region, Timestamp};

use crate::buckets::{self, BucketSize};
use crate::db::Connection;
use crate::quarantine::Quarantine;
use crate::stored_result::StoredResult;
use crate::{StoreError, codes};

/// Rollups by region.
pub(super) type Rollups = BTreeMap<Region, Rollup>;

/// Returns the rollups of a monitor from `since`, a whole hour: hours up to midnight, then days.
/// Adds `recent`, the results that were recently uncompacted. Those compacted by now are found in
/// their blocks, which are read in the same statement as the rollups, so each result counts once.
pub(super) async fn read(
    quarantine: &Quarantine,
    db: &mut Connection,
    (monitor, since): (i64, Timestamp),
    recent: &[StoredResult],
) -> Result<Rollups, StoreError> {
    let since = since.as_millis();
    let midnight = (since + BucketSize::Day.millis() - 1).div_euclid(BucketSize::Day.millis())
        * BucketSize::Day.millis();
    let hours: Vec<i64> = (BucketSize::Hour.number(since)..BucketSize::Hour.number(midnight))
        .map(|hour| buckets::key(hour, monitor))
        .collect();
    let last = BucketSize::Day.edge(db, buckets::Edge::Last).await?;
    // Days of uncompacted results are not stored yet.
    let last =
        last.into_iter().chain(recent.iter().map(|row| BucketSize::Day.number(row.slot))).max();
    let days: Vec<i64> = (BucketSize::Day.number(midnight)..=last.unwrap_or(i64::MIN))
        .map(|day| buckets::key(day, monitor))
        .collect();
    let blocks = super::block_keys(recent, monitor);
    let wanted = [
        (BucketSize::TenMinutes, &blocks[..]),
        (BucketSize::Hour, &hours[..]),
        (BucketSize::Day, &days[..]),
    ];
    let mut rollups = Rollups::new();
    let mut compacted = HashSet::new();
    for (size, key, body) in buckets::read_together(db, &wanted).await? {
        match size {
            BucketSize::TenMinutes => {
                let rows = super::unpack_readable(quarantine, key, &body)?;
                compacted.extend(rows.iter().map(StoredResult::key));
            }
            BucketSize::Hour | BucketSize::Day => {
                let read = quarantine.readable(size.table(), || key.to_string(), decode(&body))?;
                merge(&mut rollups, &read.unwrap_or_default());
            }
        }
    }
    for row in recent {
        if row.slot >= since && compacted.insert(row.key()) {
            count(&mut rollups, row)?;
        }
    }
    Ok(rollups)
}

/// Counts a scheduled result. Confirmation checks run when something is wrong, and manual checks on
/// demand, so neither is representative.
pub(super) fn count(rollups: &mut Rollups, row: &StoredResult) -> Result<(), StoreError> {
    if codes::trigger(i64::from(row.trigger))? == Trigger::Scheduled {
        let finished_at = Timestamp::from_millis(row.slot + row.finished_after);
        let sum = rollups.entry(codes::region(i64::from(row.region))?).or_default();
        sum.add(codes::outcome(i64::from(row.outcome))?, row.latency_us(), finished_at);
    }
    Ok(())
}

/// Adds the counts of `others`.
pub(super) fn merge(rollups: &mut Rollups, others: &Rollups) {
    for (region, other) in others {
        rollups.entry(*region).or_default().merge(other);
    }
}

pub(super) fn encode(rollups: &Rollups) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 * rollups.len());
    for (region, sum) in rollups {
        varint::push(&mut bytes, codes::region_code(*region) as u64);
        sum.encode(&mut bytes);
    }
    bytes
}

pub(super) fn decode(mut bytes: &[u8]) -> Result<Rollups, StoreError> {
    let unreadable = |why: Unreadable| StoreError::corrupt("rollups of results", why.to_string());
    let mut rollups = Rollups::new();
    while !bytes.is_empty() {
        let code = varint::pull_narrow(&mut bytes).map_err(unreadable)?;
        let sum = Rollup::decode(&mut bytes).map_err(unreadable)?;
        rollups.insert(codes::region(code)?, sum);
    }
    Ok(rollups)
}
