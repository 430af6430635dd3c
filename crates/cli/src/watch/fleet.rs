//! Monitors, incidents and checks as the view shows them, from the messages of the contract.

use contract::incident::wire::Incident;
use contract::monitor::decode_instant;
use contract::monitor::wire::{
    DnsMonitor, GetMonitorStatusResponse, HeartbeatMonitor, HttpMonitor, ListMonitorsResponse,
    ResponseLog, TcpMonitor,
};
use rules::{MonitorKind, MonitorStatus, Timestamp};

use crate::output::one_line;

/// Status of a monitor, in the order of the list: broken ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WatchedStatus {
    Down,
    Degraded,
    Unknown,
    Up,
    Paused,
}

/// A monitor in the list.
#[derive(Clone, Debug)]
pub(super) struct WatchedMonitor {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: MonitorKind,
    pub(super) target: String,
    pub(super) status: WatchedStatus,
    /// Lower-case text that filters search.
    pub(super) searched: String,
}

/// An open incident.
#[derive(Clone, Debug)]
pub(super) struct WatchedIncident {
    pub(super) id: String,
    pub(super) monitor: String,
    pub(super) name: String,
    pub(super) opened_at: Option<Timestamp>,
    /// Name of the person or key that acknowledged it.
    pub(super) acknowledged_by: Option<String>,
}

/// Reason of a status, and the regions.
#[derive(Clone, Debug, Default)]
pub(super) struct Cause {
    pub(super) since: Option<Timestamp>,
    pub(super) regions: Vec<RegionState>,
    /// Reason of the last failed check, if there is an incident.
    pub(super) why: String,
}

/// A monitor in one region.
#[derive(Clone, Debug)]
pub(super) struct RegionState {
    pub(super) region: String,
    pub(super) status: String,
    pub(super) latency_ms: Option<i32>,
    pub(super) checked_at: Option<Timestamp>,
}

/// A check in the recent past.
#[derive(Clone, Debug)]
pub(super) struct RecentCheck {
    pub(super) at: Option<Timestamp>,
    pub(super) region: String,
    pub(super) outcome: String,
    pub(super) latency_us: i32,
    pub(super) code: Option<i32>,
}

impl WatchedStatus {
    /// All statuses, in the order of the list.
    pub(super) const ALL: [Self; 5] =
        [Self::Down, Self::Degraded, Self::Unknown, Self::Up, Self::Paused];

    /// Returns the word for people. It begins with a sign that works without colours.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Down => "✕ down",
            Self::Degraded => "! degraded",
            Self::Unknown => "? unknown",
            Self::Up => "✓ up",
            Self::Paused => "- paused",
        }
    }

    /// Returns the word without the sign.
    pub(super) fn word(self) -> &'static str {
        self.label().split_once(' ').map_or("", |(_, word)| word)
    }

    fn new(active: Option<bool>, status: Option<&str>) -> Self {
        if active != Some(true) {
            return Self::Paused;
        }
        match status.map(MonitorStatus::parse) {
            Some(Ok(MonitorStatus::Error)) => Self::Down,
            Some(Ok(MonitorStatus::Degraded)) => Self::Degraded,
            Some(Ok(MonitorStatus::Active)) => Self::Up,
            Some(Ok(MonitorStatus::Unknown) | Err(_)) | None => Self::Unknown,
        }
    }
}

impl WatchedMonitor {
    pub(super) fn new(
        id: Option<&str>,
        name: Option<&str>,
        (kind, target): (MonitorKind, &str),
        status: WatchedStatus,
        tags: &[String],
    ) -> Self {
        let (name, target) = (one_line(name.unwrap_or_default()), one_line(target));
        let words = [&*name, &target, status.word(), kind.as_str(), &tags.join(" ")].join(" ");
        Self {
            id: id.unwrap_or_default().to_owned(),
            name,
            kind,
            target,
            status,
            searched: words.to_lowercase(),
        }
    }

    fn http(it: &HttpMonitor) -> Self {
        let status = WatchedStatus::new(it.active, it.status.as_deref());
        let url = crate::check::without_credentials(it.url.as_deref().unwrap_or_default());
        let (id, name) = (it.id.as_deref(), it.name.as_deref());
        Self::new(id, name, (MonitorKind::Http, &url), status, &it.tags)
    }

    fn tcp(it: &TcpMonitor) -> Self {
        let status = WatchedStatus::new(it.active, it.status.as_deref());
        let target = (MonitorKind::Tcp, it.uri.as_deref().unwrap_or_default());
        Self::new(it.id.as_deref(), it.name.as_deref(), target, status, &it.tags)
    }

    fn dns(it: &DnsMonitor) -> Self {
        let status = WatchedStatus::new(it.active, it.status.as_deref());
        let target = (MonitorKind::Dns, it.uri.as_deref().unwrap_or_default());
        Self::new(it.id.as_deref(), it.name.as_deref(), target, status, &it.tags)
    }

    fn heartbeat(it: &HeartbeatMonitor) -> Self {
        let status = WatchedStatus::new(it.active, it.status.as_deref());
        let target = format!("a heartbeat every {} s", it.interval.unwrap_or_default());
        let target = (MonitorKind::Heartbeat, target.as_str());
        Self::new(it.id.as_deref(), it.name.as_deref(), target, status, &it.tags)
    }
}

/// Returns the monitors of a page of the list.
pub(super) fn monitors(page: &ListMonitorsResponse) -> impl Iterator<Item = WatchedMonitor> {
    let http = page.http_monitors.iter().map(WatchedMonitor::http);
    let tcp = page.tcp_monitors.iter().map(WatchedMonitor::tcp);
    let dns = page.dns_monitors.iter().map(WatchedMonitor::dns);
    let heartbeat = page.heartbeat_monitors.iter().map(WatchedMonitor::heartbeat);
    http.chain(tcp).chain(dns).chain(heartbeat)
}

impl WatchedIncident {
    pub(super) fn new(it: &Incident) -> Self {
        let by = it.acknowledged_by.as_option();
        let by = by.map(|by| if by.name.is_empty() { &by.key_id } else { &by.name });
        Self {
            id: it.id.clone(),
            monitor: it.monitor_id.clone(),
            name: one_line(&it.monitor_name),
            opened_at: it.opened_at.as_option().and_then(decode_instant),
            acknowledged_by: by.map(|by| one_line(by)),
        }
    }
}

impl Cause {
    pub(super) fn new(status: &GetMonitorStatusResponse, why: &str) -> Self {
        let regions = status.regions.iter().map(|it| RegionState {
            region: it.region.clone(),
            status: it.status.clone(),
            latency_ms: it.latency_ms,
            checked_at: it.checked_at.as_option().and_then(decode_instant),
        });
        Self {
            since: status.since.as_option().and_then(decode_instant),
            regions: regions.collect(),
            why: one_line(why),
        }
    }

    /// Describes where and why: `fly-ams +2: connection refused`.
    pub(super) fn words(&self) -> String {
        let is_broken = |it: &&RegionState| {
            [MonitorStatus::Error.as_str(), MonitorStatus::Degraded.as_str()].contains(&&*it.status)
        };
        let broken: Vec<&str> =
            self.regions.iter().filter(is_broken).map(|it| it.region.as_str()).collect();
        let place = match *broken {
            [] => String::new(),
            [one] => one.to_owned(),
            [first, ..] => format!("{first} +{}", broken.len() - 1),
        };
        match (place.is_empty(), self.why.is_empty()) {
            (_, true) => place,
            (true, false) => self.why.clone(),
            (false, false) => format!("{place}: {}", self.why),
        }
    }
}

impl RecentCheck {
    pub(super) fn new(it: &ResponseLog) -> Self {
        Self {
            at: it.slot.as_option().and_then(decode_instant),
            region: it.region.clone(),
            outcome: it.outcome.clone(),
            latency_us: it.latency_us,
            code: it.status_code,
        }
    }
}
