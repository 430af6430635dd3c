//! Tests of heartbeat monitors: when a call is late, and what a run and a failure mean.

use rules::{MonitorId, Region};

use super::*;
use crate::check::Trigger;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PLAN: HeartbeatPlan = HeartbeatPlan { interval: minutes(60), grace: minutes(5) };
/// The server has run for a day.
const UP: Availability = Availability {
    up_since: Timestamp::from_millis(1_800_000_000_000 - 86_400_000),
    was_late: false,
};

const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

fn key(slot: Timestamp) -> ResultKey {
    let (region, trigger) = (Region::FlyAms, Trigger::Scheduled);
    ResultKey { monitor: MonitorId::from_bits(1), revision: 1, region, slot, trigger }
}

fn probe() -> ProbeName {
    ProbeName(Arc::from("this server"))
}

fn at(state: &HeartbeatState, available: Availability, now: Timestamp) -> CheckResult {
    evaluate(key(now), (PLAN, state), available, (now, probe()))
}

fn reason(result: &CheckResult) -> &str {
    &result.evidence.as_ref().unwrap().attempts[0].reasons[0]
}

#[test]
fn missing_call_is_late_after_the_grace() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    let last = START + minutes(65);
    assert_eq!(at(&state, UP, last).outcome, Outcome::Success);
    let late = at(&state, UP, last + Duration::from_millis(1));
    assert_eq!(late.outcome, Outcome::Failure);
    assert_eq!(reason(&late), "no heartbeat for 1 h 5 min; expected every 1 h");
    state.record(Signal::Success, last + minutes(1));
    assert_eq!(at(&state, UP, last + minutes(2)).outcome, Outcome::Success);
}

#[test]
fn monitor_without_a_call_waits_first() {
    let state = HeartbeatState::waiting(START);
    assert_eq!(at(&state, UP, START + minutes(65)).outcome, Outcome::Skipped);
    assert_eq!(at(&state, UP, START + minutes(66)).outcome, Outcome::Failure);
}

#[test]
fn failure_lasts_until_the_next_success() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state.record(Signal::from_exit_code(3), START + minutes(1));
    state.record(Signal::Start, START + minutes(2));
    let failed = at(&state, UP, START + minutes(3));
    assert_eq!(
        (failed.outcome, reason(&failed)),
        (Outcome::Failure, "the job ended with exit code 3")
    );
    state.record(Signal::from_exit_code(0), START + minutes(3));
    assert_eq!(at(&state, UP, START + minutes(3)).outcome, Outcome::Success);
}

#[test]
fn run_that_does_not_end_is_late() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state.record(Signal::Start, START + minutes(10));
    assert_eq!(at(&state, UP, START + minutes(15)).outcome, Outcome::Success);
    let hanging = at(&state, UP, START + minutes(16));
    assert_eq!(reason(&hanging), "started 6 min ago and has not ended; the grace is 5 min");
    // Another start does not excuse it.
    state.record(Signal::Start, START + minutes(16));
    assert_eq!(at(&state, UP, START + minutes(17)).outcome, Outcome::Failure);
    assert_eq!(state.record(Signal::Success, START + minutes(18)), Some(minutes(2)));
    assert_eq!(at(&state, UP, START + minutes(18)).outcome, Outcome::Success);
}

#[test]
fn run_within_the_grace_may_end_later() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state.record(Signal::Start, START + minutes(64));
    assert_eq!(at(&state, UP, START + minutes(69)).outcome, Outcome::Success);
    assert_eq!(at(&state, UP, START + minutes(70)).outcome, Outcome::Failure);
}

#[test]
fn late_start_does_not_end_the_incident() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state.record(Signal::Start, START + minutes(70));
    assert_eq!(at(&state, UP, START + minutes(71)).outcome, Outcome::Failure);
}

#[test]
fn stop_of_the_server_makes_no_call_late() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    let up_since = START + minutes(90);
    let restarted = |was_late| Availability { up_since, was_late };
    assert_eq!(at(&state, restarted(false), up_since + minutes(5)).outcome, Outcome::Success);
    assert_eq!(at(&state, restarted(false), up_since + minutes(6)).outcome, Outcome::Failure);
    assert_eq!(at(&state, restarted(true), up_since).outcome, Outcome::Failure);
}

#[test]
fn call_expected_after_a_start_is_not_excused() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    let plan = HeartbeatPlan { grace: Duration::ZERO, ..PLAN };
    let expected = START + minutes(60);
    let is_late = |up_since| {
        let available = Availability { up_since, was_late: false };
        plan.has_late_call(&state, available, expected + Duration::from_millis(1))
    };
    assert!(is_late(expected - Duration::from_millis(1)));
    assert!(!is_late(expected));
}

#[test]
fn frequent_restarts_hide_no_late_call() {
    let day = minutes(24 * 60);
    let plan = HeartbeatPlan { interval: day, grace: day };
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    let late_at = START + day + day;
    let restarted = Availability { up_since: late_at - minutes(1), was_late: false };
    assert!(!plan.has_late_call(&state, restarted, late_at + minutes(9)));
    assert!(plan.has_late_call(&state, restarted, late_at + minutes(10)));
}

#[test]
fn run_may_end_after_a_stop() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state.record(Signal::Start, START + minutes(10));
    let restarted = Availability { up_since: START + minutes(30), was_late: false };
    assert_eq!(at(&state, restarted, START + minutes(35)).outcome, Outcome::Success);
    assert_eq!(at(&state, restarted, START + minutes(36)).outcome, Outcome::Failure);
}

#[test]
fn reported_failure_is_not_a_late_call() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Failure { exit_code: None }, START);
    assert!(!PLAN.has_late_call(&state, UP, START + minutes(65)));
    assert!(PLAN.has_late_call(&state, UP, START + minutes(66)));
}

#[test]
fn clock_set_back_caps_remembered_times() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START + minutes(600));
    state.set_back(START);
    assert_eq!(at(&state, UP, START + minutes(66)).outcome, Outcome::Failure);
}

#[test]
fn resumed_monitor_forgets_failures_before_its_pause() {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Failure { exit_code: None }, START);
    state.resume(START + minutes(600));
    assert_eq!(at(&state, UP, START + minutes(601)).outcome, Outcome::Skipped);
    assert_eq!(at(&state, UP, START + minutes(666)).outcome, Outcome::Failure);
}

#[test]
fn call_keeps_duration_and_beginning_of_body() {
    let call = |signal, ran_for| HeartbeatCall {
        signal,
        at: START,
        ran_for,
        body: &[b'x'; 5_000],
        has_more: false,
    };
    let ended = call(Signal::Success, Some(minutes(2)));
    let result = received(key(START), &ended, probe()).unwrap();
    assert_eq!((result.latency_us, result.attempts), (120_000_000, 1));
    let kept = &result.evidence.unwrap().attempts[0];
    assert_eq!(kept.body.as_ref().unwrap().len(), 4_096);
    assert!(kept.body_truncated);
    assert_eq!(kept.started_at, START - minutes(2));

    let long = call(Signal::Failure { exit_code: None }, Some(minutes(600)));
    let result = received(key(START), &long, probe()).unwrap();
    assert_eq!((result.outcome, result.latency_us), (Outcome::Failure, 2_147_483_647));
    assert!(received(key(START), &call(Signal::Start, None), probe()).is_none());
}
