//! Dead letters told again.

use store::{DeliveryState, StoreError, Then, Woken};

use super::*;
use crate::harness::{a_workspace, for_each_engine, workspace_id};

/// An opening that its receiver refused.
async fn a_dead_letter(home: &Home, channel: ChannelId, monitor: MonitorId) -> DeliveryId {
    turn(home, monitor, down(1, 10)).await;
    let id = due(home, channel, 10).await.due[0].id;
    answer(home, id, 20, Then::Dead).await;
    id
}

// design: §5 "then stands in a dead-letter list with a replay button"
#[tokio::test]
async fn a_dead_letter_is_told_again_for_as_long_as_a_new_one() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        let outbox = home.store.outbox();
        let mut news = outbox.listen();
        let replayed = outbox.replay(home.workspace, id, at(HOUR)).await.unwrap();
        assert_eq!((replayed.state, replayed.tries), (DeliveryState::Waiting, 0));
        assert_eq!((replayed.due_at, replayed.done_at), (instant(HOUR), None));
        assert_eq!(replayed.attempts.len(), 1, "what was tried stays to be read");
        assert_eq!(news.try_recv(), Ok(Woken { channel, due_at: instant(HOUR) }));
        let again = &due(home, channel, HOUR).await.due[0];
        assert_eq!((again.tries, again.first_try_at), (0, None));
        assert_eq!(again.key, "inc_0000000000001-chn_0000000000001-error");
        answer(home, id, HOUR, Then::Accepted).await;
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

// Where alerts are kept, an opening that comes late would stay open for good.
#[tokio::test]
async fn an_opening_of_what_is_over_is_followed_by_its_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = opsgenie(home, 1, &[monitor]).await;
        let id = a_dead_letter(home, channel, monitor).await;
        turn(home, monitor, up(1, 70_010)).await;
        assert_eq!(deliver(home, channel, 70_010).await, [""; 0]);
        home.store.outbox().replay(home.workspace, id, at(HOUR)).await.unwrap();
        let opening = due(home, channel, HOUR).await.due[0].id;
        assert_eq!(opening, id);
        answer(home, id, HOUR, Then::Dead).await;
        let end = due(home, channel, HOUR).await.due;
        assert_eq!(end[0].event.lasted(), Duration::from_secs(70));
        assert_eq!(deliver(home, channel, HOUR).await, ["recovered 1"]);
        // And once more, with what was told already.
        home.store.outbox().replay(home.workspace, id, at(2 * HOUR)).await.unwrap();
        assert_eq!(deliver(home, channel, 2 * HOUR).await, ["error 1", "recovered 1"]);
        assert_eq!(home.count("deliveries").await, 2);
    })
    .await;
}

#[tokio::test]
async fn a_degradation_that_is_over_is_followed_by_its_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, slow(0)).await;
        let id = due(home, channel, MINUTE).await.due[0].id;
        answer(home, id, MINUTE, Then::Dead).await;
        turn(home, monitor, fine(2 * MINUTE)).await;
        home.store.outbox().replay(home.workspace, id, at(HOUR)).await.unwrap();
        assert_eq!(deliver(home, channel, HOUR).await, ["degraded 1", "recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn only_dead_letters_of_the_workspace_and_of_channels_that_are_there_are_told_again() {
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
        let allowed = "may only name a dead letter whose channel was not deleted";
        assert_eq!(refusal, format!("`id` {allowed} (given: `{id}`)"));

        let second = slack(home, 2, &[monitor]).await;
        turn(home, monitor, down(2, 40)).await;
        let waiting = due(home, second, 40).await.due[0].id;
        let refusal = replay(home.workspace, waiting).await.unwrap_err().to_string();
        assert_eq!(refusal, format!("`id` may only name a dead letter (given: `{waiting}`)"));
        assert_eq!(shown(home, second, 40).await, ["error 1"]);
    })
    .await;
}
