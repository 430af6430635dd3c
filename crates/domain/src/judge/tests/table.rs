//! The rows of the table of verdicts, the rules for votes, and details that are our choice.

use super::*;
use MonitorStatus::{Active, Degraded, Error, Unknown};

/// Two of two regions failed, then one recovers: a tie that began in `error`.
fn a_tie() -> MonitorScenario {
    a_settled_monitor_in(2).fails("fly-ams").fails("fly-arn").succeeds("fly-arn")
}

// design: §5 the table of verdicts, row by row
#[test]
fn verdict_table_holds_in_every_row() {
    let window = 2 * PERIOD;
    let rows: Vec<(&str, MonitorScenario, MonitorStatus)> = vec![
        ("no region has reported", a_monitor().after(PERIOD), Unknown),
        ("all votes are too old", a_settled_monitor_in(3).after(window + PERIOD), Unknown),
        ("inactive", a_settled_monitor_in(3).paused(), Unknown),
        ("1 of 1 fails", a_settled_monitor_in(1).fails("fly-ams"), Error),
        ("2 of 3 fail", a_settled_monitor_in(3).fails("fly-ams").fails("fly-arn"), Error),
        ("1 of 2 fails, and it was active", a_settled_monitor_in(2).fails("fly-ams"), Active),
        ("1 of 2 fails, and it was error", a_tie(), Error),
        ("1 of 3 fails once", a_settled_monitor_in(3).fails("fly-ams"), Active),
        ("1 of 3 fails twice", a_settled_monitor_in(3).fails("fly-ams").fails("fly-ams"), Degraded),
        (
            "1 of 3 fails twice with a skipped slot between",
            a_settled_monitor_in(3).fails("fly-ams").skips("fly-ams").fails("fly-ams"),
            Degraded,
        ),
        ("all are slow once", a_settled_monitor_in(3).all(Outcome::Degraded), Active),
        (
            "2 of 3 are slow twice",
            a_settled_monitor_in(3)
                .dawdles("fly-ams")
                .dawdles("fly-ams")
                .dawdles("fly-arn")
                .dawdles("fly-arn"),
            Degraded,
        ),
        (
            "1 of 2 is slow, and half is not more than half",
            a_settled_monitor_in(2).dawdles("fly-ams").dawdles("fly-ams"),
            Active,
        ),
        (
            "1 of 2 regions of one probe is slow, and half is not more than half",
            a_monitor().in_regions_of_one_probe(2).settled().dawdles("fly-ams").dawdles("fly-ams"),
            Active,
        ),
        ("all succeed", a_settled_monitor_in(3), Active),
    ];
    for (row, story, status) in rows {
        assert_eq!(story.status(), status, "{row}: {:#?}", story.formatted_transitions());
    }
}

// design: §5 "stays error for at most two periods, then degraded"
#[test]
fn old_tie_after_error_becomes_degraded() {
    let mut story = a_tie();
    for _ in 0..2 {
        story = story.after(Duration::from_millis(59_990));
        assert_eq!(story.status(), Error);
        story = story.fails("fly-ams").succeeds("fly-arn");
    }
    story = story.after(Duration::from_millis(100));
    assert_eq!(story.status(), Degraded);
    let story = story.after(PERIOD).fails("fly-ams").succeeds("fly-arn");
    insta::assert_debug_snapshot!(story.formatted_transitions(), @r#"
    [
        "unknown → active, silently: the checks of all 2 regions succeed",
        "active → error, opened: fails in 2 of 2 regions",
        "error → degraded, closed as degraded: still fails in 1 of 2 regions, fewer than before",
    ]
    "#);
}

#[test]
fn degraded_tie_survives_clock_set_back() {
    let mut story = a_tie().after(Duration::from_secs(119));
    story = story.fails("fly-ams").succeeds("fly-arn").after(Duration::from_secs(2));
    assert_eq!(story.status(), Degraded);
    story.now = story.now - PERIOD;
    story.tick();
    assert_eq!(story.status(), Degraded);
}

// design: §5 "two results to enter, two to leave"
#[test]
fn degraded_takes_two_results_each_way() {
    let mut story = a_settled_monitor_in(1);
    let steps = [
        (Outcome::Degraded, Active),
        (Outcome::Success, Active),
        (Outcome::Degraded, Active),
        (Outcome::Degraded, Degraded),
        (Outcome::Success, Degraded),
        (Outcome::Degraded, Degraded),
        (Outcome::Success, Degraded),
        (Outcome::Success, Active),
    ];
    for (step, (outcome, status)) in steps.into_iter().enumerate() {
        story = story.all(outcome);
        assert_eq!(story.status(), status, "step {step}");
    }
}

// design: §5 "while half of the monitor's regions or more are without a vote, only after two slots
// in a row"
#[test]
fn few_votes_need_two_failures_in_a_row() {
    for regions in [2, 3] {
        // The grace period of the new monitor ends by time: the other regions never report.
        let story = a_monitor().in_regions(regions).fails("fly-ams").after(PERIOD / 2);
        assert_eq!(story.status(), Unknown, "a first failure does not cause `active` either");
        let story = story.fails("fly-ams");
        assert_eq!(story.formatted_transitions(), ["unknown → error, opened: the check fails"]);
    }
}

#[test]
fn majority_of_regions_decides_at_once() {
    let story = a_monitor().in_regions(3).fails("fly-ams").fails("fly-arn").after(PERIOD / 2);
    assert_eq!(story.formatted_transitions(), ["unknown → error, opened: fails in 2 of 2 regions"]);
}

#[test]
fn few_votes_can_continue_an_error() {
    let story = a_settled_monitor_in(3).fails("fly-ams").fails("fly-arn");
    let story = story.after(Duration::from_secs(110)).fails("fly-bom");
    let story = story.after(Duration::from_secs(15));
    assert_eq!(
        story.formatted_transitions().len(),
        2,
        "up, and down: {:#?}",
        story.formatted_transitions()
    );
}

#[test]
fn distant_slots_do_not_count_as_consecutive() {
    let story = a_settled_monitor_in(3).fails("fly-ams").after(5 * PERIOD).succeeds("fly-arn");
    let story = story.succeeds("fly-bom").fails("fly-ams");
    assert_eq!(story.status(), Active, "{:#?}", story.formatted_transitions());
}

// design: §5 "Regions served by one probe are together one vote, failing when more than half of
// theirs fail"
#[test]
fn regions_of_one_probe_share_a_vote() {
    let story = a_monitor().in_regions_of_one_probe(4).settled();
    let half = story.fails("fly-ams").fails("fly-arn");
    assert_eq!(half.status(), Active);
    let more = half.fails("fly-bom");
    insta::assert_debug_snapshot!(more.formatted_transitions(), @r#"
    [
        "unknown → active, silently: the check succeeds",
        "active → error, opened: the check fails",
    ]
    "#);
}

#[test]
fn single_probe_cannot_outvote_two_others() {
    let story = a_monitor().served_by(&[0, 0, 0, 0, 1, 2]).settled();
    let story = story.fails("fly-ams").fails("fly-arn").fails("fly-bom").fails("fly-cdg");
    assert_eq!(story.status(), Active, "1 of 3 votes: {:#?}", story.formatted_transitions());
}

#[test]
fn vote_expires_after_its_window() {
    for (longest, window) in [(10, 120), (100, 160)] {
        let mut policy = policy_of(&[0]);
        policy.longest = Duration::from_secs(longest);
        let story = MonitorScenario::new(policy).settled().after(Duration::from_secs(window));
        assert_eq!(story.status(), Active, "longest {longest} s");
        let story = story.after(Duration::from_millis(1));
        assert_eq!(story.status(), Unknown, "longest {longest} s");
    }
}
