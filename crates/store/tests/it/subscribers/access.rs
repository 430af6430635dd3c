//! Access: people who may not view a page get no events of it, and their waiting deliveries are
//! cancelled. This applies to subscribers from before a page was restricted, and to addresses
//! outside its domains. `domain::page` decides who may view it.

use rules::MonitorId;
use rules::status_page::{PageDraft, PageSettings, SuppressionReason};
use store::{Batch, CancelOutcome, FanOutProgress, SubscriberWithPage};

use super::*;
use crate::commit::{closed, opened};
use crate::pages::page_settings;

/// Returns settings for all incidents.
fn all_of(page: PageId, email: &str) -> SubscriberSettings {
    subscriber_settings(page, email, |draft| draft.topics = vec!["incidents".to_owned()])
}

/// Creates a page that shows a monitor, and returns both.
async fn a_page_of_a_monitor(home: &Home) -> (StatusPage, MonitorId) {
    let page = a_page(home, 1).await;
    let monitor = home.monitor(1).await.id;
    let shown = components::settings(page.id, Some(monitor), |_| {});
    components::create(home, 1, shown).await.unwrap();
    (page, monitor)
}

fn with_password(draft: &mut PageDraft, password: &str) {
    draft.access_type = Some("password".to_owned());
    draft.password = Some(Secret::new(password.to_owned()));
}

fn for_members(draft: &mut PageDraft) {
    draft.access_type = Some("email-domain".to_owned());
    draft.auth_email_domains = vec!["acme.com".to_owned()];
}

/// Changes the access of the page.
async fn change_access(
    home: &Home,
    page: &StatusPage,
    change: impl FnOnce(&mut PageDraft),
) -> StatusPage {
    let settings: PageSettings = page_settings(&page.settings.slug, change);
    let seen = home.store.pages().get(home.workspace, page.id).await.unwrap();
    home.store.pages().update(seen, settings, at(1)).await.unwrap()
}

/// Commits an outage of the monitor, and fans it out.
async fn fail_and_recover(home: &Home, page: PageId, monitor: MonitorId, number: u64) {
    let now = 10 * number as i64;
    for transition in [opened(number, now), closed(number, now + 1)] {
        let transitions = vec![(monitor, transition)];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        fan_out::fan_out(home, page, now + 1).await;
    }
}

/// Counts the openings that were sent to a subscriber.
async fn count_openings(home: &Home, subscriber: u64) -> i64 {
    let of_it = format!(
        "deliveries d JOIN events e ON e.number = d.event WHERE d.recipient_id = '{}' \
         AND e.kind = 'page.incident.opened'",
        subscriber_id(subscriber)
    );
    home.count(&of_it).await
}

/// Returns the reasons why subscribers are suppressed, in the order of their numbers.
async fn reasons(home: &Home) -> Vec<Option<SuppressionReason>> {
    let (store, all) = (home.store.subscribers(), SubscriberFilter::default());
    let listed = store.list(home.workspace, all, ALL).await;
    listed
        .unwrap()
        .rows
        .iter()
        .rev()
        .map(|row: &SubscriberWithPage| row.suppression_reason)
        .collect()
}

/// Signs up at the page in its current state, and confirms.
async fn sign_up_and_confirm(home: &Home, page: &StatusPage, number: u64, email: &str) {
    assert_eq!(asks(home, page, number, all_of(page.id, email), 0).await, SignupOutcome::New);
    let confirmed = home.store.subscribers().confirm(subscriber_id(number), None, instant(1)).await;
    assert!(confirmed.unwrap().is_some());
    home.execute("DELETE FROM deliveries").await;
}

// issue 7: "`email-domain` (…, domains matched exactly)"
#[tokio::test]
async fn members_page_notifies_member_domains_only() {
    for_each_engine(async |home| {
        let (page, monitor) = a_page_of_a_monitor(home).await;
        for (number, email) in [(1, "ann@acme.com"), (2, "eve@evil.example")] {
            sign_up_and_confirm(home, &page, number, email).await;
        }
        add(home, 3, all_of(page.id, "bob@sub.acme.com")).await.unwrap();
        let hook = subscriber_settings(page.id, "", |draft| {
            draft.email = None;
            draft.webhook_url = Some(Secret::new("https://hooks.example/x".to_owned()));
            draft.topics = vec!["incidents".to_owned()];
        });
        add(home, 4, hook).await.unwrap();
        let closed = change_access(home, &page, for_members).await;
        let outside = Some(SuppressionReason::Domain);
        assert_eq!(reasons(home).await, [None, outside, outside, None]);
        fail_and_recover(home, page.id, monitor, 1).await;
        for (subscriber, count) in [(1, 1), (2, 0), (3, 0), (4, 1)] {
            assert_eq!(count_openings(home, subscriber).await, count, "{subscriber}");
        }
        let outsider = all_of(page.id, "eva@notacme.com");
        assert_eq!(asks(home, &closed, 5, outsider.clone(), 2).await, SignupOutcome::NotAllowed);
        let refused = add(home, 5, outsider).await;
        assert!(matches!(refused, Err(StoreError::Refused(it)) if it.field == "email"));

        change_access(home, &page, |_| {}).await;
        assert_eq!(reasons(home).await, [None; 4], "suppressed subscribers are kept");
        fail_and_recover(home, page.id, monitor, 2).await;
        for (subscriber, count) in [(1, 2), (2, 1), (3, 1), (4, 2)] {
            assert_eq!(count_openings(home, subscriber).await, count, "{subscriber}");
        }
    })
    .await;
}

#[tokio::test]
async fn password_page_notifies_admitted_and_added_subscribers() {
    for_each_engine(async |home| {
        let (page, monitor) = a_page_of_a_monitor(home).await;
        sign_up_and_confirm(home, &page, 1, "before@example.com").await;
        add(home, 2, all_of(page.id, "added@example.com")).await.unwrap();
        let closed = change_access(home, &page, |draft| with_password(draft, "first")).await;
        sign_up_and_confirm(home, &closed, 3, "inside@example.com").await;
        let outside = Some(SuppressionReason::Password);
        assert_eq!(reasons(home).await, [outside, None, None]);
        fail_and_recover(home, page.id, monitor, 1).await;
        for (subscriber, count) in [(1, 0), (2, 1), (3, 1)] {
            assert_eq!(count_openings(home, subscriber).await, count, "{subscriber}");
        }
        let changed = change_access(home, &page, |draft| with_password(draft, "second")).await;
        assert_eq!(reasons(home).await, [outside, None, outside], "sessions end, too");
        // People who are admitted again receive events again: after a sign-up, or a choice.
        let again = all_of(page.id, "before@example.com");
        assert_eq!(asks(home, &changed, 9, again, 3).await, SignupOutcome::Known);
        let wanted =
            SubscriptionChoice { scope: ComponentScope::All, topics: vec![Topic::Incidents] };
        let store = home.store.subscribers();
        store.choose(subscriber_id(3), wanted, changed, instant(4)).await.unwrap();
        assert_eq!(reasons(home).await, [None; 3]);
    })
    .await;
}

// Design: no step delays a verdict.
#[tokio::test]
async fn fan_out_skips_suppressed_subscribers_in_steps() {
    for_each_engine(async |home| {
        let (page, monitor) = a_page_of_a_monitor(home).await;
        for number in 1..=501 {
            add(home, number, all_of(page.id, &format!("{number}@evil.example"))).await.unwrap();
        }
        add(home, 502, all_of(page.id, "ann@acme.com")).await.unwrap();
        change_access(home, &page, for_members).await;
        let transitions = vec![(monitor, opened(1, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let outbox = home.store.outbox();
        for notified in [0, 1] {
            assert_eq!(outbox.fan_out(page.id, instant(10)).await.unwrap(), FanOutProgress::More);
            assert_eq!(
                count_openings(home, 502).await,
                notified,
                "a step does not check all subscribers"
            );
        }
        assert_eq!(outbox.fan_out(page.id, instant(10)).await.unwrap(), FanOutProgress::Done);
        assert_eq!(home.count("deliveries WHERE kind = 'email'").await, 1);
        assert_eq!(home.count("deliveries WHERE kind = 'page' AND state = 'accepted'").await, 1);
    })
    .await;
}

#[tokio::test]
async fn rolled_back_step_is_repeated() {
    for_each_engine(async |home| {
        let (page, monitor) = a_page_of_a_monitor(home).await;
        for number in 1..=501 {
            add(home, number, all_of(page.id, &format!("{number}@example.com"))).await.unwrap();
        }
        let transitions = vec![(monitor, opened(1, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        home.execute("ALTER TABLE events RENAME TO elsewhere").await;
        home.store.outbox().fan_out(page.id, instant(10)).await.unwrap_err();
        home.execute("ALTER TABLE elsewhere RENAME TO events").await;
        assert_eq!(fan_out::fan_out(home, page.id, 10).await, FanOutProgress::Done);
        assert_eq!(home.count("deliveries WHERE kind = 'email'").await, 501);
    })
    .await;
}

#[tokio::test]
async fn deliveries_of_suppressed_subscriber_are_cancelled() {
    for_each_engine(async |home| {
        let (page, monitor) = a_page_of_a_monitor(home).await;
        add(home, 1, all_of(page.id, "eve@evil.example")).await.unwrap();
        fail_and_recover(home, page.id, monitor, 1).await;
        assert_ne!(due(home, 1, 11).await, []);
        let left = home.store.outbox().cancel_for(subscriber_id(1), instant(12)).await.unwrap();
        assert_eq!(left, CancelOutcome::NotSuppressed);
        assert_ne!(due(home, 1, 12).await, [], "the page is open again");
        change_access(home, &page, for_members).await;
        let left = home.store.outbox().cancel_for(subscriber_id(1), instant(13)).await.unwrap();
        assert_eq!(left, CancelOutcome::Cancelled);
        assert_eq!(due(home, 1, 13).await, []);
        assert_eq!(home.count("deliveries WHERE kind = 'email' AND state = 'cancelled'").await, 2);
    })
    .await;
}
