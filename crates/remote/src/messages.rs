//! Jobs and results as messages. The server encodes jobs and decodes results, and a probe does the
//! reverse. The server trusts no message of a probe: every number and time has bounds.

use std::sync::Arc;
use std::time::Duration;

use buffa::Message as _;
use bytes::Bytes;
use contract::{IntoDraft as _, SecretVisibility};

use contract::monitor::StoredMonitor;
use contract::monitor::wire::{Kind, Monitor as WireMonitor};
use domain::cadence::MissedReason;
use domain::check::{CheckPlan, CheckResult, Evidence, Job, Outcome, Phases, ProbeName, ResultKey};
use rules::monitor::Monitor;
use rules::{IpVersion, MonitorId, MonitorStatus, Region, Timestamp, Violations, WorkspaceId};

use crate::ticket::{Ticket, trigger};
use crate::{RESULT_AGE_MAX, RESULT_BYTES_MAX, wire};

/// Time that a probe's estimate of the server's clock may be ahead.
const CLOCK_AHEAD_MAX: Duration = Duration::from_secs(5);
/// Time by which a check may have begun before its slot, for the same reason.
const CLOCK_BEHIND_MAX: Duration = Duration::from_secs(5);
/// Status codes of HTTP.
const STATUS_CODES: std::ops::RangeInclusive<i32> = 100..=999;

/// A job as a probe receives it.
#[derive(Debug)]
pub struct RemoteJob {
    /// Returned with the result.
    pub ticket: Vec<u8>,
    /// Share of the workspace in the permits.
    pub weight: u32,
    pub job: Job,
}

/// The outcome that a probe reports for a job.
#[derive(Debug)]
pub enum Reported {
    /// The check ran.
    Ran {
        result: CheckResult,
        /// Whether a body was cut because the probe's memory was used up.
        is_cut: bool,
    },
    /// The check did not run.
    Missed(MissedReason),
}

/// Error for a job that this version of the program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableJob {
    #[error("its message is malformed: {0}")]
    Malformed(#[from] buffa::DecodeError),
    #[error("it has no {0}")]
    Absent(&'static str),
    #[error("its monitor has arguments that this version does not know")]
    UnknownArguments,
    #[error("its {field} `{given}` is unknown")]
    Unknown { field: &'static str, given: String },
    #[error("its monitor is invalid: {0}")]
    Invalid(#[from] Violations),
    #[error(transparent)]
    Unplannable(#[from] domain::check::InvalidPlan),
}

/// Error for a result that the server does not accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResult {
    #[error("it has {0} bytes, more than {RESULT_BYTES_MAX}")]
    TooLarge(usize),
    #[error("its {field} `{given}` is unknown")]
    Unknown { field: &'static str, given: String },
    #[error("its {0} is out of range")]
    OutOfRange(&'static str),
    #[error("it ended in the future, at {0}; check the clocks")]
    Future(Timestamp),
    #[error("it ended before its slot, at {0}")]
    BeforeItsSlot(Timestamp),
    #[error("it is older than {} h", RESULT_AGE_MAX.as_secs() / 3_600)]
    TooOld,
    #[error("its evidence is unreadable: {0}")]
    Evidence(String),
}

/// Encodes the arguments of a monitor for its jobs, with its secrets. Outputs are left out: a probe needs
/// none, and older ones would reject new ones.
pub fn encode_monitor(monitor: &Monitor) -> Bytes {
    let stored = StoredMonitor {
        monitor,
        status: MonitorStatus::Unknown,
        default_regions: &[],
        heartbeat: None,
        secrets: SecretVisibility::Visible,
    };
    let mut arguments = stored.arguments();
    omit_defaults(&mut arguments);
    arguments.encode_to_vec().into()
}

/// Removes later arguments that have their defaults, because earlier probes reject arguments that they do
/// not know. Without the arguments, they do the same.
fn omit_defaults(monitor: &mut WireMonitor) {
    let any = Some(IpVersion::Any.as_str());
    match &mut monitor.kind {
        Some(Kind::Http(http)) => {
            http.ip_version = http.ip_version.take().filter(|it| Some(it.as_str()) != any);
            http.certificate_warn_days = http.certificate_warn_days.filter(|days| *days != 0);
        }
        Some(Kind::Tcp(tcp)) => {
            tcp.ip_version = tcp.ip_version.take().filter(|it| Some(it.as_str()) != any);
        }
        Some(Kind::Dns(_) | Kind::Heartbeat(_)) | None => {}
    }
}

/// Encodes a job of a workspace with this weight. `monitor` is the result of [`encode_monitor`].
pub fn encode_job(ticket: Vec<u8>, job: &Job, monitor: &[u8], weight: u32) -> wire::Job {
    wire::Job {
        ticket,
        monitor: monitor.to_vec(),
        workspace: job.plan.workspace.bits(),
        monitor_id: job.plan.monitor.bits(),
        check_revision: job.plan.revision as i32,
        region: job.region.to_string(),
        slot_ms: job.slot.as_millis(),
        next_slot_ms: job.next_slot.as_millis(),
        trigger: job.trigger.as_str().to_owned(),
        keep_evidence: job.keep_evidence,
        weight,
        // NATS sets it when it sends the job.
        sent_at_ms: 0,
    }
}

/// Decodes a job.
///
/// # Errors
///
/// Returns [`UnreadableJob`] if the server is newer and uses something that this version does not
/// know, such as a new argument: without it, the check could fail, and its failure would vote.
pub fn decode_job(job: wire::Job) -> Result<RemoteJob, UnreadableJob> {
    let monitor = WireMonitor::decode_from_slice(&job.monitor)?;
    // Decoding skips unknown fields, so they are missing when the monitor is encoded again.
    let known_bytes = monitor.compute_size(&mut buffa::SizeCache::new()) as usize;
    if known_bytes < job.monitor.len() {
        return Err(UnreadableJob::UnknownArguments);
    }
    let draft = match monitor.kind.ok_or(UnreadableJob::Absent("monitor"))? {
        Kind::Http(http) => http.into_draft(),
        Kind::Tcp(tcp) => tcp.into_draft(),
        Kind::Dns(dns) => dns.into_draft(),
        // No server sends such jobs.
        Kind::Heartbeat(_) => return Err(UnreadableJob::UnknownArguments),
    };
    let unknown = |field, given: &str| UnreadableJob::Unknown { field, given: given.to_owned() };
    let region: Region = job.region.parse().map_err(|_| unknown("region", &job.region))?;
    let trigger = trigger(&job.trigger).ok_or_else(|| unknown("trigger", &job.trigger))?;
    let slot = Timestamp::from_millis(job.slot_ms);
    let monitor = Monitor {
        id: MonitorId::from_bits(job.monitor_id),
        workspace: WorkspaceId::from_bits(job.workspace),
        revision: u32::try_from(job.check_revision).unwrap_or(0),
        settings: draft.parse()?,
        created_at: slot,
        updated_at: slot,
    };
    let plan = Arc::new(CheckPlan::new(&monitor)?);
    let next_slot = Timestamp::from_millis(job.next_slot_ms);
    let keep_evidence = job.keep_evidence;
    let run = Job { plan, region, slot, trigger, next_slot, keep_evidence };
    Ok(RemoteJob { ticket: job.ticket, weight: job.weight.max(1), job: run })
}

/// Encodes the result of a job.
pub fn encode_result(ticket: Vec<u8>, result: &CheckResult, is_cut: bool) -> wire::JobResult {
    let micros = |value: Option<u32>| value.map(contract::monitor::micros);
    let Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us } = result.phases;
    let evidence = result.evidence.as_deref();
    wire::JobResult {
        ticket,
        finished_at_ms: result.finished_at.as_millis(),
        outcome: result.outcome.as_str().to_owned(),
        missed: String::new(),
        latency_us: contract::monitor::micros(result.latency_us),
        dns_us: micros(dns_us),
        connect_us: micros(connect_us),
        tls_us: micros(tls_us),
        first_byte_us: micros(first_byte_us),
        transfer_us: micros(transfer_us),
        status: result.status.map(i32::from),
        attempts: i32::from(result.attempts),
        evidence: evidence.map_or_else(Vec::new, |it| {
            serde_json::to_vec(it).expect("evidence has text keys and finite numbers")
        }),
        is_cut,
    }
}

/// Encodes that a job was not run.
pub fn encode_missed(ticket: Vec<u8>, reason: MissedReason) -> wire::JobResult {
    wire::JobResult { ticket, missed: reason.as_str().to_owned(), ..wire::JobResult::default() }
}

/// Decodes what the probe `name` reports for the job of a ticket.
///
/// # Errors
///
/// Returns [`InvalidResult`] for a result that no probe of this product sends, or one whose clock is
/// wrong.
pub fn decode_result(
    result: &wire::JobResult,
    ticket: &Ticket,
    name: ProbeName,
    now: Timestamp,
) -> Result<Reported, InvalidResult> {
    let bytes = result.compute_size(&mut buffa::SizeCache::new()) as usize;
    if bytes > RESULT_BYTES_MAX {
        return Err(InvalidResult::TooLarge(bytes));
    }
    if now.since(ticket.identity.slot) > RESULT_AGE_MAX {
        return Err(InvalidResult::TooOld);
    }
    if !result.missed.is_empty() {
        return missed(&result.missed).map(Reported::Missed);
    }
    let (outcome, is_cut) = (outcome(&result.outcome)?, result.is_cut);
    let finished_at = Timestamp::from_millis(result.finished_at_ms);
    check_time(finished_at, &ticket.identity, now)?;
    let micros =
        |given: i32, field| u32::try_from(given).map_err(|_| InvalidResult::OutOfRange(field));
    let phase = |given: Option<i32>| given.map(|it| micros(it, "phase")).transpose();
    let status = result.status.map(|code| {
        let known = Some(code).filter(|code| STATUS_CODES.contains(code));
        known.and_then(|code| u16::try_from(code).ok()).ok_or(InvalidResult::OutOfRange("status"))
    });
    let attempts = u8::try_from(result.attempts).ok().filter(|count| *count > 0);
    let evidence = (!result.evidence.is_empty())
        .then(|| serde_json::from_slice::<Evidence>(&result.evidence))
        .transpose()
        .map_err(|why| InvalidResult::Evidence(why.to_string()))?;
    let result = CheckResult {
        identity: ticket.identity,
        finished_at,
        outcome,
        latency_us: micros(result.latency_us, "latency")?,
        phases: Phases {
            dns_us: phase(result.dns_us)?,
            connect_us: phase(result.connect_us)?,
            tls_us: phase(result.tls_us)?,
            first_byte_us: phase(result.first_byte_us)?,
            transfer_us: phase(result.transfer_us)?,
        },
        status: status.transpose()?,
        attempts: attempts.ok_or(InvalidResult::OutOfRange("attempts"))?,
        probe: name,
        evidence: evidence.map(Arc::new),
    };
    Ok(Reported::Ran { result, is_cut })
}

/// Checks that a check ended after its slot and not in the future. A clock that is slightly ahead is
/// allowed; the caller caps the time.
fn check_time(
    finished_at: Timestamp,
    identity: &ResultKey,
    now: Timestamp,
) -> Result<(), InvalidResult> {
    if finished_at > now + CLOCK_AHEAD_MAX {
        return Err(InvalidResult::Future(finished_at));
    }
    if finished_at < identity.slot - CLOCK_BEHIND_MAX {
        return Err(InvalidResult::BeforeItsSlot(finished_at));
    }
    Ok(())
}

/// Returns the outcome with this word. A probe skips nothing: the server does.
fn outcome(word: &str) -> Result<Outcome, InvalidResult> {
    let all = [Outcome::Success, Outcome::Degraded, Outcome::Failure];
    all.into_iter()
        .find(|it| it.as_str() == word)
        .ok_or_else(|| InvalidResult::Unknown { field: "outcome", given: word.to_owned() })
}

fn missed(word: &str) -> Result<MissedReason, InvalidResult> {
    let all =
        [MissedReason::Down, MissedReason::Overloaded, MissedReason::NoIpv6, MissedReason::Fault];
    all.into_iter()
        .find(|it| it.as_str() == word)
        .ok_or_else(|| InvalidResult::Unknown { field: "missed", given: word.to_owned() })
}

#[cfg(test)]
mod tests;
