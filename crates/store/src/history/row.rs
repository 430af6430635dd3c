//! A result as history holds it: numbers and codes in place of names, small, because hundreds of
//! thousands are held at a time while they are gathered.

use std::collections::HashMap;

use domain::check::{CheckResult, Identity, Phases, ProbeId};
use domain::history::varint;
use rules::{MonitorId, Timestamp};

use super::block::Key;
use crate::db::{Connection, Row, query};
use crate::row::narrow;
use crate::{StoreError, codes};

/// The columns of [`Kept::read`], in its order.
pub(crate) const COLUMNS: &str = "slot, region, trigger, revision, outcome, finished_after, latency_us, status, attempts, probe, phases";

/// The bytes of packed phases at most: which there are, and five of five bytes.
const PHASES_MAX: usize = 1 + 5 * 5;

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

    /// Reads the columns of [`COLUMNS`], which begin at `first`.
    pub(crate) fn read(row: &Row, first: usize) -> Result<Self, StoreError> {
        let status: Option<i64> = row.try_get(first + 7)?;
        let phases: Option<&[u8]> = row.try_get(first + 10)?;
        Ok(Self {
            slot: row.try_get(first)?,
            region: narrow(row, first + 1)?,
            trigger: narrow(row, first + 2)?,
            revision: narrow(row, first + 3)?,
            outcome: narrow(row, first + 4)?,
            finished_after: row.try_get(first + 5)?,
            latency_us: narrow(row, first + 6)?,
            status: status.map(|_| narrow(row, first + 7)).transpose()?,
            attempts: narrow(row, first + 8)?,
            probe: narrow(row, first + 9)?,
            phases: phases.map(read_phases).transpose()?.unwrap_or_default(),
        })
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

/// Reads phases as `results` has them: a bit for each that happened, then their microseconds.
fn read_phases(mut packed: &[u8]) -> Result<Phases, StoreError> {
    let unreadable = |why| StoreError::corrupt("results.phases", format!("{why}"));
    let packed = &mut packed;
    let present = varint::byte(packed).map_err(unreadable)?;
    super::block::pull_phases(packed, present).map_err(unreadable)
}

/// Reads the same from a text of two digits for each byte, as SQLite's `hex` writes it; none is no
/// phase at all.
pub(super) fn phases_of_hex(text: &str) -> Result<Phases, StoreError> {
    if text.is_empty() {
        return Ok(Phases::default());
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => byte - b'0',
        _ => byte.wrapping_sub(b'A' - 10),
    };
    let mut packed = [0; PHASES_MAX];
    let pairs = text.as_bytes().chunks_exact(2);
    let length = pairs.len().min(PHASES_MAX);
    for (byte, pair) in packed.iter_mut().zip(pairs) {
        *byte = digit(pair[0]) << 4 | digit(pair[1]);
    }
    read_phases(&packed[..length])
}
