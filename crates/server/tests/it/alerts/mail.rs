//! Emails through a mail server in a separate process: names arrive unchanged, and the delivery log
//! records rejections.

use std::time::Duration;

use insta::assert_snapshot;
use serde_json::json;
use store::{Delivery, DeliveryState};
use testkit::mail::{AcceptedMail, RefusedAt};
use testkit::server::{NOTIFICATIONS, TestServer};
use testkit::target::ScriptedResponse;

use super::fixture::{AlertFixture, Vendors, a_mailbox};

/// Names that break emails without careful escaping.
const NAMES: [&str; 9] = [
    "<b>API</b> & \"shop\" 'x'",
    "=?utf-8?q?no_word?= \\ ; , : < > @",
    "Ünïcödé ñandú Ελληνικά Кириллица",
    "العربية עברית हिन्दी ไทย",
    "漢字 かな 한국어 𠜎",
    "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 👍🏿 1️⃣",
    "Z̸̡̧̛͇̱̏̂a̷̢̛͖̩̾l̶̰̞̈́g̵̖̈́o̶͎͝",
    ".",
    "From here.",
];

/// Asserts that a message follows RFC 5322 §2.1.1 and §2.2.
fn assert_form(mail: &AcceptedMail) {
    for line in mail.raw.split("\r\n") {
        assert!(line.len() <= 998, "a line of {} octets", line.len());
        assert!(!line.contains(['\r', '\n']), "{line:?}");
    }
    let (head, _) = mail.raw.split_once("\r\n\r\n").unwrap();
    assert!(head.is_ascii(), "{head}");
}

// issue 6: "Long names, 2,048-character URLs, every script and emoji, and markup characters in names
// pass through every kind"
#[tokio::test]
async fn names_of_every_sort_arrive_as_they_are() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let long = "é漢👩‍👩‍👧".chars().cycle().take(256).collect::<String>();
    let mut monitors = vec![fixture.monitor];
    for name in NAMES.into_iter().chain([long.as_str()]) {
        let monitor = fixture.another(name).await;
        // One channel each: several events on one channel would form a digest.
        fixture.channel(&a_mailbox(), &[monitor]).await;
        monitors.push(monitor);
    }
    fixture.becomes(ScriptedResponse::status(503), &monitors).await;
    let mails = vendors.mail.takes(NAMES.len() + 1).await;
    mails.iter().for_each(assert_form);
    for name in NAMES {
        let title = format!("Down: {name}");
        // An invisible joiner prevents mail clients from decoding names as encoded words.
        let shown = |mail: &&AcceptedMail| mail.subject.replace('\u{2060}', "") == title;
        let mail = mails.iter().find(shown);
        let mail = mail.unwrap_or_else(|| panic!("no mail about {name}"));
        assert!(mail.text.starts_with(&title), "{}", mail.text);
        let escaped = name.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let escaped = escaped.replace('"', "&quot;").replace('\'', "&#39;");
        assert!(mail.html.contains(&format!("Down: {escaped}</title>")), "{}", mail.html);
    }
    let cut = mails.iter().find(|mail| mail.subject.ends_with('…')).unwrap();
    assert!(
        cut.text.contains(&long) && long.contains(&cut.subject["Down: ".len()..].replace('…', ""))
    );
}

#[tokio::test]
async fn mail_rejection_is_recorded() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let channel = fixture.channel(&a_mailbox(), &[]).await;
    let test = async || {
        let request = json!({ "id": channel.to_string() });
        let reply = fixture.caller.call(NOTIFICATIONS, "TestNotification", request).await.json();
        format!("{} {} {}", reply["accepted"], reply["status"], reply["response"])
    };
    let mut shown = vec![test().await];
    for (at, code, text) in [
        (RefusedAt::Receiver, 450, "4.2.0 Greylisted"),
        (RefusedAt::Receiver, 550, "5.1.1 No such user here"),
        (RefusedAt::Message, 451, "4.3.0 Try later"),
        (RefusedAt::Message, 554, "5.6.0 Looks like spam"),
    ] {
        vendors.mail.refuse(at, 1, code, text).await;
        shown.push(test().await);
    }
    assert_snapshot!(shown.join("\n"), @r#"
    true 250 "answered 250 “queued”"
    false 450 "answered 450 “4.2.0 Greylisted”"
    false 550 "answered 550 “5.1.1 No such user here”; enter an address that accepts mail in the channel"
    false 451 "answered 451 “4.3.0 Try later”"
    false 554 "answered 554 “5.6.0 Looks like spam”"
    "#);
    assert!(test().await.starts_with("true 250"));
    assert_eq!(vendors.mail.taken().len(), 2);
}

// issue 16, point 9
#[tokio::test]
async fn echoed_password_of_the_mail_account_is_hidden() {
    let vendors = Vendors::start().await;
    let mut password = None;
    let server = TestServer::start_with(|settings| {
        vendors.set_up(settings);
        password = settings.mail.as_ref().and_then(|mail| mail.account.clone());
    })
    .await;
    let password = password.unwrap().password;
    let fixture = AlertFixture::on(server).await;
    let channel = fixture.channel(&a_mailbox(), &[]).await;
    let echo = format!("5.7.0 you sent {} to us", password.expose());
    vendors.mail.refuse(RefusedAt::Message, 1, 554, &echo).await;
    let request = json!({ "id": channel.to_string() });
    let reply = fixture.caller.call(NOTIFICATIONS, "TestNotification", request).await.to_string();
    assert!(reply.contains("“5.7.0 you sent … to us”"), "{reply}");
}

#[tokio::test]
async fn temporarily_rejected_mail_is_sent_again() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let channel = fixture.channel(&a_mailbox(), &[fixture.monitor]).await;
    vendors.mail.refuse(RefusedAt::Receiver, 1, 450, "4.2.0 Greylisted").await;
    fixture.breaks().await;
    let tried = |all: &[Delivery]| all.iter().any(|it| it.attempts.len() == 1);
    fixture.deliveries(channel, tried).await;
    vendors.mail.wait_for_rejected(1).await;
    fixture.advance(Duration::from_secs(2));
    assert_eq!(vendors.mail.takes(1).await.len(), 1);
    let accepted = |all: &[Delivery]| all.iter().all(|it| it.state == DeliveryState::Accepted);
    assert_eq!(fixture.deliveries(channel, accepted).await[0].attempts.len(), 2);
}
