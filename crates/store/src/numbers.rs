//! Small numbers in place of long names: the growing tables hold a monitor and a probe as integers
//! of a byte or two. What the writer looked up it remembers, unless the transaction is undone.

use domain::check::ProbeId;
use rules::{ById, MonitorId};

use crate::StoreError;
use crate::db::{Connection, query};

/// What the writer knows of numbers.
#[derive(Default)]
pub(crate) struct Numbers {
    monitors: ById<MonitorId, i64>,
    probes: ById<ProbeId, i64>,
    /// Looked up in this transaction: they may be of rows that it made.
    new_monitors: Vec<MonitorId>,
    new_probes: Vec<ProbeId>,
}

impl Numbers {
    /// The monitor's number; `None` where there is no such monitor any more.
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

    /// The probe's number, given to it when it is first seen.
    pub(crate) async fn probe(
        &mut self,
        db: &mut Connection,
        probe: &ProbeId,
    ) -> Result<i64, StoreError> {
        if let Some(number) = self.probes.get(probe) {
            return Ok(*number);
        }
        query("INSERT INTO probes (name) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(probe.0.as_ref())
            .execute(&mut *db)
            .await?;
        let number = query("SELECT number FROM probes WHERE name = $1")
            .bind(probe.0.as_ref())
            .fetch_one(db)
            .await?
            .try_get(0)?;
        self.probes.insert(probe.clone(), number);
        self.new_probes.push(probe.clone());
        Ok(number)
    }

    /// Forgets a monitor that is deleted.
    pub(crate) fn forget_monitor(&mut self, id: MonitorId) {
        self.monitors.remove(&id);
    }

    /// The transaction is committed: what was looked up in it holds.
    pub(crate) fn keep(&mut self) {
        self.new_monitors.clear();
        self.new_probes.clear();
    }

    /// The transaction, or a part of it, is undone: forgets what was looked up in it.
    pub(crate) fn forget(&mut self) {
        for monitor in self.new_monitors.drain(..) {
            self.monitors.remove(&monitor);
        }
        for probe in self.new_probes.drain(..) {
            self.probes.remove(&probe);
        }
    }
}
