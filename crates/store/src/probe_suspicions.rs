//! Suspicions of probes, so that a new process knows which votes are void. `domain::judge` decides
//! when a suspicion begins and ends.

use domain::check::ProbeName;
use domain::judge::StoredSuspicion;

use crate::db::{Connection, Row, query};
use crate::{Store, StoreError};

pub(crate) const TABLE: &str = "probe_suspicions";

/// Handle of the suspicions of probes.
#[derive(Clone, Copy, Debug)]
pub struct SuspicionStore<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the suspicions of probes.
    pub const fn probe_suspicions(&self) -> SuspicionStore<'_> {
        SuspicionStore { store: self }
    }
}

impl SuspicionStore<'_> {
    /// Returns the state of each probe that was ever suspect. For the pipeline at boot.
    pub async fn all(&self) -> Result<Vec<(ProbeName, StoredSuspicion)>, StoreError> {
        let rows = query("SELECT probe, state FROM probe_suspicions ORDER BY probe")
            .fetch_all(&mut self.store.read().await?)
            .await?;
        self.store.quarantine().readable_rows(TABLE, &rows, read)
    }
}

fn read(row: &Row) -> Result<(ProbeName, StoredSuspicion), StoreError> {
    let probe: &str = row.try_get("probe")?;
    let state = serde_json::from_str(row.try_get("state")?)
        .map_err(|why| StoreError::corrupt(format!("suspicion of `{probe}`"), why.to_string()))?;
    Ok((ProbeName(probe.into()), state))
}

/// Stores the state of a probe.
pub(crate) async fn store(
    db: &mut Connection,
    probe: &ProbeName,
    state: &StoredSuspicion,
) -> Result<(), StoreError> {
    let json = serde_json::to_string(state)
        .map_err(|why| StoreError::corrupt("a suspicion to be stored", why.to_string()))?;
    query(
        "INSERT INTO probe_suspicions (probe, state) VALUES ($1, $2) \
         ON CONFLICT (probe) DO UPDATE SET state = excluded.state",
    )
    .bind(probe.0.as_ref())
    .bind(json)
    .execute(db)
    .await?;
    Ok(())
}
