//! Effects other than the status: confirmation checks, persistence, the status of a single region,
//! and texts.

use super::*;
use MonitorStatus::{Active, Degraded, Error, Unknown};

// design: §5 "Second opinion"
#[test]
fn failing_region_requests_confirmation_once_a_period() {
    let story = a_monitor().served_by(&[0, 0, 1, 2]).settled().fails("fly-ams");
    assert_eq!(story.effects.confirmations, [Region::FlyBom, Region::FlyCdg]);
    let again = story.clone().fails("fly-ams");
    assert_eq!(again.effects.confirmations, [], "it failed before");
    let other = story.clone().fails("fly-bom");
    assert_eq!(other.effects.confirmations, [], "one round in a period");
    let later = story.after(PERIOD).fails("fly-bom");
    assert_eq!(later.effects.confirmations, [Region::FlyAms, Region::FlyArn, Region::FlyCdg]);
}

#[test]
fn clock_set_back_still_requests_confirmation() {
    let mut story = a_settled_monitor_in(2).fails("fly-ams").succeeds("fly-ams");
    story.now = story.now - PERIOD;
    let mut result = result_of(1, Region::FlyAms, story.now, Outcome::Failure);
    result.identity.slot = story.now + 2 * PERIOD;
    story.receive(&result);
    assert_eq!(story.effects.confirmations, [Region::FlyArn]);
}

#[test]
fn results_after_clock_set_back_count() {
    let mut story = a_settled_monitor_in(1).after(Duration::from_secs(1));
    story.now = story.now - Duration::from_hours(1);
    story.judge_state.set_back(story.now);
    assert_eq!(story.status(), Active);
    let story = story.fails("fly-ams");
    assert_eq!(story.status(), Error);
    let story = story.succeeds("fly-ams");
    assert_eq!(story.status(), Active);
}

#[test]
fn grace_period_survives_clock_set_back() {
    let mut story = a_settled_monitor_in(1).edited(|_| {});
    story.now = story.now - Duration::from_hours(1);
    story.judge_state.set_back(story.now);
    let hold = story.judge_state.grace_period.expect("an edit starts a grace period");
    assert_eq!((hold.since, hold.until), (story.now, story.now + Duration::from_secs(30)));
    assert_eq!(story.fails("fly-ams").status(), Error);
}

#[test]
fn set_back_without_clock_change_changes_nothing() {
    let story = a_settled_monitor_in(3).fails("fly-ams").edited(|_| {});
    let mut judge_state = story.judge_state.clone();
    judge_state.set_back(story.now);
    assert_eq!(judge_state, story.judge_state);
}

#[test]
fn single_probe_requests_no_confirmation() {
    let story = a_monitor().in_regions_of_one_probe(3).settled().fails("fly-ams");
    assert_eq!((story.effects.confirmations, story.judge_state.asked_at), (Vec::new(), None));
}

#[test]
fn all_triggers_vote_alike() {
    for trigger in [Trigger::Confirmation, Trigger::Manual] {
        let mut story = a_settled_monitor_in(1).after(Duration::from_secs(1));
        let mut result = result_of(1, Region::FlyAms, story.now, Outcome::Failure);
        result.identity.trigger = trigger;
        story.receive(&result);
        assert_eq!(story.status(), Error, "{trigger:?}");
    }
}

#[test]
fn plain_success_is_not_stored_and_votes_wait() {
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
        "confirmation was requested once"
    );
}

#[test]
fn late_success_is_stored() {
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

// Its last two results may be older than the results that a starting process recalls.
#[test]
fn every_result_of_rare_monitor_is_stored() {
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
fn region_status_follows_its_valid_vote() {
    let story = a_settled_monitor_in(4).dawdles("fly-arn").fails("fly-bom");
    let status_at = |now| {
        let status = |region: &Region| {
            region_status(&story.policy, &story.judge_state, *region, &story.suspicions, now)
        };
        Region::ALL[..5].iter().map(status).collect::<Vec<_>>()
    };
    assert_eq!(status_at(story.now), [Active, Degraded, Error, Active, Unknown]);
    assert_eq!(status_at(story.now + 3 * PERIOD), [Unknown; 5]);
}

#[test]
fn reasons_read_as_text() {
    let share =
        |votes, of_votes, regions, of_regions| Share { votes, of_votes, regions, of_regions };
    let reasons = [
        StatusReason::NoVotes,
        StatusReason::Paused,
        StatusReason::Deleted,
        StatusReason::Failing(share(2, 3, 2, 3)),
        StatusReason::Failing(share(1, 1, 3, 4)),
        StatusReason::Failing(share(2, 3, 4, 6)),
        StatusReason::Tie(share(1, 2, 1, 2)),
        StatusReason::RegionFailing(Region::FlyAms),
        StatusReason::Slow(share(2, 3, 2, 3)),
        StatusReason::Fine(share(0, 3, 0, 3)),
        StatusReason::Fine(share(0, 1, 0, 1)),
        StatusReason::Fine(share(1, 3, 1, 3)),
    ];
    insta::assert_debug_snapshot!(reasons.map(|why| why.to_string()), @r#"
    [
        "no region has reported lately",
        "the monitor is paused",
        "the monitor is deleted",
        "fails in 2 of 3 regions",
        "the check fails",
        "fails in 4 of 6 regions (2 of 3 probes)",
        "still fails in 1 of 2 regions, fewer than before",
        "fails in `fly-ams`, two slots in a row",
        "is degraded in 2 of 3 regions",
        "the checks of all 3 regions succeed",
        "the check succeeds",
        "fails in no more than 1 of 3 regions",
    ]
    "#);
}

// The store keeps states as JSON; those of older versions must stay readable.
#[test]
fn state_json_round_trips() {
    let story = a_settled_monitor_in(1).fails("fly-ams").restarted();
    let json = serde_json::to_value(&story.judge_state).unwrap();
    assert_eq!(serde_json::from_value::<JudgeState>(json.clone()).unwrap(), story.judge_state);
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
