//! The past of the showcase's monitors, and what is wrong now. Both are stored directly, so that no
//! check of the server changes them.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, ProbeName, ResultKey, Trigger};
use domain::judge::{
    CloseReason, IncidentChange, JudgeState, RegionResult, RegionState, Share, StatusReason,
    Transition, Vote,
};
use rules::{IncidentId, MonitorId, MonitorStatus, Region, Timestamp, UserId, WorkspaceId};
use store::{Actor, AuditContext, Batch, NewMonitor, Store};

use super::evidence::{cause, evidence, phases, total};
use super::monitors::{Now, OUTAGE, REGIONS, Shown, monitor_id, settings, shown};

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);
const DAYS: u32 = 30;
/// Age of the monitors in days, longer than the pages show.
const AGE_DAYS: u32 = 100;
/// Results per commit.
const BATCH: usize = 4_000;

/// Where the monitors are stored.
pub(super) struct Place<'s> {
    pub(super) store: &'s Store,
    pub(super) workspace: WorkspaceId,
    pub(super) user: UserId,
    pub(super) now: Timestamp,
}

impl Place<'_> {
    /// Stores the monitors with results of thirty days until the first outage, and past outages.
    pub(super) async fn store_past(&self) {
        let change = AuditContext::new(Actor::User(self.user), self.now - DAY * AGE_DAYS);
        let mut transitions = Vec::new();
        for (index, shown) in shown().iter().enumerate() {
            let new = NewMonitor {
                id: monitor_id(index),
                workspace: self.workspace,
                settings: settings(shown),
                idempotency: None,
            };
            self.store.monitors().create(new, change).await.unwrap();
            transitions.extend(self.past(index, shown));
        }
        self.store_results(OUTAGE..u32::MAX).await;
        while self.store.history().compact().await.unwrap().results > 0 {}
        self.commit(Batch { transitions, ..Batch::default() }).await;
    }

    /// Stores the results of this time, in minutes before now.
    pub(super) async fn store_results(&self, ago: Range<u32>) {
        let all = shown();
        let results = all.iter().enumerate();
        let results = results.flat_map(|(index, shown)| self.results(index, shown, &ago));
        for part in results.collect::<Vec<_>>().chunks(BATCH) {
            self.commit(Batch { results: part.to_vec(), ..Batch::default() }).await;
        }
    }

    /// Returns the ID of the open incident of the first monitor.
    pub(super) fn open_incident(&self) -> IncidentId {
        incident(0, self.status(&shown()[0]).1)
    }

    /// Stores the statuses of these monitors. Alerts are sent to the channels that exist.
    pub(super) async fn store_statuses(&self, which: impl Fn(&Shown) -> bool, at: Timestamp) {
        let mut batch = Batch { at, ..Batch::default() };
        for (index, shown) in shown().iter().enumerate().filter(|(_, shown)| which(shown)) {
            batch.judge_states.push((monitor_id(index), self.judge_state(index, shown)));
            let (status, since) = self.status(shown);
            let incident = match shown.now {
                Now::Down(_) => IncidentChange::Opened(incident(index, since)),
                Now::Slow(_) => IncidentChange::None,
                Now::Up | Now::Paused => continue,
            };
            let share = Share { votes: 1, of_votes: 1, regions: 3, of_regions: 3 };
            let why = StatusReason::Failing(share);
            let from = MonitorStatus::Active;
            let change = Transition { at: since, from, to: status, incident, why };
            batch.transitions.push((monitor_id(index), change));
            batch.causes.push((monitor_id(index), cause(shown)));
        }
        self.commit(batch).await;
    }

    async fn commit(&self, batch: Batch) {
        self.store.commit(Arc::new(batch)).await.unwrap();
    }

    fn status(&self, shown: &Shown) -> (MonitorStatus, Timestamp) {
        match shown.now {
            Now::Up => (MonitorStatus::Active, self.up_since(shown)),
            Now::Slow(minutes) => (MonitorStatus::Degraded, self.now - MINUTE * minutes),
            Now::Down(minutes) => (MonitorStatus::Error, self.now - MINUTE * minutes),
            Now::Paused => (MonitorStatus::Unknown, self.now - DAY * 9),
        }
    }

    /// Returns the end of the latest trouble of a monitor, or the time of its first result.
    fn up_since(&self, shown: &Shown) -> Timestamp {
        let latest = shown.past.last().map(|it| self.now - MINUTE * (it.ago - it.minutes));
        latest.unwrap_or(self.now - DAY * (AGE_DAYS - 1))
    }

    /// Returns the results of a time: every ten minutes from all regions for the first two monitors, and
    /// every hour from one region for the others.
    fn results(&self, index: usize, shown: &Shown, ago: &Range<u32>) -> Vec<CheckResult> {
        let (step, regions) = if index < 2 { (10, &REGIONS[..]) } else { (60, &REGIONS[..1]) };
        let newest = if matches!(shown.now, Now::Paused) { 9 * 24 * 60 } else { 0 };
        let minutes = (newest..DAYS * 24 * 60).step_by(step);
        minutes
            .filter(|it| ago.contains(it))
            .flat_map(|ago| regions.iter().map(move |region| (ago, *region)))
            .map(|(ago, region)| self.result(index, shown, (ago, region)))
            .collect()
    }

    fn result(&self, index: usize, shown: &Shown, (ago, region): (u32, Region)) -> CheckResult {
        // A server that starts checks the slots since the newest result, and no name resolves here.
        let slot = self.now - MINUTE * ago - SECOND;
        let trouble = shown.past.iter().find(|it| it.covers(ago));
        let outcome = match shown.now {
            Now::Down(since) if ago <= since => Outcome::Failure,
            Now::Slow(since) if ago <= since => Outcome::Degraded,
            Now::Up | Now::Down(_) | Now::Slow(_) | Now::Paused => match trouble {
                Some(trouble) if trouble.is_outage => Outcome::Failure,
                Some(_) => Outcome::Degraded,
                None => Outcome::Success,
            },
        };
        let phases = phases(shown, outcome, (ago, index, region));
        let latency_us = total(phases);
        let is_http = shown.check.get("http").is_some();
        let status = if outcome == Outcome::Failure { 502 } else { 200 };
        let evidence = evidence(shown, outcome, (slot, phases)).map(Arc::new);
        CheckResult {
            identity: ResultKey {
                monitor: monitor_id(index),
                revision: 1,
                region,
                slot,
                trigger: Trigger::Scheduled,
            },
            finished_at: slot + Duration::from_micros(u64::from(latency_us)),
            outcome,
            latency_us,
            phases,
            status: is_http.then_some(status),
            attempts: if outcome == Outcome::Failure { 2 } else { 1 },
            probe: ProbeName(Arc::from("this server")),
            evidence: evidence.filter(|_| ago < 3 * 24 * 60),
        }
    }

    fn past(&self, index: usize, shown: &Shown) -> Vec<(MonitorId, Transition)> {
        let change = |at, from, to, incident| {
            (monitor_id(index), Transition { at, from, to, incident, why: StatusReason::NoVotes })
        };
        let up = MonitorStatus::Active;
        let first = self.now - DAY * (AGE_DAYS - 1);
        let mut all = vec![change(first, MonitorStatus::Unknown, up, IncidentChange::None)];
        for trouble in &shown.past {
            let at = self.now - MINUTE * trouble.ago;
            let (id, reason) = (incident(index, at), CloseReason::Recovered);
            let (bad, opened, closed) = if trouble.is_outage {
                let closed = IncidentChange::Closed { id, reason };
                (MonitorStatus::Error, IncidentChange::Opened(id), closed)
            } else {
                (MonitorStatus::Degraded, IncidentChange::None, IncidentChange::None)
            };
            all.push(change(at, up, bad, opened));
            all.push(change(at + MINUTE * trouble.minutes, bad, up, closed));
        }
        if shown.now == Now::Paused {
            let (unknown, none) = (MonitorStatus::Unknown, IncidentChange::None);
            all.push(change(self.now - DAY * 9, up, unknown, none));
        }
        all
    }

    fn judge_state(&self, index: usize, shown: &Shown) -> JudgeState {
        let (status, since) = self.status(shown);
        let vote = match shown.now {
            Now::Down(_) => Vote::Failing,
            Now::Slow(_) => Vote::Slow,
            Now::Up | Now::Paused => Vote::Fine,
        };
        let at = self.now - SECOND;
        let trigger = Trigger::Scheduled;
        let latest = RegionResult { slot: at, finished_at: at, revision: 1, trigger, vote };
        let region =
            |region: &Region| RegionState { region: *region, latest: Some(latest), before: None };
        JudgeState {
            status,
            since,
            revision: 1,
            incident: matches!(shown.now, Now::Down(_)).then(|| incident(index, since)),
            grace_period: None,
            tie_since: None,
            slow: matches!(shown.now, Now::Slow(_)),
            asked_at: None,
            regions: REGIONS.iter().map(region).collect(),
        }
    }
}

/// Returns the ID of the incident of a monitor that opened at this time.
fn incident(index: usize, opened_at: Timestamp) -> IncidentId {
    IncidentId::at(opened_at, index as u64)
}
