//! What a probe has to do. A plan is made once per revision of a monitor and shared by its jobs; a
//! job is one slot of it in one region. Both carry all that a probe needs: it reads no database.

use std::sync::Arc;
use std::time::Duration;

use rules::monitor::{Check, Monitor};
use rules::{MonitorId, Region, Timestamp, WorkspaceId, limits};

use super::{dns::DnsPlan, http::HttpPlan, tcp::TcpPlan};

/// All a probe needs to check one revision of a monitor.
#[derive(Debug)]
pub struct Plan {
    /// Which monitor.
    pub monitor: MonitorId,
    /// Whose it is.
    pub workspace: WorkspaceId,
    /// Which revision of it.
    pub revision: u32,
    /// What to send, and what must hold of what comes back.
    pub check: PlannedCheck,
    /// Time for one attempt, from DNS to the last byte over all hops.
    pub timeout: Duration,
    /// Attempts after the first.
    pub retry: u8,
    /// A success that took longer than this is slow; `None` means none is.
    pub slow_above: Option<Duration>,
}

/// What to send, by kind.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most monitors are HTTP, and jobs share a plan")]
pub enum PlannedCheck {
    /// An HTTP request.
    Http(HttpPlan),
    /// A TCP connection.
    Tcp(TcpPlan),
    /// DNS queries.
    Dns(DnsPlan),
}

/// One check to run: a slot of a monitor in a region.
#[derive(Clone, Debug)]
pub struct Job {
    /// What to do.
    pub plan: Arc<Plan>,
    /// Which region it stands for.
    pub region: Region,
    /// The slot's time, by the core's clock; for opinion and manual jobs the time they were asked for.
    pub slot: Timestamp,
    /// Why it runs.
    pub trigger: Trigger,
    /// When the next slot is due: no further attempt starts from then on. Of a manual job, when the time is
    /// over in which its attempts start.
    pub next_slot: Timestamp,
    /// Whether evidence is kept although the check succeeds.
    pub keep_evidence: bool,
}

/// What makes two results one: the second of an identity is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Which monitor.
    pub monitor: MonitorId,
    /// Which revision of it.
    pub revision: u32,
    /// Which region.
    pub region: Region,
    /// Which slot.
    pub slot: Timestamp,
    /// Why it ran.
    pub trigger: Trigger,
}

/// Why a check runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Its slot was due.
    Scheduled,
    /// Another region failed, and this one is asked what it sees.
    Opinion,
    /// Somebody asked.
    Manual,
}

/// A stored monitor that cannot be planned: its settings were valid once, and this version of the
/// product reads them otherwise.
#[derive(Debug, thiserror::Error)]
#[error("monitor `{monitor}` cannot be checked: {why}; edit it")]
pub struct Unplannable {
    /// Which monitor.
    pub monitor: MonitorId,
    /// Why.
    pub why: String,
}

impl Plan {
    /// The plan for this revision of a monitor.
    pub fn of(monitor: &Monitor) -> Result<Self, Unplannable> {
        let settings = &monitor.settings;
        let unplannable = |why| Unplannable { monitor: monitor.id, why };
        let check = match &settings.check {
            Check::Http(http) => PlannedCheck::Http(HttpPlan::of(http).map_err(unplannable)?),
            Check::Tcp(tcp) => PlannedCheck::Tcp(TcpPlan::of(tcp).map_err(unplannable)?),
            Check::Dns(dns) => PlannedCheck::Dns(DnsPlan::of(dns).map_err(unplannable)?),
        };
        let slow_above = settings.effective_degraded_at_ms();
        Ok(Self {
            monitor: monitor.id,
            workspace: monitor.workspace,
            revision: monitor.revision,
            check,
            timeout: settings.effective_timeout(),
            retry: settings.retry,
            slow_above: (slow_above > 0).then(|| Duration::from_millis(u64::from(slow_above))),
        })
    }
}

impl Job {
    /// A check that somebody asked for then, and waits for: soon is better than once more.
    pub fn manual(plan: Arc<Plan>, region: Region, asked_at: Timestamp) -> Self {
        let next_slot = asked_at + limits::TRIGGER_ATTEMPTED_WITHIN;
        let (slot, trigger) = (asked_at, Trigger::Manual);
        Self { plan, region, slot, trigger, next_slot, keep_evidence: true }
    }
}

impl PlannedCheck {
    /// The host that is checked: a name or an address; for DNS the name that is asked for.
    pub fn host(&self) -> &str {
        match self {
            Self::Http(http) => http.url.host_str().unwrap_or_default(),
            Self::Tcp(tcp) => &tcp.host,
            Self::Dns(dns) => &dns.name,
        }
    }
}

impl Job {
    /// The identity its result will have.
    pub fn identity(&self) -> Identity {
        Identity {
            monitor: self.plan.monitor,
            revision: self.plan.revision,
            region: self.region,
            slot: self.slot,
            trigger: self.trigger,
        }
    }
}

#[cfg(test)]
mod tests;
