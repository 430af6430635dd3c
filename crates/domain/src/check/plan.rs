//! The work of a probe. A plan is created once per revision of a monitor and shared by its jobs; a
//! job is one slot in one region. They contain everything that a probe needs: it reads no database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rules::monitor::{Check, Monitor};
use rules::{MonitorId, MonitorKind, Region, Timestamp, WorkspaceId, limits};

use super::redact::{self, Configured};
use super::{HeartbeatPlan, dns::DnsPlan, http::HttpPlan, tcp::TcpPlan};

/// Everything a probe needs to check one revision of a monitor.
#[derive(Debug)]
pub struct CheckPlan {
    pub monitor: MonitorId,
    pub workspace: WorkspaceId,
    pub revision: u32,
    /// Request and assertions.
    pub check: PlannedCheck,
    /// Time limit of one attempt, from DNS to the last byte over all hops.
    pub timeout: Duration,
    /// Maximum number of attempts after the first.
    pub retry: u8,
    /// A success that takes longer is degraded; `None` for no limit.
    pub degraded_above: Option<Duration>,
    /// The configured secrets, which are hidden in details; `None` if they are too large to keep.
    pub(in crate::check) secrets: Option<Configured>,
    /// The monitor as it is sent to a probe in another place; `None` if the server checks it in all
    /// regions.
    pub message: Option<JobMessage>,
}

/// A monitor as it is sent to a probe in another place, with its secrets. `Debug` prints only its length.
#[derive(Clone)]
pub struct JobMessage(pub Bytes);

impl fmt::Debug for JobMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// The request and assertions of one kind of monitor.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most monitors are HTTP, and jobs share a plan")]
pub enum PlannedCheck {
    Http(HttpPlan),
    Tcp(TcpPlan),
    Dns(DnsPlan),
    /// Not a request: the server evaluates the calls that it received.
    Heartbeat(HeartbeatPlan),
}

/// One check to run: a slot of a monitor in a region.
#[derive(Clone, Debug)]
pub struct Job {
    pub plan: Arc<CheckPlan>,
    /// Region that the result counts for.
    pub region: Region,
    /// Time of the slot by the server's clock; for confirmation and manual checks the time of the
    /// request.
    pub slot: Timestamp,
    pub trigger: Trigger,
    /// Time of the next slot; no attempt starts at or after it. For a manual job, the end of the
    /// time in which attempts may start.
    pub next_slot: Timestamp,
    /// Whether evidence is kept even if the check succeeds.
    pub keep_evidence: bool,
}

/// Identity of a result: a second result with the same identity is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultKey {
    pub monitor: MonitorId,
    pub revision: u32,
    pub region: Region,
    pub slot: Timestamp,
    pub trigger: Trigger,
}

/// Reason why a check runs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Its slot is due.
    Scheduled,
    /// Another region failed, and this check confirms or refutes it.
    #[serde(rename = "opinion")]
    Confirmation,
    /// A user requested it.
    Manual,
}

/// Error for a stored monitor without a valid plan: its settings were valid once, but this version
/// rejects them.
#[derive(Debug, thiserror::Error)]
#[error("monitor `{monitor}` cannot be checked: {why}; edit it")]
pub struct InvalidPlan {
    pub monitor: MonitorId,
    pub why: String,
}

impl CheckPlan {
    /// Creates the plan for this revision of a monitor.
    pub fn new(monitor: &Monitor) -> Result<Self, InvalidPlan> {
        let settings = &monitor.settings;
        let unplannable = |why| InvalidPlan { monitor: monitor.id, why };
        let check = match &settings.check {
            Check::Http(http) => PlannedCheck::Http(HttpPlan::new(http).map_err(unplannable)?),
            Check::Tcp(tcp) => PlannedCheck::Tcp(TcpPlan::new(tcp).map_err(unplannable)?),
            Check::Dns(dns) => PlannedCheck::Dns(DnsPlan::new(dns).map_err(unplannable)?),
            Check::Heartbeat(heartbeat) => PlannedCheck::Heartbeat(HeartbeatPlan::new(heartbeat)),
        };
        let degraded_above = settings.effective_degraded_at_ms();
        let secrets = Some(check.secrets()).filter(Configured::is_small);
        Ok(Self {
            monitor: monitor.id,
            workspace: monitor.workspace,
            revision: monitor.revision,
            check,
            timeout: settings.effective_timeout(),
            retry: settings.retry,
            degraded_above: (degraded_above > 0)
                .then(|| Duration::from_millis(u64::from(degraded_above))),
            secrets,
            message: None,
        })
    }

    /// Returns the same plan with the monitor as it is sent to a probe in another place.
    #[must_use]
    pub fn with_message(self, message: Bytes) -> Self {
        Self { message: Some(JobMessage(message)), ..self }
    }
}

impl Job {
    /// Creates a check that a user waits for: answering soon is more important than retrying.
    pub fn manual(plan: Arc<CheckPlan>, region: Region, asked_at: Timestamp) -> Self {
        let next_slot = asked_at + limits::TRIGGER_ATTEMPTED_WITHIN;
        let (slot, trigger) = (asked_at, Trigger::Manual);
        Self { plan, region, slot, trigger, next_slot, keep_evidence: true }
    }
}

impl Trigger {
    /// All triggers.
    pub const ALL: [Self; 3] = [Self::Scheduled, Self::Confirmation, Self::Manual];

    /// Returns the word for users and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Confirmation => "confirmation",
            Self::Manual => "manual",
        }
    }
}

impl PlannedCheck {
    /// Returns the kind of its monitor.
    pub const fn kind(&self) -> MonitorKind {
        match self {
            Self::Http(_) => MonitorKind::Http,
            Self::Tcp(_) => MonitorKind::Tcp,
            Self::Dns(_) => MonitorKind::Dns,
            Self::Heartbeat(_) => MonitorKind::Heartbeat,
        }
    }

    /// Returns whether the assessment of a response may take long.
    pub fn is_costly_to_assess(&self) -> bool {
        match self {
            Self::Http(http) => http.is_costly_to_assess(),
            Self::Tcp(_) | Self::Dns(_) | Self::Heartbeat(_) => false,
        }
    }

    /// Returns the checked host, a name or an address; for DNS the queried name. `None` for a check
    /// without a request, which says nothing about the network of a probe.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::Http(http) => Some(http.url.host_str().unwrap_or_default()),
            Self::Tcp(tcp) => Some(&tcp.host),
            Self::Dns(dns) => Some(&dns.name),
            Self::Heartbeat(_) => None,
        }
    }

    /// Returns the configured secrets.
    pub(in crate::check) fn secrets(&self) -> Configured {
        match self {
            Self::Http(http) => {
                Configured::in_forms(redact::of_check(&http.headers, &http.url, &http.body))
            }
            Self::Tcp(_) | Self::Dns(_) | Self::Heartbeat(_) => Configured::default(),
        }
    }
}

impl Job {
    /// Returns the identity of its result.
    pub fn identity(&self) -> ResultKey {
        ResultKey {
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
