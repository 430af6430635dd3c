//! Scheduled slots with a result that are older than those a start reads of all monitors. Reads uncompacted
//! results and the blocks of the history, for several monitors together.

use std::collections::{HashMap, HashSet};

use domain::check::Trigger;
use rules::{MonitorId, Region, Timestamp};

use crate::buckets::{self, BucketSize, Edge};
use crate::result_rows::RowsBetween;
use crate::results::Results;
use crate::stored_result::StoredResult;
use crate::{StoreError, codes, history};

/// Number of blocks that are in memory at a time.
const BLOCKS_AT_ONCE: usize = 1_024;

impl Results<'_> {
    /// Returns the scheduled slots that have a result, of several monitors, each since its own time. Reads
    /// them together, because a start may need thousands of monitors.
    pub async fn older_for_boot(
        &self,
        since: &HashMap<MonitorId, Timestamp>,
    ) -> Result<HashSet<(MonitorId, Region, Timestamp)>, StoreError> {
        let mut db = self.store.read().await?;
        let numbered = self.monitors(&mut db).await?.into_iter();
        let of = |(number, monitor)| Some((number, (monitor, since.get(&monitor)?.as_millis())));
        let wanted: HashMap<i64, (MonitorId, i64)> = numbered.filter_map(of).collect();
        let scheduled = codes::trigger_code(Trigger::Scheduled);
        let mut found = HashSet::new();
        let mut add = |number, row: &StoredResult| {
            let Some((monitor, since)) = wanted.get(&number) else { return };
            // An unknown region has no slots.
            let Ok(region) = codes::region(i64::from(row.region)) else { return };
            if row.slot >= *since && i64::from(row.trigger) == scheduled {
                found.insert((*monitor, region, Timestamp::from_millis(row.slot)));
            }
        };
        let Some(earliest) = wanted.values().map(|(_, since)| *since).min() else {
            return Ok(found);
        };
        let size = BucketSize::TenMinutes;
        let recent = RowsBetween::keys(size.key(earliest, 0), i64::MAX);
        let damaged = recent.each(&mut db, |number, row| add(number, &row)).await?;
        self.store.quarantine().record_all(&damaged);
        let Some(last) = size.edge(&mut db, Edge::Last).await? else { return Ok(found) };
        let blocks = wanted.iter().flat_map(|(number, (_, since))| {
            (size.number(*since)..=last).map(|bucket| buckets::key(bucket, *number))
        });
        let blocks: Vec<i64> = blocks.collect();
        for keys in blocks.chunks(BLOCKS_AT_ONCE) {
            for (key, body) in size.read(&mut db, keys).await? {
                for row in history::unpack_readable(self.store.quarantine(), key, &body)? {
                    add(buckets::monitor_of(key), &row);
                }
            }
        }
        Ok(found)
    }
}
