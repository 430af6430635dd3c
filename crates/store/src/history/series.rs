//! Series for the charts of a monitor: rollups by hour or day, and phase timings of some checks.
//! The caller selects the time range and the samples.

use std::collections::{BTreeMap, HashSet};

use domain::check::{Outcome, Phases, Trigger};
use domain::history::{PhaseSum, Rollup, Span};
use rules::{MonitorId, Timestamp, WorkspaceId};

use super::rollups::Rollups;
use super::{HistoryStore, number, rollups, unpack_readable};
use crate::buckets::{self, BucketSize};
use crate::stored_result::StoredResult;
use crate::{StoreError, codes, recent_index};

/// Maximum number of rows per query: more than the 168 hours of a week.
const ROWS_MAX: usize = 256;

/// Bucket size of a rollup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    Hour,
    /// Days of UTC.
    Day,
}

impl HistoryStore<'_> {
    /// Returns the rollups of a monitor's scheduled checks over all its regions, for the buckets
    /// that `range` touches. They are sorted oldest first. Returns at most the newest 256, and
    /// omits buckets without checks. The monitor may be deleted.
    pub async fn buckets(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        of: Bucket,
        range: Span,
    ) -> Result<Vec<(Timestamp, Rollup)>, StoreError> {
        let size = match of {
            Bucket::Hour => BucketSize::Hour,
            Bucket::Day => BucketSize::Day,
        };
        let mut db = self.store.read().await?;
        let number = number(&mut db, workspace, monitor).await?;
        let recent =
            recent_index::rows(self.store.recent_index(), &mut db, monitor, number).await?;
        let last = size.number(range.to.as_millis());
        let first = size.number(range.from.as_millis()).max(last - ROWS_MAX as i64 + 1);
        let keys: Vec<i64> = (first..=last).map(|bucket| buckets::key(bucket, number)).collect();
        let blocks = super::block_keys(&recent, number);
        let wanted = [(BucketSize::TenMinutes, &blocks[..]), (size, &keys[..])];
        let mut by_bucket: BTreeMap<i64, Rollups> = BTreeMap::new();
        let mut compacted = HashSet::new();
        for (of, key, body) in buckets::read_together(&mut db, &wanted).await? {
            if of == BucketSize::TenMinutes {
                let rows = unpack_readable(self.store.quarantine(), key, &body)?;
                compacted.extend(rows.iter().map(StoredResult::key));
            } else {
                let read = rollups::decode(&body);
                let quarantine = self.store.quarantine();
                let read = quarantine.readable(size.table(), || key.to_string(), read)?;
                by_bucket.insert(size.number(of.start(key)), read.unwrap_or_default());
            }
        }
        for row in recent {
            let bucket = size.number(row.slot);
            if (first..=last).contains(&bucket) && compacted.insert(row.key()) {
                rollups::count(by_bucket.entry(bucket).or_default(), &row)?;
            }
        }
        let together = |(bucket, regions): (i64, Rollups)| {
            let mut sum = Rollup::default();
            for of_region in regions.values() {
                sum.merge(of_region);
            }
            (Timestamp::from_millis(bucket * size.millis()), sum)
        };
        Ok(by_bucket.into_iter().map(together).filter(|(_, sum)| sum.checks() > 0).collect())
    }

    /// Returns the phase timings of a monitor's successful scheduled checks, for the ten-minute
    /// bucket of each of these times. Uses at most the last 256 times. They are sorted oldest
    /// first, and buckets without such checks are omitted. The monitor may be deleted.
    pub async fn phases(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        moments: &[Timestamp],
    ) -> Result<Vec<(Timestamp, PhaseSum)>, StoreError> {
        let size = BucketSize::TenMinutes;
        let mut db = self.store.read().await?;
        let number = number(&mut db, workspace, monitor).await?;
        let recent =
            recent_index::rows(self.store.recent_index(), &mut db, monitor, number).await?;
        let first = moments.len().saturating_sub(ROWS_MAX);
        let keys: HashSet<i64> =
            moments[first..].iter().map(|at| size.key(at.as_millis(), number)).collect();
        let mut wanted: Vec<i64> = keys.iter().copied().collect();
        wanted.sort_unstable();
        let mut counted = HashSet::new();
        let mut by_block: BTreeMap<i64, PhaseSum> = BTreeMap::new();
        let mut add = |row: &StoredResult| -> Result<(), StoreError> {
            let key = size.key(row.slot, number);
            if keys.contains(&key) && counted.insert(row.key()) && has_phases(row)? {
                by_block.entry(size.start(key)).or_default().add(&row.phases);
            }
            Ok(())
        };
        for (key, body) in size.read(&mut db, &wanted).await? {
            unpack_readable(self.store.quarantine(), key, &body)?.iter().try_for_each(&mut add)?;
        }
        recent.iter().try_for_each(&mut add)?;
        let begin = |(start, sum)| (Timestamp::from_millis(start), sum);
        Ok(by_block.into_iter().map(begin).collect())
    }
}

/// Returns whether the phases of a result count: those of a successful scheduled check. A run of a job has none.
fn has_phases(row: &StoredResult) -> Result<bool, StoreError> {
    let is_scheduled = codes::trigger(i64::from(row.trigger))? == Trigger::Scheduled;
    let outcome = codes::outcome(i64::from(row.outcome))?;
    let is_success = matches!(outcome, Outcome::Success | Outcome::Degraded);
    Ok(is_scheduled && is_success && row.phases != Phases::default())
}
