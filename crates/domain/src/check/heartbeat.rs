//! Heartbeat monitors: what a call of a monitor's URL reports, what is kept of the calls, and whether the
//! next one is late. `calls` has the results. The server receives the calls and evaluates them at the slots
//! of the monitor; no probe takes part (docs/decisions/0080-heartbeats.md).

use std::time::Duration;

use rules::Timestamp;
use rules::monitor::HeartbeatCheck;

use crate::duration::format_duration;

/// Bounds of the time after a start of the server before a call that it may have missed is late. The caller
/// retries for some minutes; longer, and frequent restarts would hide a late call for ever.
const AFTER_START_MIN: Duration = Duration::from_mins(1);
const AFTER_START_MAX: Duration = Duration::from_mins(10);

/// Times of a heartbeat monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatPlan {
    /// Time from one call to the next.
    pub interval: Duration,
    /// Time that a call may be late, and that a run may take.
    pub grace: Duration,
}

/// Report of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A run began.
    Start,
    /// The job succeeded.
    Success,
    /// The job failed.
    Failure {
        /// Exit code of its command, if the call reports one.
        exit_code: Option<u8>,
    },
}

/// Calls of a monitor, as far as they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatState {
    /// Start of the wait: the creation, the end of a pause, or a change of the times.
    pub watched_since: Timestamp,
    /// Last call of any kind.
    pub received_at: Option<Timestamp>,
    /// Last success.
    pub succeeded_at: Option<Timestamp>,
    /// The failure that no success has followed.
    pub failure: Option<HeartbeatFailure>,
    /// Start of the run in progress, if it was reported.
    pub started_at: Option<Timestamp>,
    /// First start that no end has followed. A later start does not excuse it.
    pub unended_since: Option<Timestamp>,
}

/// Reported failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatFailure {
    pub at: Timestamp,
    pub exit_code: Option<u8>,
}

/// Pause of the server in which it may have missed calls of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Availability {
    /// Time from which the server has received calls without a pause.
    pub up_since: Timestamp,
    /// Whether the monitor was late before the stop. Then the stop excuses nothing.
    pub was_late: bool,
}

/// Finding of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// No call has come yet, and none is late.
    Waiting,
    OnTime,
    /// The reason, as a sentence.
    Wrong(String),
}

impl HeartbeatPlan {
    /// Creates the plan of a check.
    pub fn new(check: &HeartbeatCheck) -> Self {
        let seconds = |seconds: u32| Duration::from_secs(u64::from(seconds));
        Self { interval: seconds(check.interval), grace: seconds(check.grace) }
    }

    /// Returns whether it is too late for a call that was expected at this time. One that was expected before
    /// the server's start may be missed, and has time for retries.
    fn is_late(self, expected: Timestamp, available: Availability, now: Timestamp) -> bool {
        let may_be_missed = !available.was_late
            && expected <= available.up_since
            && now <= available.up_since + self.grace.clamp(AFTER_START_MIN, AFTER_START_MAX);
        now > expected + self.grace && !may_be_missed
    }

    /// Returns whether a call, or the end of a run, is late at `now`. A reported failure is not late.
    pub fn has_late_call(
        self,
        state: &HeartbeatState,
        available: Availability,
        now: Timestamp,
    ) -> bool {
        let unreported = HeartbeatState { failure: None, ..*state };
        matches!(self.find(&unreported, available, now), Finding::Wrong(_))
    }

    /// Decides what the calls mean at `now`.
    pub(super) fn find(
        self,
        state: &HeartbeatState,
        available: Availability,
        now: Timestamp,
    ) -> Finding {
        if let Some(failure) = state.failure {
            return Finding::Wrong(failed(failure.exit_code));
        }
        let since = state.waits_since();
        let expected = since + self.interval;
        // A run that began too late does not excuse the missing call.
        let run = state.unended_since.filter(|began| !self.is_late(expected, available, *began));
        match (run, state.succeeded_at) {
            (Some(began), _) if self.is_late(began, available, now) => {
                let (ran, grace) = (format_duration(now.since(began)), format_duration(self.grace));
                Finding::Wrong(format!("started {ran} ago and has not ended; the grace is {grace}"))
            }
            (None, _) if self.is_late(expected, available, now) => {
                let waited = format_duration(now.since(since));
                let interval = format_duration(self.interval);
                Finding::Wrong(format!("no heartbeat for {waited}; expected every {interval}"))
            }
            (Some(_), Some(_)) => Finding::OnTime,
            (None, Some(at)) if !self.is_late(at + self.interval, available, now) => {
                Finding::OnTime
            }
            (Some(_) | None, None) | (None, Some(_)) => Finding::Waiting,
        }
    }
}

impl Signal {
    /// Returns the signal of a command that ended with this code.
    pub const fn from_exit_code(code: u8) -> Self {
        if code == 0 { Self::Success } else { Self::Failure { exit_code: Some(code) } }
    }
}

impl HeartbeatState {
    /// Creates the state of a monitor that begins to wait.
    pub fn waiting(since: Timestamp) -> Self {
        Self { watched_since: since, ..Self::default() }
    }

    /// Returns the time from which the monitor waits for the next call.
    pub fn waits_since(&self) -> Timestamp {
        self.watched_since.max(self.succeeded_at.unwrap_or_default())
    }

    /// Records a call. Returns the duration of the run that it ends, if its start was reported.
    pub fn record(&mut self, signal: Signal, at: Timestamp) -> Option<Duration> {
        self.set_back(at);
        self.received_at = Some(at);
        match signal {
            Signal::Start => {
                self.started_at = Some(at);
                self.unended_since.get_or_insert(at);
                return None;
            }
            Signal::Success => (self.succeeded_at, self.failure) = (Some(at), None),
            Signal::Failure { exit_code } => {
                self.failure = Some(HeartbeatFailure { at, exit_code });
            }
        }
        self.unended_since = None;
        self.started_at.take().map(|began| at.since(began))
    }

    /// Begins to wait anew, after a change of the times or a pause.
    pub fn restart(&mut self, at: Timestamp) {
        self.set_back(at);
        self.watched_since = at;
    }

    /// Forgets what was reported before the monitor was paused, as it resumes.
    pub fn resume(&mut self, at: Timestamp) {
        self.restart(at);
        (self.succeeded_at, self.failure) = (None, None);
        (self.started_at, self.unended_since) = (None, None);
    }

    /// Caps all remembered times at `now`, because the clock was set back.
    pub fn set_back(&mut self, now: Timestamp) {
        self.watched_since = self.watched_since.min(now);
        for at in [
            &mut self.received_at,
            &mut self.succeeded_at,
            &mut self.started_at,
            &mut self.unended_since,
        ] {
            *at = at.map(|at| at.min(now));
        }
        if let Some(failure) = &mut self.failure {
            failure.at = failure.at.min(now);
        }
    }
}

/// Returns what a monitor waits for, for messages: `a heartbeat every 1 h`.
pub fn expected_calls(check: &HeartbeatCheck) -> String {
    format!("a heartbeat every {}", format_duration(HeartbeatPlan::new(check).interval))
}

pub(super) fn failed(exit_code: Option<u8>) -> String {
    match exit_code {
        Some(code) => format!("the job ended with exit code {code}"),
        None => "the job reported a failure".to_owned(),
    }
}
