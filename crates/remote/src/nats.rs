//! Names and connections that servers and probes share if jobs and results travel through NATS JetStream:
//! - Jobs of a region are in a work queue of its own (`aloft.jobs.<region>`), and those of a private
//!   region in one of its probe (`aloft.jobs.<probe>-<region>`).
//! - Results of all probes are in another one (`aloft.results.<probe>`).
//! - Probes ask the server with plain requests (`aloft.probes.<probe>.<call>`), and get the answers below
//!   `aloft.inbox.<probe>`, so that their credentials need no wider rights.

mod connect;
mod urls;

use std::time::Duration;

use async_nats::HeaderMap;
use rules::{ProbeId, Region};

pub use self::connect::{NatsError, NatsSettings, connect, with_causes};
pub use self::urls::{InvalidNatsUrl, NatsUrls};

/// Stream of all results.
pub const RESULTS_STREAM: &str = "ALOFT_RESULTS";
/// Subjects of all results.
pub const RESULTS_SUBJECTS: &str = "aloft.results.*";
/// Subjects of all requests of probes.
pub const CALLS_SUBJECTS: &str = "aloft.probes.*.*";
/// Consumer of each stream: the probes of a region, or the server.
pub const CONSUMER: &str = "aloft";
/// Interval of signs of life on a subscription to a stream.
pub const IDLE_HEARTBEAT: Duration = Duration::from_secs(5);
/// Longest time that one request for messages of a stream stays open.
pub const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// Header of a request with the token of the probe.
const AUTHORIZATION: &str = "Authorization";
/// Header of an answer that refuses a request. Its value is a status code of HTTP.
const STATUS: &str = "Aloft-Status";

/// A request of a probe to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NatsCall {
    /// Opens a stream: `OpenRequest`, answered with the first `Frame`.
    Open,
    /// Reports the state of the probe: `ReportRequest` without results, answered with `ReportResponse`.
    Report,
    /// Ends a stream: `ReportRequest` with its number, answered with nothing.
    Close,
}

impl NatsCall {
    const ALL: [Self; 3] = [Self::Open, Self::Report, Self::Close];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Report => "report",
            Self::Close => "close",
        }
    }

    /// Returns the subject of this call of a probe.
    pub fn subject(self, probe: ProbeId) -> String {
        format!("aloft.probes.{probe}.{}", self.as_str())
    }

    /// Returns the probe and the call of a subject.
    pub fn of_subject(subject: &str) -> Option<(ProbeId, Self)> {
        let (probe, call) = subject.strip_prefix("aloft.probes.")?.split_once('.')?;
        let call = Self::ALL.into_iter().find(|it| it.as_str() == call)?;
        Some((ProbeId::parse(probe).ok()?, call))
    }
}

/// Returns the name of the stream with the jobs of a region for this probe.
pub fn jobs_stream(probe: ProbeId, region: Region) -> String {
    format!("ALOFT_JOBS_{}", queue(probe, region))
}

/// Returns the subject of the jobs of a region for this probe.
pub fn jobs_subject(probe: ProbeId, region: Region) -> String {
    format!("aloft.jobs.{}", queue(probe, region))
}

/// Returns the probe of a stream that belongs to one probe.
pub fn probe_of_stream(name: &str) -> Option<ProbeId> {
    let (probe, _) = name.strip_prefix("ALOFT_JOBS_")?.split_once("-private-")?;
    ProbeId::parse(probe).ok()
}

/// Returns the queue of a region. Workspaces share the names of private regions, so each of their probes
/// has queues of its own.
fn queue(probe: ProbeId, region: Region) -> String {
    if region.is_private() { format!("{probe}-{region}") } else { region.to_string() }
}

/// Returns the subject of the results of a probe.
pub fn results_subject(probe: ProbeId) -> String {
    format!("aloft.results.{probe}")
}

/// Returns the probe of a subject of results.
pub fn results_probe(subject: &str) -> Option<ProbeId> {
    ProbeId::parse(subject.strip_prefix("aloft.results.")?).ok()
}

/// Returns the prefix of the subjects on which a probe gets answers.
pub fn probe_inbox(probe: ProbeId) -> String {
    format!("aloft.inbox.{probe}")
}

/// Returns the prefix of the subjects on which the server gets answers.
pub const fn server_inbox() -> &'static str {
    "aloft.inbox.server"
}

/// Returns the headers of a request with the token of a probe.
pub(crate) fn authorized(token: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, format!("Bearer {token}"));
    headers
}

/// Returns the token in the headers of a request.
pub fn bearer(headers: Option<&HeaderMap>) -> Option<&str> {
    headers?.get(AUTHORIZATION)?.as_str().strip_prefix("Bearer ")
}

/// Returns the headers of an answer that refuses a request.
pub fn refusal(status: u16) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(STATUS, status.to_string());
    headers
}

/// Returns the status in the headers of an answer if it refuses a request.
pub(crate) fn refused_status(headers: Option<&HeaderMap>) -> Option<u16> {
    headers?.get(STATUS)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_read_back() {
        let probe = ProbeId::from_bits(0x0123_4567_89AB_CDEF);
        for call in NatsCall::ALL {
            assert_eq!(NatsCall::of_subject(&call.subject(probe)), Some((probe, call)));
        }
        assert_eq!(results_probe(&results_subject(probe)), Some(probe));
        let streams = [Region::Private16, Region::FlyAms].map(|region| jobs_stream(probe, region));
        assert_eq!(streams.map(|it| probe_of_stream(&it)), [Some(probe), None]);
        for other in ["aloft.probes.prb_1.open", "aloft.probes.open", "aloft.results.", "x"] {
            assert_eq!(
                (NatsCall::of_subject(other), results_probe(other)),
                (None, None),
                "{other}"
            );
        }
    }

    #[test]
    fn headers_read_back() {
        assert_eq!(bearer(Some(&authorized("token"))), Some("token"));
        assert_eq!(refused_status(Some(&refusal(401))), Some(401));
        assert_eq!((bearer(None), refused_status(None)), (None, None));
    }
}
