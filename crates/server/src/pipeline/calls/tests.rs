//! Tests of the calls in memory: pauses of the server, slots of calls, and kept output.

use domain::check::{HeartbeatFailure, Outcome};
use rules::monitor::{Check, HeartbeatCheck, Monitor, MonitorSettings};
use rules::{Periodicity, WorkspaceId};

use super::*;

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const SECOND: Duration = Duration::from_secs(1);

/// Creates the plan of a monitor that expects a call every minute, with a grace of a minute.
pub(in crate::pipeline) fn a_plan() -> Arc<CheckPlan> {
    let check = HeartbeatCheck { grace: 60, ..HeartbeatCheck::new(60) };
    let settings = MonitorSettings {
        active: true,
        ..MonitorSettings::new("Backup", Periodicity::ThirtySeconds, Check::Heartbeat(check))
    };
    let (id, workspace) = (MonitorId::from_bits(1), WorkspaceId::from_bits(1));
    let monitor =
        Monitor { id, workspace, revision: 1, settings, created_at: START, updated_at: START };
    Arc::new(CheckPlan::new(&monitor).unwrap())
}

/// Calls of a monitor with a success at the start.
fn a_success() -> HeartbeatState {
    let mut state = HeartbeatState::waiting(START);
    state.record(Signal::Success, START);
    state
}

fn known(state: HeartbeatState, was_late: bool) -> ReceivedCalls {
    let calls = ReceivedCalls::default();
    calls.start(START);
    calls.load(a_plan(), state, was_late);
    calls
}

fn outcome(calls: &ReceivedCalls, seconds: u32) -> Outcome {
    let slot = START + SECOND * seconds;
    let job = Job {
        plan: a_plan(),
        region: UNPROBED_REGION,
        slot,
        trigger: Trigger::Scheduled,
        next_slot: slot + 30 * SECOND,
        keep_evidence: false,
    };
    calls.evaluate(&job, slot).unwrap().outcome
}

#[test]
fn pause_excuses_only_calls_on_time_before() {
    let calls = known(a_success(), false);
    for seconds in [30, 60, 90, 120] {
        assert_eq!(outcome(&calls, seconds), Outcome::Success);
    }
    assert_eq!(outcome(&calls, 600), Outcome::Success);
    // Another pause begins before the excuse of the first ends.
    assert_eq!(outcome(&calls, 630), Outcome::Success);
    assert_eq!(outcome(&calls, 1_200), Outcome::Success);
    assert_eq!(outcome(&calls, 1_260), Outcome::Success);
    assert_eq!(outcome(&calls, 1_290), Outcome::Failure);
    assert_eq!(outcome(&calls, 2_000), Outcome::Failure, "it was late before this pause");
}

#[test]
fn call_that_cannot_be_stored_is_excused() {
    let calls = known(a_success(), false);
    for seconds in [30, 60, 90, 119] {
        assert_eq!(outcome(&calls, seconds), Outcome::Success);
    }
    calls.miss(START + 100 * SECOND);
    assert_eq!(outcome(&calls, 150), Outcome::Success);
    assert_eq!(outcome(&calls, 180), Outcome::Failure);
    calls.miss(START + 190 * SECOND);
    assert_eq!(outcome(&calls, 200), Outcome::Failure, "it was late before");
}

#[test]
fn late_call_before_a_start_stays_late() {
    let calls = ReceivedCalls::default();
    calls.start(START + 600 * SECOND);
    calls.load(a_plan(), a_success(), true);
    assert_eq!(outcome(&calls, 600), Outcome::Failure);
    calls.load(a_plan(), a_success(), false);
    assert_eq!(outcome(&calls, 600), Outcome::Success);
}

#[test]
fn calls_at_once_have_different_slots() {
    let calls = known(a_success(), false);
    let slots = [0; 3].map(|_| calls.update(MonitorId::from_bits(1), a_success(), START));
    let slots = slots.map(|updated| updated.unwrap().0.slot.as_millis() - START.as_millis());
    assert_eq!(slots, [0, 1, 2]);
}

#[test]
fn outputs_of_many_failures_are_limited() {
    let calls = known(a_success(), false);
    let keeps = |state, seconds: u32| {
        let at = START + SECOND * seconds;
        calls.update(MonitorId::from_bits(1), state, at).unwrap().1
    };
    let failure = Some(HeartbeatFailure { at: START, exit_code: None });
    let failed = HeartbeatState { failure, ..a_success() };
    for second in 1..=OUTPUTS_AT_ONCE {
        assert!(keeps(a_success(), second) && keeps(failed, second), "{second}");
    }
    assert!(!keeps(failed, 500) && keeps(a_success(), 500), "a success ends no limit");
    assert!(!keeps(failed, 600));
    assert!(keeps(failed, 601) && !keeps(failed, 602));
    assert!(keeps(failed, 1_201));
    for second in 10_000..10_000 + OUTPUTS_AT_ONCE {
        assert!(keeps(failed, second), "{second}");
    }
    assert!(!keeps(failed, 10_010));
    // The clock was set back.
    assert!(!keeps(failed, 5_000) && keeps(failed, 5_600));
}
