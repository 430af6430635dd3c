//! State of one probe in another place: its streams, the jobs that it has, and those that wait for it.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use domain::cadence::{Handle, Missed};
use domain::check::CheckResult;
use rules::{MonitorId, ProbeId, Region, Timestamp};
use store::{KeyHash, ProbeSeen, StoredProbe};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{Freed, missed_job, wire};
use crate::lane::{InFlightGuard, QueuedJob};
use crate::observe::metrics::ProbeStatus;

/// A stream of jobs.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) number: u64,
    /// Hash of the token that opened it.
    pub(super) token: KeyHash,
    pub(super) jobs: mpsc::Sender<wire::Job>,
    /// Ends the stream.
    pub(super) closed: CancellationToken,
    /// Time of the last report, by a clock that nobody sets.
    pub(super) heard_at: Instant,
    /// Number of jobs without a result.
    pub(super) outstanding: usize,
    /// Size of the monitors of the jobs in its queue.
    pub(super) bytes: Arc<AtomicUsize>,
}

/// A job that a probe has.
#[derive(Debug)]
pub(super) struct Assigned {
    /// Number of its stream; `None` once that has ended.
    pub(super) session: Option<u64>,
    pub(super) region: Region,
    /// Position on the timetable, until the next slot may run.
    pub(super) handle: Option<Handle>,
    /// Caller that waits for the result.
    pub(super) reply: Option<oneshot::Sender<CheckResult>>,
    /// Missed slot to record if no result comes in time; `None` beside the slots.
    pub(super) missed: Option<Missed>,
    /// Time at which it is given up.
    expires_at: Timestamp,
    /// Lets the judge wait for this result before it commits others.
    in_flight: Option<InFlightGuard>,
}

/// A report of a probe, without its results.
#[derive(Clone, Debug)]
pub(crate) struct ReportHead {
    /// Number of the stream.
    pub(crate) session: u64,
    /// Time of sending by the probe's own clock.
    pub(crate) sent_at: Timestamp,
    pub(crate) version: String,
    pub(crate) running: u32,
    pub(crate) waiting: u32,
    pub(crate) dropped: u32,
}

/// State of a probe.
#[derive(Debug)]
pub(super) struct RemoteProbe {
    pub(super) id: ProbeId,
    pub(super) sessions: Vec<Session>,
    /// Jobs with a stream, by the nonce of their ticket.
    pub(super) assigned: HashMap<u64, Assigned>,
    /// Jobs that no stream has taken: at most one for each monitor and region.
    pub(super) waiting: HashMap<(MonitorId, Region), QueuedJob>,
    status: ProbeStatus,
    /// Address of the latest stream, if it is known.
    address: Option<IpAddr>,
    /// Whether its signs of life since then are stored.
    is_stored: bool,
    /// Version in its last report.
    reported_version: String,
}

impl Assigned {
    /// Creates the record of a job. Its last attempt starts before the next slot.
    pub(super) fn new(queued: QueuedJob, session: u64, reported_within: Duration) -> Self {
        let missed = missed_job(&queued).filter(|_| !queued.is_draft);
        let QueuedJob { job, handle, reply, in_flight, .. } = queued;
        Self {
            session: Some(session),
            region: job.region,
            handle,
            reply,
            missed,
            expires_at: job.next_slot + job.plan.timeout + reported_within,
            in_flight: Some(in_flight),
        }
    }
}

impl Assigned {
    /// Returns whether it is given up at `now`.
    pub(super) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

impl RemoteProbe {
    pub(super) fn new(id: ProbeId) -> Self {
        let status = ProbeStatus {
            is_connected: false,
            version: String::new(),
            heard_at: Timestamp::default(),
            lag: Duration::ZERO,
            clock_offset_ms: 0,
            running: 0,
            waiting: 0,
        };
        let (sessions, assigned, waiting) = (Vec::new(), HashMap::new(), HashMap::new());
        let (address, is_stored, reported_version) = (None, true, String::new());
        Self { id, sessions, assigned, waiting, status, address, is_stored, reported_version }
    }

    pub(super) fn is_connected(&self) -> bool {
        !self.sessions.is_empty()
    }

    pub(super) fn status(&self) -> ProbeStatus {
        ProbeStatus { is_connected: self.is_connected(), ..self.status.clone() }
    }

    /// Records a new stream.
    pub(super) fn greet(&mut self, version: String, address: Option<IpAddr>, now: Timestamp) {
        self.address = address;
        self.set_version(version, now);
    }

    fn set_version(&mut self, version: String, now: Timestamp) {
        self.status.version = version;
        self.status.heard_at = now;
        self.is_stored = false;
    }

    /// Returns the latest sign of life, unless it was taken before.
    pub(super) fn take_seen(&mut self) -> Option<ProbeSeen> {
        if std::mem::replace(&mut self.is_stored, true) {
            return None;
        }
        let ProbeStatus { version, heard_at: at, .. } = self.status.clone();
        Some(ProbeSeen { probe: self.id, at, version, address: self.address })
    }

    /// Ends the streams whose token is no longer valid: all if the probe was deleted.
    pub(super) fn close_without_token(&mut self, stored: Option<&StoredProbe>, now: Timestamp) {
        let is_valid = |token: KeyHash| {
            let known = stored.filter(|it| it.token == token || it.previous_until > Some(now));
            known.is_some()
        };
        for session in self.sessions.iter().filter(|it| !is_valid(it.token)) {
            session.closed.cancel();
        }
    }

    /// Records a report, whose lag is absent without results. Returns the version of the report before.
    pub(super) fn heard(
        &mut self,
        head: &ReportHead,
        lag: Option<Duration>,
        now: Timestamp,
    ) -> String {
        if let Some(session) = self.sessions.iter_mut().find(|it| it.number == head.session) {
            session.heard_at = Instant::now();
        }
        self.set_version(head.version.clone(), now);
        self.record_lag(lag);
        self.status.clock_offset_ms = head.sent_at.as_millis() - now.as_millis();
        self.status.running = head.running;
        self.status.waiting = head.waiting;
        std::mem::replace(&mut self.reported_version, head.version.clone())
    }

    /// Records the lag of results that came without a report. Returns the version of the report before.
    pub(super) fn record_lag(&mut self, lag: Option<Duration>) -> String {
        self.status.lag = lag.unwrap_or(self.status.lag);
        self.reported_version.clone()
    }

    /// Returns whether a stream is open.
    pub(super) fn has_session(&self, number: u64) -> bool {
        self.sessions.iter().any(|it| it.number == number && !it.closed.is_cancelled())
    }

    /// Closes a stream.
    pub(super) fn close_session(&self, number: u64) {
        for session in self.sessions.iter().filter(|it| it.number == number) {
            session.closed.cancel();
        }
    }

    pub(super) fn take_assigned(&mut self, nonce: u64) -> Option<Assigned> {
        let assigned = self.assigned.remove(&nonce)?;
        self.free(assigned.session);
        Some(assigned)
    }

    /// Closes streams whose probe sent no report for `silence_max`. Returns the checks that no longer keep
    /// their next slot from running.
    pub(super) fn close_silent(&mut self, silence_max: Duration) -> Vec<Freed> {
        let is_silent = |session: &Session| session.heard_at.elapsed() > silence_max;
        let silent: Vec<u64> =
            self.sessions.iter().filter(|it| is_silent(it)).map(|it| it.number).collect();
        silent.into_iter().flat_map(|number| self.end_session(number)).collect()
    }

    /// Ends all streams.
    pub(super) fn close(&mut self) {
        for session in &self.sessions {
            session.closed.cancel();
        }
    }

    /// Ends a stream. Its jobs may still be reported. Returns the checks that no longer keep their next
    /// slot from running.
    pub(super) fn end_session(&mut self, number: u64) -> Vec<Freed> {
        for session in self.sessions.extract_if(.., |it| it.number == number) {
            session.closed.cancel();
        }
        let mut freed = Vec::new();
        for assigned in self.assigned.values_mut().filter(|it| it.session == Some(number)) {
            assigned.session = None;
            // Nothing is certain to come, so the judge does not wait.
            assigned.in_flight = None;
            freed.extend(assigned.handle.take().map(|handle| (handle, assigned.region)));
            // A caller need not wait.
            assigned.reply = None;
        }
        freed
    }

    fn free(&mut self, session: Option<u64>) {
        let session = self.sessions.iter_mut().find(|it| Some(it.number) == session);
        if let Some(session) = session {
            session.outstanding = session.outstanding.saturating_sub(1);
        }
    }
}
