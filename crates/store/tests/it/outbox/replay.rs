//! Replays of dead letters.

use store::{DeliveryState, NextStep, StoreError};

use super::*;
use crate::harness::{a_workspace, for_each_engine, workspace_id};

/// Creates a dead letter: an opening that its receiver rejected.
async fn a_dead_letter(home: &Home, channel: ChannelId, monitor: MonitorId) -> DeliveryId {
    turn(home, monitor, down(1, 10)).await;
    let id = due(home, channel, 10).await.due[0].id;
    record_next_attempt(home, id, 20, NextStep::Dead).await;
    id
}

// design: §5 "the delivery goes to a dead-letter list with a replay button"
#[tokio::test]
async fn replayed_dead_letter_gets_all_attempts_again() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        let outbox = home.store.outbox();
        let mut wakeups = outbox.listen();
        let replayed = outbox.replay(home.workspace, id, at(HOUR)).await.unwrap();
        assert_eq!((replayed.state, replayed.attempt_count), (DeliveryState::Waiting, 0));
        assert_eq!((replayed.due_at, replayed.completed_at), (instant(HOUR), None));
        assert_eq!(replayed.attempts.len(), 1, "earlier attempts stay in the log");
        assert_eq!(wakeups.try_recv(), Ok(channel.into()));
        let again = &due(home, channel, HOUR).await.due[0];
        assert_eq!((again.attempt_count, again.first_attempt_at), (0, None));
        assert_eq!(again.key, "inc_0000000000001-chn_0000000000001-error");
        record_next_attempt(home, id, HOUR, NextStep::Accepted).await;
        turn(home, monitor, up(1, 2 * HOUR)).await;
        assert_eq!(deliver(home, channel, 2 * HOUR).await, ["recovered 1"]);
        let audit = home.store.audit().newest(home.workspace, 1).await.unwrap();
        assert_eq!(
            (audit[0].action.as_str(), &audit[0].resource_id),
            ("delivery.replay", &id.to_string())
        );
    })
    .await;
}

// The clock may stand still, so two attempts may have the same time.
#[tokio::test]
async fn replay_at_the_time_of_death_is_recorded() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        let outbox = home.store.outbox();
        outbox.replay(home.workspace, id, at(20)).await.unwrap();
        let again = &due(home, channel, 20).await.due[0];
        assert_eq!((again.attempt_count, again.total_attempts), (0, 1));
        let arrived = attempt_result((id, again.total_attempts + 1), 20, NextStep::Accepted);
        outbox.record_attempts(vec![arrived]).await.unwrap();
        let delivery = outbox.get(home.workspace, id).await.unwrap();
        assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Accepted, 2));
        assert_eq!(due_events(home, channel, 20).await, [""; 0]);
    })
    .await;
}

// At a receiver that tracks alert states, a late opening would stay open for good.
#[tokio::test]
async fn replayed_opening_of_closed_incident_sends_its_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = opsgenie(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        turn(home, monitor, up(1, 70_010)).await;
        assert_eq!(deliver(home, channel, 70_010).await, [""; 0]);
        home.store.outbox().replay(home.workspace, id, at(HOUR)).await.unwrap();
        let opening = due(home, channel, HOUR).await.due[0].id;
        assert_eq!(opening, id);
        record_next_attempt(home, id, HOUR, NextStep::Dead).await;
        let end = due(home, channel, HOUR).await.due;
        assert_eq!(alert(&end[0]).duration(), Duration::from_secs(70));
        assert_eq!(deliver(home, channel, HOUR).await, ["recovered 1"]);
        // Again, after the end was delivered.
        home.store.outbox().replay(home.workspace, id, at(2 * HOUR)).await.unwrap();
        assert_eq!(deliver(home, channel, 2 * HOUR).await, ["error 1", "recovered 1"]);
        assert_eq!(home.count("deliveries").await, 2);
    })
    .await;
}

// The receiver may have accepted it although we do not know.
#[tokio::test]
async fn end_attempted_in_a_digest_stays_in_it() {
    for_each_engine(async |home| {
        let mut monitors = Vec::new();
        for number in 1..=4 {
            monitors.push(home.monitor(number).await.id);
        }
        let channel = slack(home, 1, &monitors).await;
        for (number, monitor) in (1..).zip(&monitors) {
            turn(home, *monitor, down(number, number as i64)).await;
        }
        let opening = due(home, channel, 10).await.due[0].id;
        record_next_attempt(home, opening, 10, NextStep::Again(instant(2 * MINUTE))).await;
        turn(home, monitors[0], up(1, 20)).await;
        assert_eq!(deliver(home, channel, 20).await, ["error 2", "error 3"]);
        record_next_attempt(home, opening, 2 * MINUTE, NextStep::Dead).await;
        let storm: Vec<_> =
            due(home, channel, 2 * MINUTE).await.due.iter().map(|it| it.id).collect();
        assert_eq!(due_events(home, channel, 2 * MINUTE).await, ["error 4", "recovered 1"]);
        let outbox = home.store.outbox();
        outbox.fix_digest(&storm, "digest-2".to_owned()).await.unwrap();
        let again = NextStep::Again(instant(2 * HOUR));
        let failed = storm.iter().map(|id| attempt_result((*id, 1), 2 * MINUTE, again)).collect();
        outbox.record_attempts(failed).await.unwrap();
        outbox.replay(home.workspace, opening, at(HOUR)).await.unwrap();
        assert_eq!(due_events(home, channel, HOUR).await, ["error 1"]);
        let queue = due(home, channel, 2 * HOUR).await.due;
        let kept: Vec<_> = queue
            .iter()
            .map(|it| (format_due(it), it.attempt_count, it.digest_key.is_some()))
            .collect();
        let of_storm = |text: &str| (text.to_owned(), 1, true);
        let first = ("error 1".to_owned(), 0, false);
        assert_eq!(kept, [first, of_storm("error 4"), of_storm("recovered 1")]);
    })
    .await;
}

#[tokio::test]
async fn replayed_degradation_that_is_over_sends_its_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, slow(0)).await;
        let id = due(home, channel, MINUTE).await.due[0].id;
        record_next_attempt(home, id, MINUTE, NextStep::Dead).await;
        turn(home, monitor, fine(2 * MINUTE)).await;
        home.store.outbox().replay(home.workspace, id, at(HOUR)).await.unwrap();
        assert_eq!(deliver(home, channel, HOUR).await, ["degraded 1", "recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn replay_rejects_other_deliveries() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        let replay = async |workspace, id| home.store.outbox().replay(workspace, id, at(30)).await;
        for (workspace, id) in [(workspace_id(2), id), (home.workspace, DeliveryId::from_bits(99))]
        {
            let refusal = replay(workspace, id).await.unwrap_err();
            assert!(matches!(refusal, StoreError::NotFound { what: "delivery", .. }), "{refusal}");
        }
        home.store.channels().delete(home.workspace, channel, at(30)).await.unwrap();
        let refusal = replay(home.workspace, id).await.unwrap_err().to_string();
        let allowed = "must be a dead letter of an existing channel";
        assert_eq!(refusal, format!("`id` {allowed} (given: `{id}`)"));

        let second = slack(home, 2, &[monitor]).await;
        turn(home, monitor, down(2, 40)).await;
        let waiting = due(home, second, 40).await.due[0].id;
        let refusal = replay(home.workspace, waiting).await.unwrap_err().to_string();
        assert_eq!(refusal, format!("`id` must be a dead letter (given: `{waiting}`)"));
        assert_eq!(due_events(home, second, 40).await, ["error 1"]);
    })
    .await;
}
