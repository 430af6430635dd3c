//! One channel and one monitor under any sequence of events: a model of store and sender, which
//! returns the delivered messages as a list.

mod model;

use std::time::Duration;

use proptest::prelude::*;
use rules::MonitorStatus::{Active, Degraded, Error, Unknown};
use rules::notification::{AlertEvent, NotificationPreferences, QuietHours, QuietHoursScope};
use rules::{Interval, MonitorStatus, ProviderType, TimeOfDay, TimeZone};

use self::model::{DeliveredEvent, Fate, Model, Step};
use super::*;
use Step::{Deliver, Mute, Pass, Pause, Resolve, Turn};

const ARRIVES: Step = Deliver(Fate::Arrives);

/// Returns the messages that a Slack channel receives, in order.
fn deliveries(preferences: &NotificationPreferences, steps: &[Step]) -> Vec<String> {
    deliveries_on(ProviderType::Slack, preferences, steps)
}

fn deliveries_on(
    kind: ProviderType,
    preferences: &NotificationPreferences,
    steps: &[Step],
) -> Vec<String> {
    let mut model = Model::new(kind, preferences.clone());
    model.all(steps);
    model.delivered().iter().map(DeliveredEvent::format).collect()
}

const fn minutes(minutes: u64) -> Step {
    Pass(Duration::from_mins(minutes))
}

fn only(events: &[AlertEvent]) -> NotificationPreferences {
    NotificationPreferences { events: events.to_vec(), ..NotificationPreferences::default() }
}

/// 22:00 to 7:00; a model begins at noon.
fn quiet(held: QuietHoursScope) -> NotificationPreferences {
    let time = |text| TimeOfDay::parse(text).unwrap();
    let (from, until) = (time("22:00"), time("07:00"));
    let time_zone = TimeZone::parse("UTC").unwrap();
    NotificationPreferences {
        quiet_hours: Some(QuietHours { from, until, time_zone, applies_to: held }),
        ..NotificationPreferences::default()
    }
}

// design: §5 "Channels hear by default of error, recovery, and `degraded` that lasts two periods"
#[test]
fn outage_and_its_end_are_sent_once() {
    let preferences = NotificationPreferences::default();
    for (steps, expected) in [
        (&[Turn(Active), Turn(Error), ARRIVES, minutes(3), Turn(Active)][..], "error, recovered"),
        (
            &[Turn(Error), Turn(Active), Turn(Error), minutes(1), Turn(Active)],
            "error, recovered, error, recovered",
        ),
        (
            &[Turn(Error), Turn(Unknown), Turn(Error), Turn(Unknown), Turn(Active)],
            "error, recovered",
        ),
        (&[Turn(Unknown), Turn(Active)], ""),
        (
            &[Turn(Error), Turn(Degraded), minutes(9), Turn(Active)],
            "error, still_degraded, recovered",
        ),
        (&[Turn(Error), minutes(1), Turn(Degraded), Turn(Active)], "error, recovered"),
        (
            &[Turn(Error), Turn(Degraded), Turn(Unknown), Turn(Degraded), Turn(Active)],
            "error, recovered",
        ),
        (&[Turn(Error), Turn(Degraded), Turn(Error)], "error, over as degraded, error"),
        (
            &[Turn(Error), Turn(Degraded), minutes(9), Turn(Error)],
            "error, still_degraded, over as degraded, error",
        ),
        (
            &[Turn(Error), Turn(Degraded), minutes(9), Pause],
            "error, still_degraded, over as paused",
        ),
        (&[Turn(Error), minutes(1), Pause], "error, over as paused"),
        (&[Turn(Error), minutes(1), Resolve, Turn(Active)], "error, over as resolved"),
        (&[Turn(Error), Resolve, Turn(Degraded), minutes(2)], "error, over as resolved, degraded"),
    ] {
        assert_eq!(deliveries(&preferences, steps).join(", "), expected, "{steps:?}");
    }
}

#[test]
fn degradation_is_sent_after_two_periods() {
    let preferences = NotificationPreferences::default();
    let seconds = |seconds| Pass(Duration::from_secs(seconds));
    for (steps, expected) in [
        (&[Turn(Degraded), seconds(59), Turn(Active)][..], ""),
        (&[Turn(Degraded), seconds(60), Turn(Active)], "degraded, recovered"),
        (&[Turn(Degraded), seconds(59), Turn(Unknown), Turn(Degraded), seconds(59)], ""),
        (&[Turn(Degraded), seconds(60), Turn(Unknown), Turn(Active)], "degraded, recovered"),
        (&[Turn(Degraded), seconds(60), Turn(Unknown), Turn(Degraded), seconds(90)], "degraded"),
        (&[Turn(Degraded), seconds(60), Pause], "degraded, over as paused"),
        (
            &[Turn(Degraded), seconds(59), Turn(Error), seconds(59), Turn(Active)],
            "error, recovered",
        ),
        (&[Turn(Degraded), seconds(60), Turn(Error), Turn(Active)], "degraded, error, recovered"),
    ] {
        assert_eq!(deliveries(&preferences, steps).join(", "), expected, "{steps:?}");
    }
}

#[test]
fn channel_gets_only_preferred_events() {
    use AlertEvent as Wish;
    let steps = [
        Turn(Degraded),
        minutes(2),
        Turn(Error),
        minutes(1),
        Turn(Degraded),
        minutes(9),
        Turn(Active),
    ];
    for (events, expected) in [
        (&[][..], "degraded, error, still_degraded, recovered"),
        (&[Wish::Error], "error"),
        (&[Wish::Error, Wish::Recovered], "error, over as degraded"),
        (&[Wish::Degraded], "degraded"),
        (&[Wish::Degraded, Wish::Recovered], "degraded, recovered"),
        (&[Wish::Recovered], ""),
    ] {
        assert_eq!(deliveries(&only(events), &steps).join(", "), expected, "{events:?}");
    }
}

// An alert cannot be closed by the end of another one.
#[test]
fn error_closes_earlier_degradation_for_stateful_vendors() {
    let steps = [Turn(Degraded), minutes(2), Turn(Error), minutes(1), Turn(Active)];
    let expected = "degraded, recovered, error, recovered";
    let delivered =
        deliveries_on(ProviderType::Pagerduty, &NotificationPreferences::default(), &steps);
    assert_eq!(delivered.join(", "), expected);
}

// design: §5 "Still `error` when a maintenance ends: an alert then"
#[test]
fn maintenance_mutes_openings_but_not_ends() {
    let (preferences, hour) = (NotificationPreferences::default(), Mute(Duration::from_hours(1)));
    for (steps, expected) in [
        (&[hour, Turn(Error), minutes(59)][..], ""),
        (&[hour, Turn(Error), minutes(60)], "error"),
        (&[hour, Turn(Error), minutes(59), Turn(Active), minutes(9)], ""),
        (&[hour, Turn(Error), minutes(61), Turn(Active)], "error, recovered"),
        (&[Turn(Error), minutes(1), hour, Turn(Active)], "error, recovered"),
        (&[hour, Turn(Degraded), minutes(59)], ""),
        (&[hour, Turn(Degraded), minutes(60)], "degraded"),
        (&[Turn(Degraded), hour, minutes(30), Turn(Active), minutes(60)], ""),
        (
            &[Turn(Degraded), minutes(2), hour, Turn(Error), minutes(1), Turn(Active)],
            "degraded, recovered",
        ),
    ] {
        assert_eq!(deliveries(&preferences, steps).join(", "), expected, "{steps:?}");
    }
}

#[test]
fn events_in_quiet_hours_are_sent_afterwards() {
    let (all, but_errors) = (quiet(QuietHoursScope::All), quiet(QuietHoursScope::AllButErrors));
    let night = Pass(Duration::from_hours(12));
    let morning = Pass(Duration::from_hours(9));
    for (preferences, steps, expected) in [
        (&all, &[night, Turn(Error), minutes(5)][..], ""),
        (&all, &[night, Turn(Error), morning], "error"),
        (&all, &[night, Turn(Error), Turn(Active), morning], "error, recovered"),
        (&all, &[Turn(Error), night, Turn(Active), morning], "error, recovered"),
        (&but_errors, &[night, Turn(Error), Turn(Active)], "error, recovered"),
        (&but_errors, &[night, Turn(Degraded), minutes(5), Turn(Error), minutes(1)], "error"),
        (&but_errors, &[night, Turn(Degraded), minutes(5), Turn(Active), morning], ""),
        (&but_errors, &[night, Turn(Degraded), morning], "degraded"),
    ] {
        assert_eq!(deliveries(preferences, steps).join(", "), expected, "{steps:?}");
    }
}

#[test]
fn reminders_are_sent_while_the_problem_lasts() {
    let every = Some(Interval::parse("1h").unwrap());
    let preferences =
        NotificationPreferences { remind_every: every, ..NotificationPreferences::default() };
    let hours = |hours| Pass(Duration::from_hours(hours));
    let steps = [Turn(Error), hours(1), hours(1), minutes(30), Turn(Active), hours(5)];
    assert_eq!(
        deliveries(&preferences, &steps),
        ["error", "still error (1)", "still error (2)", "recovered"]
    );
    let night = NotificationPreferences {
        quiet_hours: quiet(QuietHoursScope::All).quiet_hours,
        ..preferences
    };
    let steps = [hours(9), Turn(Error), hours(2), Turn(Active), hours(12)];
    assert_eq!(
        deliveries(&night, &steps),
        ["error", "recovered"],
        "the reminder in quiet hours is dropped"
    );
}

#[test]
fn end_of_dead_letter_is_not_sent() {
    let steps = [Turn(Error), Deliver(Fate::Dies), minutes(1), Turn(Active), Turn(Error)];
    assert_eq!(
        deliveries(&NotificationPreferences::default(), &steps),
        ["error", "error"],
        "the first message is a dead letter"
    );
}

#[test]
fn events_after_three_a_minute_wait_in_order() {
    let steps = [Turn(Error), Turn(Active), Turn(Error), Turn(Active), Turn(Error)];
    let mut model = Model::new(ProviderType::Slack, NotificationPreferences::default());
    model.all(&steps);
    let held: Vec<_> = model.waiting().map(|row| row.hold_reason).collect();
    assert_eq!(held, [None, None, None, Some(HoldReason::Digest), Some(HoldReason::Digest)]);
    model.step(ARRIVES);
    model.step(minutes(1));
    let delivered: Vec<_> = model.delivered().iter().map(DeliveredEvent::format).collect();
    assert_eq!(delivered, ["error", "recovered", "error", "recovered", "error"]);
    let mut keeps = Model::new(ProviderType::Opsgenie, NotificationPreferences::default());
    keeps.all(&steps);
    assert!(
        keeps.waiting().all(|row| row.hold_reason.is_none()),
        "grouping vendors get each event at once"
    );
}

#[test]
fn unlinked_channel_gets_only_the_end() {
    let mut model = Model::new(ProviderType::Slack, NotificationPreferences::default());
    model.step(Turn(Error));
    model.is_linked = false;
    model.all(&[Turn(Degraded), minutes(9), Turn(Active), Turn(Error)]);
    let delivered: Vec<_> = model.delivered().iter().map(DeliveredEvent::format).collect();
    assert_eq!(delivered, ["error", "over as degraded"]);
}

#[test]
fn recovery_is_sent_once_with_total_duration() {
    for kind in [ProviderType::Slack, ProviderType::Pagerduty] {
        for degraded in [Duration::from_secs(30), Duration::from_mins(10)] {
            let mut model = Model::new(kind, NotificationPreferences::default());
            let steps = [Turn(Error), minutes(5), Turn(Degraded), Pass(degraded), Turn(Active)];
            model.all(&steps);
            let lasted: Vec<_> =
                model.delivered().iter().filter_map(DeliveredEvent::recovered_after).collect();
            let total = Duration::from_mins(5) + degraded + Duration::from_millis(4);
            assert_eq!(lasted, [total], "{kind:?}");
        }
    }
}

#[test]
fn next_incident_ends_one_left_open() {
    let mut model = Model::new(ProviderType::Slack, NotificationPreferences::default());
    model.step(Turn(Error));
    model.remove_incident();
    model.all(&[minutes(1), Turn(Error), Turn(Active)]);
    let delivered: Vec<_> = model.delivered().iter().map(DeliveredEvent::format).collect();
    assert_eq!(delivered, ["error", "recovered", "error", "recovered"]);
}

fn any_step() -> impl Strategy<Value = Step> {
    let status = prop::sample::select(vec![Active, Degraded, Error, Unknown]);
    let fate = prop::sample::select(vec![Fate::Arrives, Fate::Arrives, Fate::Fails, Fate::Dies]);
    prop_oneof![
        8 => status.prop_map(Turn),
        1 => Just(Pause),
        1 => Just(Resolve),
        1 => (1_u64..7_200).prop_map(|seconds| Mute(Duration::from_secs(seconds))),
        4 => (1_u64..200).prop_map(|seconds| Pass(Duration::from_secs(seconds))),
        2 => (1_u64..12).prop_map(|hours| Pass(Duration::from_hours(hours))),
        6 => fate.prop_map(Deliver),
    ]
}

fn any_preferences() -> impl Strategy<Value = NotificationPreferences> {
    let events = prop::sample::subsequence(
        vec![AlertEvent::Error, AlertEvent::Degraded, AlertEvent::Recovered],
        0..3,
    );
    let hours = prop::sample::select(vec![
        None,
        quiet(QuietHoursScope::All).quiet_hours,
        quiet(QuietHoursScope::AllButErrors).quiet_hours,
    ]);
    let remind = prop::sample::select(vec![None, Some(Interval::parse("30m").unwrap())]);
    (events, hours, remind).prop_map(|(events, quiet_hours, remind_every)| {
        NotificationPreferences { events, remind_every, quiet_hours }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_opening_has_one_end_in_order(
        kind in prop::sample::select(vec![ProviderType::Slack, ProviderType::Pagerduty]),
        preferences in any_preferences(),
        steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut model = Model::new(kind, preferences.clone());
        for step in steps {
            model.step(step);
            prop_assert_eq!(model.twice(), None, "no delivery is planned twice");
        }
        model.step(Turn(Active));
        for _ in 0..50 {
            model.step(Pass(Duration::from_hours(1)));
        }
        prop_assert_eq!(model.waiting().count(), 0, "no delivery waits at the end");
        prop_assert_eq!(model.open(), 0, "no alert is left open");
        prop_assert_eq!(model.out_of_order(), None);
        for incident in model.incidents() {
            let (openings, ends) = (model.openings(incident), model.ends(incident));
            prop_assert!(openings <= 1 && ends <= 1);
            prop_assert!(ends == 0 || model.was_written(incident), "an end without an opening");
            let arrived = model.arrived(incident);
            let wished = preferences.includes(AlertEvent::Recovered);
            prop_assert!(!(arrived && wished) || ends == 1, "an opening without an end");
        }
        prop_assert!(!preferences.includes(AlertEvent::Recovered) || !model.is_degradation_left());
    }
}

#[test]
fn hold_reasons_round_trip() {
    for holds in HoldReason::ALL {
        assert_eq!(HoldReason::parse(holds.as_str()), Ok(*holds));
    }
    assert!(HoldReason::parse("storms").is_err());
}

#[test]
fn transitions_map_to_alert_changes() {
    use crate::judge::{CloseReason, StatusReason};
    let id = IncidentId::from_bits(1);
    let closed = |how| IncidentChange::Closed { id, reason: how };
    let over = |incident, how| Some(AlertChange::Ended { incident, reason: how });
    for (incident, to, expected) in [
        (IncidentChange::Opened(id), Error, Some(AlertChange::Down(id))),
        (closed(CloseReason::Recovered), Active, over(Some(id), CloseReason::Recovered)),
        (closed(CloseReason::Degraded), Degraded, over(Some(id), CloseReason::Degraded)),
        (closed(CloseReason::Resolved), Error, over(Some(id), CloseReason::Resolved)),
        (IncidentChange::Suspended(id), Unknown, None),
        (IncidentChange::Resumed(id), Error, None),
        (IncidentChange::None, Active, over(None, CloseReason::Recovered)),
        (IncidentChange::None, Degraded, Some(AlertChange::Degraded)),
        (IncidentChange::None, Unknown, Some(AlertChange::Unknown)),
        (IncidentChange::None, Error, None),
    ] {
        let (from, at) = (MonitorStatus::Unknown, Timestamp::from_millis(0));
        let transition = Transition { from, to, at, incident, why: StatusReason::NoVotes };
        assert_eq!(AlertChange::from_transition(&transition), expected, "{incident:?} {to}");
    }
}
