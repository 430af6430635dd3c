//! Columns of a monitor: converts rows to `rules::monitor::Monitor` and back.

use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, Periodicity, Region, WorkspaceId};

use crate::StoreError;
use crate::db::Row;
use crate::row::{id, instant, narrow};
use crate::vault::{EncryptionContext, Vault};

/// Index of the first column that [`select`] adds to the monitor's own: status, since, row ID,
/// judge's state.
pub(super) const AFTER_COLUMNS: usize = 15;

/// Selects monitors for [`read`], with the judge's state. The argument is the `WHERE` clause.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT m.id, m.workspace_id, m.revision, m.name, m.periodicity, m.timeout_ms, ",
            "m.degraded_at_ms, m.retry, m.active, m.public, m.description, m.regions, ",
            "m.check_sealed, m.created_at, m.updated_at, j.status, j.since, m.number, j.state ",
            "FROM monitors m LEFT JOIN judge_states j ON j.monitor = m.number ",
            $which
        )
    };
}
pub(super) use select;

/// Reads the monitor's own columns.
pub(super) fn read(vault: &Vault, row: &Row) -> Result<Monitor, StoreError> {
    let monitor_id: MonitorId = id(row, 0, MonitorId::parse)?;
    let degraded_at: Option<i64> = row.try_get(6)?;
    let settings = MonitorSettings {
        name: row.try_get(3)?,
        periodicity: id(row, 4, Periodicity::parse)?,
        timeout_ms: narrow(row, 5)?,
        degraded_at_ms: degraded_at.map(|_| narrow(row, 6)).transpose()?,
        retry: narrow(row, 7)?,
        active: row.try_get(8)?,
        public: row.try_get(9)?,
        description: row.try_get(10)?,
        regions: regions(row.try_get(11)?)?,
        check: vault.open(check_context(&monitor_id.to_string()), row.try_get(12)?)?,
    };
    Ok(Monitor {
        id: monitor_id,
        workspace: id(row, 1, WorkspaceId::parse)?,
        revision: narrow(row, 2)?,
        settings,
        created_at: instant(row, 13)?,
        updated_at: instant(row, 14)?,
    })
}

/// Returns the location for which the check of a monitor is sealed.
pub(crate) const fn check_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "monitors.check_sealed", row: id }
}

/// Joins regions with spaces.
pub(super) fn regions_text(regions: &[Region]) -> String {
    regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(" ")
}

fn regions(text: &str) -> Result<Vec<Region>, StoreError> {
    text.split_whitespace()
        .map(|word| {
            Region::parse(word)
                .map_err(|why| StoreError::corrupt("monitors.regions", why.to_string()))
        })
        .collect()
}
