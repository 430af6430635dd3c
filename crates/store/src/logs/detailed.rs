//! Pages of results whose details are kept. These are few among all results, so they are found by
//! their details: in the database and in the file of successes. Which results the caller asked for
//! is `LogQuery`'s.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use domain::check::{Outcome, ResultKey};
use rules::MonitorId;

use super::{DistinctResults, LogCursor, LogQuery};
use crate::buckets::BucketSize;
use crate::db::{Connection, query};
use crate::history;
use crate::row::narrow;
use crate::stored_result::{Key, StoredResult};
use crate::{Store, StoreError, codes};

/// Where details of a monitor are looked for.
pub(super) struct Detailed<'s> {
    store: &'s Store,
    number: i64,
    /// The results with details in the file of successes.
    successes: Vec<ResultKey>,
}

impl<'s> Detailed<'s> {
    /// Reads the file of successes. Call it before reading results: the database has the results of
    /// all details in the file, but details of a later result replace those of the earlier one.
    pub(super) fn begin(store: &'s Store, monitor: MonitorId, number: i64) -> Self {
        Self { store, number, successes: store.successes().by_monitor(monitor) }
    }

    /// Returns the results with details in the file of successes.
    pub(super) fn successes(&self) -> &[ResultKey] {
        &self.successes
    }

    /// Returns a page of results with details, of those found already and of the blocks, and its last position if
    /// there is more.
    pub(super) async fn page(
        &self,
        db: &mut Connection,
        wanted: &LogQuery,
        found: DistinctResults,
    ) -> Result<(Vec<StoredResult>, Option<LogCursor>), StoreError> {
        let mut keys = self.stored(db, wanted).await?;
        keys.extend(self.success_keys(wanted));
        keys.sort_unstable_by_key(|key| Reverse(*key));
        keys.dedup();
        let is_more = keys.len() > wanted.limit;
        keys.truncate(wanted.limit);
        let next =
            keys.last().filter(|_| is_more).map(|key| LogCursor::from_key(*key)).transpose()?;
        let results = self.results(db, &keys, found).await?;
        Ok((keys.iter().filter_map(|key| results.get(key).copied()).collect(), next))
    }

    /// Returns the newest results of the page whose details are in the database, and one more.
    async fn stored(&self, db: &mut Connection, wanted: &LogQuery) -> Result<Vec<Key>, StoreError> {
        let (slot, region, trigger, revision) =
            wanted.before.unwrap_or((i64::MAX, u8::MAX, u8::MAX, u32::MAX));
        let bits = |codes: &[u8]| codes::bits(codes.iter().copied().map(i64::from));
        let rows = query(
            "SELECT slot, region, trigger, revision FROM evidence \
             WHERE monitor = $1 AND slot >= $2 AND slot <= $3 \
             AND (slot < $3 OR (region, trigger, revision) < ($4, $5, $6)) \
             AND (CAST(1 AS BIGINT) << CAST(region AS INTEGER)) & $7 <> 0 \
             AND (CAST(1 AS BIGINT) << CAST(trigger AS INTEGER)) & $8 <> 0 \
             AND (CAST(1 AS BIGINT) << CAST(outcome AS INTEGER)) & $9 <> 0 \
             ORDER BY slot DESC, region DESC, trigger DESC, revision DESC LIMIT $10",
        )
        .bind(self.number)
        .bind(wanted.from)
        .bind(slot)
        .bind(i64::from(region))
        .bind(i64::from(trigger))
        .bind(i64::from(revision))
        .bind(bits(&wanted.regions))
        .bind(bits(&wanted.triggers))
        .bind(bits(&wanted.outcomes))
        .bind(wanted.limit as i64 + 1)
        .fetch_all(db)
        .await?;
        rows.iter()
            .map(|row| {
                Ok((
                    row.try_get("slot")?,
                    narrow(row, "region")?,
                    narrow(row, "trigger")?,
                    narrow(row, "revision")?,
                ))
            })
            .collect()
    }

    /// Returns the wanted results whose details are in the file of successes.
    fn success_keys(&self, wanted: &LogQuery) -> Vec<Key> {
        let key = |identity: &ResultKey| {
            let ResultKey { slot, region, trigger, revision, monitor: _ } = *identity;
            LogCursor { slot, region, trigger, revision }.key()
        };
        let success = codes::outcome_code(Outcome::Success) as u8;
        self.successes.iter().map(key).filter(|key| wanted.matches_key(*key, success)).collect()
    }

    /// Returns the results with these keys.
    async fn results(
        &self,
        db: &mut Connection,
        keys: &[Key],
        found: DistinctResults,
    ) -> Result<BTreeMap<Key, StoredResult>, StoreError> {
        let DistinctResults(mut results) = found;
        let missing = keys.iter().filter(|key| !results.contains_key(key));
        let mut blocks: Vec<i64> =
            missing.map(|key| BucketSize::TenMinutes.key(key.0, self.number)).collect();
        blocks.dedup();
        for (key, body) in BucketSize::TenMinutes.read(db, &blocks).await? {
            let rows = history::unpack_readable(self.store.quarantine(), key, &body)?;
            results.extend(rows.into_iter().map(|row| (row.key(), row)));
        }
        Ok(results)
    }
}
