//! Changes of status: incidents, grace periods, edits, pauses and starts.

use super::*;
use MonitorStatus::{Active, Degraded, Error, Unknown};

// design: §5 "Transitions"; issue 16, point 11: outages are timed by observation, not by judging or
// storing
#[test]
fn late_judging_keeps_the_observation_time() {
    let mut story = a_settled_monitor_in(3).after(PERIOD / 2);
    let (first, second) = (story.now, story.now + Duration::from_secs(1));
    story.now = story.now + Duration::from_secs(20);
    for (region, ended) in [(Region::FlyAms, second), (Region::FlyArn, first)] {
        story.receive(&result_of(1, region, ended, Outcome::Failure));
    }
    let opened = *story.transitions.last().expect("two of three fail");
    assert_eq!(
        (opened.to, opened.at),
        (Error, second),
        "the end of the last check behind the verdict"
    );
    let IncidentChange::Opened(incident) = opened.incident else { panic!("{opened:?}") };
    assert_eq!(incident, IncidentId::at(second, 1));
    assert_eq!(story.judge_state.since, second);
}

#[test]
fn status_never_starts_before_its_predecessor() {
    let mut story = a_settled_monitor_in(1).after(PERIOD).fails("fly-ams");
    let since = story.judge_state.since;
    let mut late = result_of(1, Region::FlyAms, story.now, Outcome::Success);
    late.identity.slot = story.now + PERIOD;
    late.finished_at = since - Duration::from_secs(9);
    story.receive(&late);
    assert_eq!((story.status(), story.judge_state.since), (MonitorStatus::Active, since));
}

#[expect(clippy::too_many_lines, reason = "a table with a row for each transition")]
#[test]
fn transition_table_holds_in_every_row() {
    let down = || a_settled_monitor_in(1).fails("fly-ams");
    let forgotten = || down().after(3 * PERIOD);
    let slow = |story: MonitorScenario| story.dawdles("fly-ams").dawdles("fly-ams");
    let lines: Vec<(&str, MonitorScenario, &str)> = vec![
        ("to error", down(), "active → error, opened: the check fails"),
        (
            "error to active",
            down().succeeds("fly-ams"),
            "error → active, closed as recovered: the check succeeds",
        ),
        (
            "error to degraded",
            a_settled_monitor_in(3)
                .fails("fly-ams")
                .fails("fly-arn")
                .fails("fly-ams")
                .succeeds("fly-arn")
                .fails("fly-ams"),
            "error → degraded, closed as degraded: fails in `fly-ams`, two slots in a row",
        ),
        (
            "degraded to error",
            slow(a_settled_monitor_in(1)).fails("fly-ams"),
            "degraded → error, opened: the check fails",
        ),
        (
            "degraded to active",
            slow(a_settled_monitor_in(1)).settled().settled(),
            "degraded → active, silently: the check succeeds",
        ),
        (
            "error to unknown",
            forgotten(),
            "error → unknown, silently suspended: no region has reported lately",
        ),
        (
            "error to unknown to error",
            forgotten().fails("fly-ams"),
            "unknown → error, silently resumed: the check fails",
        ),
        (
            "error to unknown to active",
            forgotten().succeeds("fly-ams"),
            "unknown → active, closed as recovered: the check succeeds",
        ),
        (
            "unknown to active",
            a_settled_monitor_in(1),
            "unknown → active, silently: the check succeeds",
        ),
        (
            "active to unknown",
            a_settled_monitor_in(1).after(3 * PERIOD),
            "active → unknown, silently: no region has reported lately",
        ),
        ("pausing", down().paused(), "error → unknown, closed as paused: the monitor is paused"),
        (
            "pausing while nothing is known",
            forgotten().paused(),
            "unknown → unknown, closed as paused: the monitor is paused",
        ),
        (
            "deleting",
            down().deleted(),
            "error → unknown, closed as deleted: the monitor is deleted",
        ),
    ];
    for (line, story, expected) in lines {
        assert_eq!(
            story.formatted_transitions().last().map(String::as_str),
            Some(expected),
            "{line}"
        );
    }
}

/// Returns a monitor in three regions that failed twice in each.
fn an_outage_served_by(probes: &[u16]) -> MonitorScenario {
    a_monitor().served_by(probes).settled().all(Outcome::Failure).all(Outcome::Failure)
}

#[test]
fn recovery_waits_for_regions_that_have_not_reported() {
    for probes in [[0, 0, 0], [0, 1, 2]] {
        let story = an_outage_served_by(&probes).succeeds("fly-ams").succeeds("fly-arn");
        assert_eq!(story.status(), Error, "`fly-bom` has not been checked since: {probes:?}");
        let well = story.clone().succeeds("fly-bom");
        let [.., recovered] = well.transitions[..] else { panic!("it recovered") };
        assert_eq!((recovered.to, recovered.at), (Active, well.now));
        assert!(matches!(
            recovered.incident,
            IncidentChange::Closed { reason: CloseReason::Recovered, .. }
        ));
        assert_eq!(
            story.fails("fly-bom").formatted_transitions().last().unwrap(),
            "error → degraded, closed as degraded: fails in `fly-bom`, two slots in a row"
        );
    }
}

#[test]
fn region_failing_after_the_recovery_degrades_at_once() {
    let story = an_outage_served_by(&[0, 1, 2]).succeeds("fly-ams").fails("fly-bom");
    assert_eq!(story.succeeds("fly-arn").status(), Degraded);
}

// The first late result is of a check that began before the recovery.
#[test]
fn check_from_before_the_recovery_does_not_degrade() {
    let mut story = an_outage_served_by(&[0, 1, 2]);
    let slot = story.now + Duration::from_millis(1);
    story = story.after(Duration::from_secs(1)).succeeds("fly-ams").succeeds("fly-arn");
    let mut late = result_of(1, Region::FlyBom, slot, Outcome::Failure);
    late.finished_at = story.now;
    story.receive(&late);
    assert_eq!(story.status(), Error);
    assert_eq!(story.succeeds("fly-bom").status(), Active);
}

#[test]
fn recovery_waits_a_period_at_most() {
    let story = an_outage_served_by(&[0, 1, 2]).succeeds("fly-ams").succeeds("fly-arn");
    let story = story.after(PERIOD).succeeds("fly-ams");
    assert_eq!(story.status(), Error);
    assert_eq!(story.succeeds("fly-arn").status(), Degraded, "`fly-bom` stays silent");
}

#[test]
fn resumed_incident_keeps_its_id() {
    let story = a_settled_monitor_in(1).fails("fly-ams").after(3 * PERIOD).fails("fly-ams");
    let opened = story.transitions[1].incident;
    let IncidentChange::Opened(id) = opened else { panic!("{opened:?}") };
    assert_eq!(story.transitions[2].incident, IncidentChange::Suspended(id));
    assert_eq!(story.transitions[3].incident, IncidentChange::Resumed(id));
    assert_eq!(story.judge_state.incident, Some(id));
}

// design: §5 "the status holds until all live regions reported or min(period, 30 s) passed"
#[test]
fn status_waits_after_start_resume_and_edit() {
    let stories: [(&str, MonitorScenario, MonitorStatus); 4] = [
        ("created", a_monitor().in_regions(2), Unknown),
        ("started", a_settled_monitor_in(2).restarted(), Active),
        ("resumed", a_settled_monitor_in(2).paused().resumed(), Unknown),
        ("edited", a_settled_monitor_in(2).edited(|_| ()), Active),
    ];
    for (name, story, held) in stories {
        let first = story.clone().fails("fly-ams");
        assert_eq!(first.status(), held, "{name}: one of two reported");
        assert_eq!(first.fails("fly-arn").status(), Error, "{name}: both reported");
        let late = story.fails("fly-ams").after(Duration::from_secs(29));
        assert_eq!(late.status(), held, "{name}: after 29 s");
        let fine = late.after(Duration::from_secs(1));
        assert_eq!(fine.judge_state.grace_period, None, "{name}: after 30 s");
    }
}

#[test]
fn grace_period_is_at_most_one_period() {
    let mut policy = policy_of(&[0, 1]);
    policy.period = Duration::from_secs(10);
    let story = MonitorScenario::new(policy);
    assert_eq!(story.effects.wake_at, Some(START + Duration::from_secs(10)));
}

// design: §5 "regions taken away leave the vote at once; recovery needs a new result"
#[test]
fn edit_keeps_incident_until_a_new_result() {
    let story = a_settled_monitor_in(3).fails("fly-ams").fails("fly-arn");
    let only_bom = |policy: &mut Policy| policy.regions = policy.regions[2..].into();
    let edited = story.edited(only_bom).after(Duration::from_secs(40));
    assert_eq!(edited.judge_state.grace_period, None);
    assert_eq!(edited.status(), Error, "the remaining region succeeded before the edit");
    let recovered = edited.succeeds("fly-bom");
    assert_eq!(
        recovered.formatted_transitions().last().unwrap(),
        "error → active, closed as recovered: the check succeeds"
    );
}

#[test]
fn added_region_has_no_vote_yet() {
    let story = a_settled_monitor_in(1)
        .edited(|policy| *policy = Policy { revision: policy.revision, ..policy_of(&[0, 1]) });
    let now = story.now;
    let status =
        |region| region_status(&story.policy, &story.judge_state, region, &story.suspicions, now);
    assert_eq!([Region::FlyAms, Region::FlyArn].map(status), [Active, Unknown]);
}

#[test]
fn failures_of_two_revisions_are_not_consecutive() {
    let story = a_settled_monitor_in(3).fails("fly-ams").edited(|_| ());
    let story = story.succeeds("fly-arn").succeeds("fly-bom").fails("fly-ams");
    assert_eq!(story.status(), Active);
}

#[test]
fn pause_clears_results() {
    let story = a_settled_monitor_in(1).fails("fly-ams").paused().resumed();
    assert_eq!(story.judge_state.region(Region::FlyAms).unwrap().latest, None);
}

// issue 6: "acknowledged and resolved by people"
#[test]
fn resolved_incident_keeps_status_and_stays_silent() {
    let resolved = a_settled_monitor_in(1).fails("fly-ams").resolved();
    assert_eq!(resolved.status(), Error);
    assert_eq!(resolved.judge_state.incident, None);
    let last_transitions = |story: &MonitorScenario| story.formatted_transitions().split_off(2);
    let closed = "error → error, closed as resolved: a user resolved the incident";
    assert_eq!(last_transitions(&resolved), [closed]);
    let failing = resolved.clone().fails("fly-ams").restarted().fails("fly-ams").edited(|_| ());
    assert_eq!(last_transitions(&failing.fails("fly-ams")), [closed]);
    let silent = "error → active, silently: the check succeeds";
    assert_eq!(last_transitions(&resolved.clone().succeeds("fly-ams")), [closed, silent]);
    let again = resolved.succeeds("fly-ams").fails("fly-ams");
    let opened = "active → error, opened: the check fails";
    assert_eq!(last_transitions(&again), [closed, silent, opened]);
}

#[test]
fn failure_after_unknown_opens_new_incident() {
    let story = a_settled_monitor_in(1).fails("fly-ams").resolved().after(3 * PERIOD);
    assert_eq!(
        story.fails("fly-ams").formatted_transitions()[3..],
        [
            "error → unknown, silently: no region has reported lately",
            "unknown → error, opened: the check fails"
        ]
    );
}

#[test]
fn resolving_a_closed_incident_changes_nothing() {
    let down = a_settled_monitor_in(1).fails("fly-ams");
    for story in
        [down.clone().resolved(), down.clone().succeeds("fly-ams"), a_settled_monitor_in(1)]
    {
        let again = story.clone().resolved();
        assert_eq!(again.judge_state, story.judge_state);
        assert_eq!(
            (again.effects.changed, again.transitions),
            (Changed::Nothing, story.transitions)
        );
    }
    let mut other = down.clone();
    let context = context(&other.suspicions, other.now, &other.transitions);
    let effects = resolve(&other.policy, &mut other.judge_state, IncidentId::from_bits(9), context);
    assert_eq!((effects.transition, other.judge_state), (None, down.judge_state));
}

#[test]
fn resolving_keeps_the_next_wake_up() {
    let down = a_settled_monitor_in(1).fails("fly-ams");
    assert_eq!(down.clone().resolved().effects.wake_at, down.effects.wake_at);
}

#[test]
fn newly_failing_region_joins_open_incident() {
    let opened = a_settled_monitor_in(5).fails("fly-ams").fails("fly-arn").fails("fly-bom");
    assert_eq!(opened.status(), Error);
    assert_eq!(opened.effects.region_failed_in, None, "the incident opened with this result");
    let joined = opened.clone().fails(policy_of(&[0; 4]).regions[3].region.as_str());
    assert_eq!(joined.effects.region_failed_in, opened.judge_state.incident);
    let known = opened.clone().fails("fly-ams");
    assert_eq!(known.effects.region_failed_in, None, "it failed before");
    let fine = opened.succeeds("fly-ams");
    assert_eq!(fine.effects.region_failed_in, None);
}
