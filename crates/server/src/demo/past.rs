//! The history of the demo's 90 days before its start, so that new users see bars, charts and
//! incidents. Nothing in it is random.

use std::sync::Arc;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use rules::monitor::Monitor;
use rules::{IncidentId, MonitorKind, MonitorStatus, Region, Timestamp};
use store::{Batch, StoreError};

use super::DemoState;
use super::{DNS_RECORDS, FAILING_PAGE, FLAPPING_PAGE, HEALTHY_PAGE, SLOW_PAGE, TCP_PORT};
use crate::pipeline::THIS_SERVER;

/// Length of the history, in days.
const DAYS: u32 = 90;
const DAY: Duration = Duration::from_hours(24);
/// Period of the stored checks: enough for charts, but little to store.
const EVERY: Duration = Duration::from_hours(2);

/// A period in which a monitor was down or slow.
struct PastOutage {
    monitor: &'static str,
    /// Time from its beginning to the start of the demo.
    ago: Duration,
    duration: Duration,
    status: MonitorStatus,
}

const OUTAGES: &[PastOutage] = &[
    down(HEALTHY_PAGE, 61, 9, 6),
    down(TCP_PORT, 23, 14, 48),
    down(TCP_PORT, 9, 3, 11),
    degraded(SLOW_PAGE, 74, 8, 380),
    degraded(SLOW_PAGE, 46, 10, 150),
    degraded(SLOW_PAGE, 30, 9, 600),
    degraded(SLOW_PAGE, 12, 16, 210),
    degraded(SLOW_PAGE, 2, 6, 130),
    degraded(DNS_RECORDS, 52, 2, 95),
    down(FAILING_PAGE, 84, 20, 130),
    down(FAILING_PAGE, 57, 7, 22),
    down(FAILING_PAGE, 35, 11, 340),
    down(FAILING_PAGE, 5, 13, 37),
    down(FLAPPING_PAGE, 79, 1, 15),
    down(FLAPPING_PAGE, 66, 18, 20),
    down(FLAPPING_PAGE, 65, 5, 9),
    down(FLAPPING_PAGE, 41, 12, 25),
    down(FLAPPING_PAGE, 28, 22, 12),
    down(FLAPPING_PAGE, 16, 7, 18),
    down(FLAPPING_PAGE, 3, 15, 8),
];

/// Returns an outage that began this many days and hours ago and took this many minutes.
const fn down(monitor: &'static str, days: u64, hours: u64, minutes: u64) -> PastOutage {
    let ago = Duration::from_hours(days * 24 + hours);
    let lasted = Duration::from_mins(minutes);
    PastOutage { monitor, ago, duration: lasted, status: MonitorStatus::Error }
}

/// Returns a period of slowness with the same arguments.
const fn degraded(monitor: &'static str, days: u64, hours: u64, minutes: u64) -> PastOutage {
    PastOutage { status: MonitorStatus::Degraded, ..down(monitor, days, hours, minutes) }
}

/// Stores the history of a new monitor before its first check.
pub(super) async fn store(
    state: &DemoState,
    monitor: &Monitor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let troubles: Vec<&PastOutage> =
        OUTAGES.iter().filter(|it| it.monitor == monitor.settings.name).collect();
    let turns = transitions(&troubles, now, || state.ctx.new_id());
    let batch = Batch {
        results: results(state, monitor, &troubles, now),
        transitions: turns.into_iter().map(|turn| (monitor.id, turn)).collect(),
        at: now,
        ..Batch::default()
    };
    state.store.commit(Arc::new(batch)).await.map(drop)
}

/// Returns the changes of status, oldest first. The last one is to `active`.
fn transitions(
    troubles: &[&PastOutage],
    now: Timestamp,
    mut new_id: impl FnMut() -> IncidentId,
) -> Vec<Transition> {
    use MonitorStatus::{Active, Error, Unknown};
    let turn =
        |at, from, to, incident| Transition { from, to, at, incident, why: StatusReason::NoVotes };
    let mut turns = vec![turn(now - DAY * DAYS, Unknown, Active, IncidentChange::None)];
    for trouble in troubles {
        let began = now - trouble.ago;
        let id = (trouble.status == Error).then(&mut new_id);
        let opened = id.map_or(IncidentChange::None, IncidentChange::Opened);
        let closed = id.map_or(IncidentChange::None, |id| IncidentChange::Closed {
            id,
            reason: CloseReason::Recovered,
        });
        turns.push(turn(began, Active, trouble.status, opened));
        turns.push(turn(began + trouble.duration, trouble.status, Active, closed));
    }
    turns
}

fn results(
    state: &DemoState,
    monitor: &Monitor,
    troubles: &[&PastOutage],
    now: Timestamp,
) -> Vec<CheckResult> {
    let regions = monitor.settings.resolved_regions(&state.default_regions);
    let region = regions.first().copied().unwrap_or(Region::FlyAms);
    let count = (DAY * DAYS).as_secs() / EVERY.as_secs();
    (1..=count)
        .rev()
        .map(|back| {
            let slot = now - EVERY * u32::try_from(back).expect("checks of 90 days are few");
            let hit = |it: &&&PastOutage| now - it.ago <= slot && slot < now - it.ago + it.duration;
            let status = troubles.iter().find(hit).map(|it| it.status);
            let revision = monitor.revision;
            let trigger = Trigger::Scheduled;
            let identity = ResultKey { monitor: monitor.id, revision, region, slot, trigger };
            result(monitor, identity, status, back)
        })
        .collect()
}

/// Returns a check with a latency that varies with the time of day.
fn result(
    monitor: &Monitor,
    identity: ResultKey,
    status: Option<MonitorStatus>,
    number: u64,
) -> CheckResult {
    let kind = monitor.settings.check.kind();
    let outcome = match status {
        Some(MonitorStatus::Error) => Outcome::Failure,
        Some(MonitorStatus::Degraded) => Outcome::Degraded,
        Some(MonitorStatus::Active | MonitorStatus::Unknown) | None => Outcome::Success,
    };
    let usual: u32 = match kind {
        MonitorKind::Http => 84_000,
        MonitorKind::Tcp | MonitorKind::Heartbeat => 12_000,
        MonitorKind::Dns => 21_000,
    };
    // A daily cycle of 13 steps, and a pseudo-random deviation.
    let day = u32::try_from(number % 13).unwrap_or(0) * (usual / 60);
    let scatter = u32::try_from(number * 7_919 % 97).unwrap_or(0) * (usual / 400);
    let slow = if outcome == Outcome::Degraded { 800_000 } else { 0 };
    let latency_us = usual + day + scatter + slow;
    let connect_us = Some(usual / 6);
    let phases = match kind {
        MonitorKind::Http => Phases {
            connect_us,
            first_byte_us: Some(latency_us - usual / 4),
            transfer_us: Some(usual / 12),
            ..Phases::default()
        },
        MonitorKind::Tcp => Phases { connect_us: Some(latency_us), ..Phases::default() },
        MonitorKind::Dns => Phases { dns_us: Some(latency_us), ..Phases::default() },
        MonitorKind::Heartbeat => Phases::default(),
    };
    let code = if outcome == Outcome::Failure { 503 } else { 200 };
    CheckResult {
        finished_at: identity.slot + Duration::from_micros(u64::from(latency_us)),
        identity,
        outcome,
        latency_us,
        phases,
        status: (kind == MonitorKind::Http).then_some(code),
        attempts: 1,
        probe: ProbeName(Arc::from(THIS_SERVER)),
        evidence: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_of_a_monitor_do_not_overlap() {
        let now = Timestamp::from_millis(1_795_279_735_250);
        for name in [HEALTHY_PAGE, TCP_PORT, SLOW_PAGE, DNS_RECORDS, FAILING_PAGE, FLAPPING_PAGE] {
            let of_it: Vec<_> = OUTAGES.iter().filter(|it| it.monitor == name).collect();
            let mut ids = 0;
            let turns = transitions(&of_it, now, || {
                ids += 1;
                IncidentId::from_bits(ids)
            });
            assert!(turns.is_sorted_by(|one, next| one.at < next.at), "{name}");
            assert!(turns.windows(2).all(|pair| pair[0].to == pair[1].from), "{name}");
            assert_eq!(turns.last().unwrap().to, MonitorStatus::Active, "{name}");
        }
    }
}
