//! Result as `results` and the history hold it: integers and codes instead of names. It is small,
//! because compaction holds hundreds of thousands at a time.

use std::collections::HashMap;

use domain::check::{CheckResult, Phases, ProbeName, ResultKey};
use domain::history::{Unreadable, varint};
use rules::{MonitorId, Timestamp};

use crate::db::{Connection, query};
use crate::row::narrow;
use crate::{StoreError, codes};

/// Key of a result within its monitor: slot, region, trigger, revision.
pub(crate) type Key = (i64, u8, u8, u32);

/// Names of probes by row ID.
pub(crate) type ProbeNames = HashMap<u32, ProbeName>;

/// Result without its monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredResult {
    pub(crate) slot: i64,
    pub(crate) finished_after: i64,
    pub(crate) revision: u32,
    pub(crate) latency_us: u32,
    pub(crate) probe: u32,
    pub(crate) status: Option<u16>,
    pub(crate) region: u8,
    pub(crate) trigger: u8,
    pub(crate) outcome: u8,
    pub(crate) attempts: u8,
    /// Whether it votes. Known until it is compacted; no vote lives longer.
    pub(crate) votes: bool,
    pub(crate) phases: Phases,
}

impl StoredResult {
    /// Returns the key within the monitor. Logs are listed in descending order of it.
    pub(crate) const fn key(&self) -> Key {
        (self.slot, self.region, self.trigger, self.revision)
    }

    /// Returns the latency. `None` if nothing was sent, as in an evaluation of a heartbeat monitor.
    pub(crate) fn latency_us(&self) -> Option<u32> {
        (self.attempts > 0).then_some(self.latency_us)
    }

    /// Converts the result to the domain's type.
    pub(crate) fn result(
        &self,
        monitor: MonitorId,
        names: &ProbeNames,
    ) -> Result<CheckResult, StoreError> {
        let probe = names.get(&self.probe).ok_or_else(|| {
            StoreError::corrupt("a probe", format!("`{}` has no name", self.probe))
        })?;
        Ok(CheckResult {
            identity: ResultKey {
                monitor,
                revision: self.revision,
                region: codes::region(i64::from(self.region))?,
                slot: Timestamp::from_millis(self.slot),
                trigger: codes::trigger(i64::from(self.trigger))?,
            },
            finished_at: Timestamp::from_millis(self.slot + self.finished_after),
            outcome: codes::outcome(i64::from(self.outcome))?,
            latency_us: self.latency_us,
            phases: self.phases,
            status: self.status,
            attempts: self.attempts,
            probe: probe.clone(),
            evidence: None,
        })
    }
}

/// Returns the names of all probes.
pub(crate) async fn probe_names(db: &mut Connection) -> Result<ProbeNames, StoreError> {
    let rows = query("SELECT number, name FROM probe_names").fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let name: &str = row.try_get("name")?;
            Ok((narrow(row, "number")?, ProbeName(name.into())))
        })
        .collect()
}

/// Returns the phases in the order of the bits that mark their presence.
pub(crate) const fn each_phase(phases: &Phases) -> [Option<u32>; 5] {
    [phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us]
}

/// Reads the phases whose bits are set.
pub(crate) fn pull_phases(bytes: &mut &[u8], present: u8) -> Result<Phases, Unreadable> {
    let mut take = |bit: u8| match present & (1 << bit) {
        0 => Ok(None),
        _ => varint::pull_narrow(bytes).map(Some),
    };
    Ok(Phases {
        dns_us: take(0)?,
        connect_us: take(1)?,
        tls_us: take(2)?,
        first_byte_us: take(3)?,
        transfer_us: take(4)?,
    })
}
