//! A result as history holds it: numbers and codes in place of names, small, because hundreds of
//! thousands are held at a time while they are gathered.

use std::collections::HashMap;

use domain::check::{CheckResult, Identity, Phases, ProbeId};
use domain::history::{Unreadable, varint};
use rules::{MonitorId, Timestamp};

use super::block::Key;
use crate::db::{Connection, query};
use crate::row::narrow;
use crate::{StoreError, codes};

/// Names of probes by their numbers.
pub(crate) type Probes = HashMap<u32, ProbeId>;

/// A result without its monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
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
    pub(crate) phases: Phases,
}

impl Kept {
    /// What makes it one with another of a monitor, in the order that logs are listed in backwards.
    pub(crate) const fn key(&self) -> Key {
        (self.slot, self.region, self.trigger, self.revision)
    }

    /// The result as the rest of the product knows it.
    pub(crate) fn result(
        &self,
        monitor: MonitorId,
        probes: &Probes,
    ) -> Result<CheckResult, StoreError> {
        let probe = probes.get(&self.probe).ok_or_else(|| {
            StoreError::corrupt("a probe", format!("`{}` has no name", self.probe))
        })?;
        Ok(CheckResult {
            identity: Identity {
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

/// The names of all probes.
pub(crate) async fn probes(db: &mut Connection) -> Result<Probes, StoreError> {
    let rows = query("SELECT number, name FROM probes").fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let name: &str = row.try_get(1)?;
            Ok((narrow(row, 0)?, ProbeId(name.into())))
        })
        .collect()
}

/// The phases in the order of the bits that say which there are.
pub(crate) const fn each_phase(phases: &Phases) -> [Option<u32>; 5] {
    [phases.dns_us, phases.connect_us, phases.tls_us, phases.first_byte_us, phases.transfer_us]
}

/// Takes the phases off the beginning whose bits are set.
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
