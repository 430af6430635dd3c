//! What follows from a result beside the status: second opinions, what is written down, what a
//! region alone is, and the words for it all.

use super::*;
use MonitorStatus::{Active, Degraded, Error, Unknown};

// design: §5 "Second opinion"
#[test]
fn other_probes_are_asked_once_a_period_when_a_region_turns() {
    let story = a_monitor().served_by(&[0, 0, 1, 2]).settled().fails("fly-ams");
    assert_eq!(story.effects.ask, [Region::FlyBom, Region::FlyCdg]);
    let again = story.clone().fails("fly-ams");
    assert_eq!(again.effects.ask, [], "it did not turn");
    let other = story.clone().fails("fly-bom");
    assert_eq!(other.effects.ask, [], "one round in a period");
    let later = story.after(PERIOD).fails("fly-bom");
    assert_eq!(later.effects.ask, [Region::FlyAms, Region::FlyArn, Region::FlyCdg]);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_others_from_being_asked() {
    let mut story = a_settled_monitor_in(2).fails("fly-ams").succeeds("fly-ams");
    story.now = story.now - PERIOD;
    let mut result = result_of(1, Region::FlyAms, story.now, Outcome::Failure);
    result.identity.slot = story.now + 2 * PERIOD;
    story.receive(&result);
    assert_eq!(story.effects.ask, [Region::FlyArn]);
}

#[test]
fn results_after_a_clock_was_set_back_are_judged() {
    let mut story = a_settled_monitor_in(1).after(Duration::from_secs(1));
    story.now = story.now - Duration::from_hours(1);
    story.history.set_back(story.now);
    assert_eq!(story.status(), Active);
    let story = story.fails("fly-ams");
    assert_eq!(story.status(), Error);
    let story = story.succeeds("fly-ams");
    assert_eq!(story.status(), Active);
}

#[test]
fn a_hold_that_began_before_the_clock_was_set_back_ends_in_time() {
    let mut story = a_settled_monitor_in(1).edited(|_| {});
    story.now = story.now - Duration::from_hours(1);
    story.history.set_back(story.now);
    let hold = story.history.hold.expect("an edit holds the status");
    assert_eq!((hold.since, hold.until), (story.now, story.now + Duration::from_secs(30)));
    assert_eq!(story.fails("fly-ams").status(), Error);
}

#[test]
fn a_clock_that_goes_on_takes_nothing_back() {
    let story = a_settled_monitor_in(3).fails("fly-ams").edited(|_| {});
    let mut history = story.history.clone();
    history.set_back(story.now);
    assert_eq!(history, story.history);
}

#[test]
fn alone_a_probe_has_nobody_to_ask() {
    let story = a_monitor().in_regions_of_one_probe(3).settled().fails("fly-ams");
    assert_eq!((story.effects.ask, story.history.asked_at), (Vec::new(), None));
}

#[test]
fn opinions_and_manual_checks_vote_like_scheduled_ones() {
    for trigger in [Trigger::Opinion, Trigger::Manual] {
        let mut story = a_settled_monitor_in(1).after(Duration::from_secs(1));
        let mut result = result_of(1, Region::FlyAms, story.now, Outcome::Failure);
        result.identity.trigger = trigger;
        story.receive(&result);
        assert_eq!(story.status(), Error, "{trigger:?}");
    }
}

#[test]
fn an_unremarkable_success_is_nothing_to_write_down_and_votes_alone_can_wait() {
    let mut story = a_settled_monitor_in(3).settled();
    let mut changes = Vec::new();
    for outcome in [Outcome::Success, Outcome::Failure, Outcome::Failure, Outcome::Failure] {
        story = story.reports(Region::FlyAms, outcome);
        changes.push(story.effects.changed);
    }
    let (nothing, votes) = (Changed::Nothing, Changed::Votes(story.now));
    assert_eq!(
        changes,
        [nothing, Changed::Memory, Changed::Status, votes],
        "others were asked once"
    );
}

#[test]
fn a_success_that_comes_late_is_written_down_as_it_is_not_recalled_for_long() {
    let story = a_settled_monitor_in(1).settled().after(Duration::from_mins(2));
    let changed_by_a_success_of = |age| {
        let mut story = story.clone();
        let slot = story.now - age;
        story.receive(&result_of(1, Region::FlyAms, slot, Outcome::Success));
        (story.effects.changed, slot)
    };
    let (changed, _) = changed_by_a_success_of(Duration::from_mins(1));
    assert_eq!(changed, Changed::Nothing);
    let (changed, slot) = changed_by_a_success_of(Duration::from_secs(61));
    assert_eq!(changed, Changed::Votes(slot));
}

// Its last two results may be older than what a process that starts recalls.
#[test]
fn of_a_monitor_that_is_rarely_checked_each_result_is_written_down() {
    let changed_with_a_period_of = |minutes| {
        let story = a_settled_monitor_in(1).edited(|policy| policy.period = minutes);
        let story = story.settled().settled().settled();
        (story.effects.changed, story.now)
    };
    let (changed, _) = changed_with_a_period_of(Duration::from_mins(1));
    assert_eq!(changed, Changed::Nothing);
    let (changed, slot) = changed_with_a_period_of(Duration::from_mins(5));
    assert_eq!(changed, Changed::Votes(slot));
}

#[test]
fn a_region_alone_is_what_its_last_result_says_while_that_has_a_vote() {
    let story = a_settled_monitor_in(4).dawdles("fly-arn").fails("fly-bom");
    let status_at = |now| {
        let status = |region: &Region| {
            region_status(&story.policy, &story.history, *region, &story.doubts, now)
        };
        Region::ALL[..5].iter().map(status).collect::<Vec<_>>()
    };
    assert_eq!(status_at(story.now), [Active, Degraded, Error, Active, Unknown]);
    assert_eq!(status_at(story.now + 3 * PERIOD), [Unknown; 5]);
}

#[test]
fn reasons_are_said_in_words() {
    let share =
        |votes, of_votes, regions, of_regions| Share { votes, of_votes, regions, of_regions };
    let reasons = [
        Why::NoVotes,
        Why::Paused,
        Why::Deleted,
        Why::Failing(share(2, 3, 2, 3)),
        Why::Failing(share(1, 1, 3, 4)),
        Why::Failing(share(2, 3, 4, 6)),
        Why::Tie(share(1, 2, 1, 2)),
        Why::RegionFailing(Region::FlyAms),
        Why::Slow(share(2, 3, 2, 3)),
        Why::Fine(share(0, 3, 0, 3)),
        Why::Fine(share(0, 1, 0, 1)),
        Why::Fine(share(1, 3, 1, 3)),
    ];
    insta::assert_debug_snapshot!(reasons.map(|why| why.to_string()), @r#"
    [
        "no region has reported lately",
        "the monitor is paused",
        "the monitor is deleted",
        "fails in 2 of 3 regions",
        "the check fails",
        "fails in 4 of 6 regions (2 of 3 probes)",
        "still fails in 1 of 2 regions, after it did in more",
        "fails in `fly-ams`, two slots in a row",
        "is slow in 2 of 3 regions",
        "the checks of all 3 regions succeed",
        "the check succeeds",
        "fails in no more than 1 of 3 regions",
    ]
    "#);
}

// The store keeps histories as JSON; what an older version wrote must be readable.
#[test]
fn a_history_reads_back_from_its_json() {
    let story = a_settled_monitor_in(1).fails("fly-ams").restarted();
    let json = serde_json::to_value(&story.history).unwrap();
    assert_eq!(serde_json::from_value::<History>(json.clone()).unwrap(), story.history);
    insta::assert_json_snapshot!(json, @r#"
    {
      "status": "error",
      "since": 1800000000002,
      "revision": 1,
      "incident": "inc_1kq7tpg0g0001",
      "hold": null,
      "tie_since": null,
      "slow": false,
      "asked_at": null,
      "regions": [
        {
          "region": "fly-ams",
          "latest": {
            "slot": 1800000000002,
            "finished_at": 1800000000002,
            "revision": 1,
            "trigger": "scheduled",
            "ballot": "failing"
          },
          "before": {
            "slot": 1800000000001,
            "finished_at": 1800000000001,
            "revision": 1,
            "trigger": "scheduled",
            "ballot": "fine"
          }
        }
      ]
    }
    "#);
}
