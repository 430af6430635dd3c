//! Monitors: the draft of a caller ([`MonitorDraft`]) and the validated settings
//! ([`MonitorSettings`]). `probe` runs checks, `domain::check` assesses them, `cadence` schedules
//! them.

mod blocks;
mod check;
mod client_key;
mod kinds;
mod settings;

use std::time::Duration;

pub use blocks::{
    Header, HeaderAssertion, HeaderAssertionDraft, HeaderDraft, JsonAssertion, JsonAssertionDraft,
    RecordAssertion, RecordAssertionDraft, StatusCodeAssertion, StatusCodeAssertionDraft,
    TextAssertion, TextAssertionDraft,
};
pub(crate) use blocks::{header, one_host};
pub use check::{
    Check, CheckDraft, DnsCheck, DnsDraft, HeartbeatCheck, HeartbeatDraft, HttpCheck, HttpDraft,
    TcpCheck, TcpDraft,
};
pub use client_key::ClientKey;
pub use settings::{MonitorDraft, MonitorSettings};

use crate::{MonitorId, Region, Timestamp, WorkspaceId};

/// Region in the results of monitors that no probe checks.
pub const UNPROBED_REGION: Region = Region::FlyAms;

/// A stored monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    pub id: MonitorId,
    pub workspace: WorkspaceId,
    /// Check revision, from 1. It grows only if an edit changes what results mean: results of older
    /// revisions are stored but not judged.
    pub revision: u32,
    /// The user's settings.
    pub settings: MonitorSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Check {
    /// Returns whether probes run the check, see [`MonitorKind::is_probed`].
    pub const fn is_probed(&self) -> bool {
        self.kind().is_probed()
    }
}

impl MonitorSettings {
    /// Returns the timeout of one attempt: as written, or the maximum if 0 (design §4).
    pub fn effective_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(effective_timeout_ms(self.timeout_ms)))
    }

    /// Returns the degraded threshold in milliseconds: as written, or derived from the timeout. 0
    /// means never (design §4).
    pub fn effective_degraded_at_ms(&self) -> u32 {
        self.degraded_at_ms.unwrap_or_else(|| degraded_at_ms_of(self.timeout_ms))
    }

    /// Returns the regions to check from, by default `defaults`. Results of a kind that no probe checks
    /// have one region, which says nothing of a place.
    pub fn resolved_regions<'a>(&'a self, defaults: &'a [Region]) -> &'a [Region] {
        match &self.check {
            Check::Heartbeat(_) => &[UNPROBED_REGION],
            Check::Http(_) | Check::Tcp(_) | Check::Dns(_) if self.regions.is_empty() => defaults,
            Check::Http(_) | Check::Tcp(_) | Check::Dns(_) => &self.regions,
        }
    }
}

/// Returns the default degraded threshold in milliseconds: two thirds of the effective timeout,
/// rounded down (design §4).
pub const fn degraded_at_ms_of(timeout_ms: u32) -> u32 {
    effective_timeout_ms(timeout_ms) * 2 / 3
}

const fn effective_timeout_ms(timeout_ms: u32) -> u32 {
    if timeout_ms == 0 { crate::tables::TIMEOUT_MS_MAX } else { timeout_ms }
}
