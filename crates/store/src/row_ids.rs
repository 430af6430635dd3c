//! Row IDs instead of long identifiers: the tables that grow fast hold a monitor or a probe as an
//! integer of one or two bytes. The writer caches the row IDs it looked up until a rollback.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use domain::check::ProbeName;
use rules::{ById, MonitorId};

use crate::StoreError;
use crate::db::arrays::RowsStatement;
use crate::db::{Connection, query};
use crate::row::id;

/// Cached row IDs.
#[derive(Default)]
pub(crate) struct RowIds {
    monitors: ById<MonitorId, i64>,
    probes: ById<ProbeName, i64>,
    /// Looked up in this transaction, which may have created the rows.
    new_monitors: Vec<MonitorId>,
    new_probes: Vec<ProbeName>,
}

static FIND: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "SELECT m.id, m.number FROM ",
        &["id"],
        " JOIN monitors m ON m.id = r.id WHERE m.deleted_at IS NULL",
    )
});

impl RowIds {
    /// Looks up the row IDs of monitors that are not cached, all at once.
    pub(crate) async fn load_monitors(
        &mut self,
        db: &mut Connection,
        monitors: impl Iterator<Item = MonitorId>,
    ) -> Result<(), StoreError> {
        let unknown = monitors.filter(|monitor| !self.monitors.contains_key(monitor));
        let unknown: BTreeSet<MonitorId> = unknown.collect();
        let rows = unknown.into_iter().map(|monitor| [monitor.to_string().into()]).collect();
        for row in FIND.fetch_all(db, rows).await? {
            let monitor = id(&row, "id", MonitorId::parse)?;
            self.monitors.insert(monitor, row.try_get("number")?);
            self.new_monitors.push(monitor);
        }
        Ok(())
    }

    /// Returns the cached row ID of a monitor.
    pub(crate) fn known_monitor(&self, monitor: MonitorId) -> Option<i64> {
        self.monitors.get(&monitor).copied()
    }

    /// Returns the row ID of a monitor, or `None` if the monitor does not exist or is deleted.
    pub(crate) async fn monitor(
        &mut self,
        db: &mut Connection,
        id: MonitorId,
    ) -> Result<Option<i64>, StoreError> {
        if let Some(number) = self.monitors.get(&id) {
            return Ok(Some(*number));
        }
        let number: Option<i64> =
            query("SELECT number FROM monitors WHERE id = $1 AND deleted_at IS NULL")
                .bind(id.to_string())
                .scalar(db)
                .await?;
        if let Some(number) = number {
            self.monitors.insert(id, number);
            self.new_monitors.push(id);
        }
        Ok(number)
    }

    /// Returns the row ID of a probe, and assigns one to a new probe.
    pub(crate) async fn probe(
        &mut self,
        db: &mut Connection,
        probe: &ProbeName,
    ) -> Result<i64, StoreError> {
        if let Some(number) = self.probes.get(probe) {
            return Ok(*number);
        }
        query("INSERT INTO probe_names (name) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(probe.0.as_ref())
            .execute(&mut *db)
            .await?;
        let number = query("SELECT number FROM probe_names WHERE name = $1")
            .bind(probe.0.as_ref())
            .fetch_one(db)
            .await?
            .try_get("number")?;
        self.probes.insert(probe.clone(), number);
        self.new_probes.push(probe.clone());
        Ok(number)
    }

    /// Removes a deleted monitor from the cache.
    pub(crate) fn remove_monitor(&mut self, id: MonitorId) {
        self.monitors.remove(&id);
    }

    /// Keeps the lookups of the transaction, after its commit.
    pub(crate) fn commit(&mut self) {
        self.new_monitors.clear();
        self.new_probes.clear();
    }

    /// Drops the lookups of the transaction, after a full or partial rollback.
    pub(crate) fn roll_back(&mut self) {
        for monitor in self.new_monitors.drain(..) {
            self.monitors.remove(&monitor);
        }
        for probe in self.new_probes.drain(..) {
            self.probes.remove(&probe);
        }
    }
}
