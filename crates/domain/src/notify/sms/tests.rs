//! Messages to phones as text messages as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;
use rules::notification::Phone;

use super::{SMS_MAX, SMS_WIDE_MAX};
use crate::notify::tests::asserts::assert_form;
use crate::notify::tests::fixtures::{a_digest, a_reminder, alert_text, an_event, wire};
use crate::notify::truncate::Unit;
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Sms;

/// A typical channel.
pub(crate) fn channel() -> Phone {
    Phone { phone_number: "+4915112345678".to_owned() }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    assert_form(message, SMS_MAX);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=Down: API & <shop>
    the status is 503, which is not 200
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=Degraded: API & <shop>
    the status is 503, which is not 200
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=Recovered after 12 min: API & <shop>
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=Test: this channel works
    This is a test of the channel "On call". Nothing is wrong.
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=Still down after 2 h 5 min: API & <shop>
    the status is 503, which is not 200
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=+4915112345678
    From=+15005550006
    Body=3 events: 1 down, 1 degraded, 1 recovered
    Down: API & <shop>: the status is 503, which is not 200
    Degraded: API & <shop>: the status is 503, which is not 200
    Recovered after 12 min: API & <shop>
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

fn body(name: &str) -> String {
    let mut event = an_event(EventKind::Error);
    name.clone_into(&mut event.monitor.name);
    super::text(&alert_text(&event))
}

#[test]
fn text_message_is_bounded_by_its_alphabet() {
    let (narrow, wide) = (body(&"n".repeat(300)), body(&"漢".repeat(300)));
    assert!(narrow.chars().all(super::is_seven_bit) && narrow.contains("nnn...\n"), "{narrow}");
    assert!(Unit::Utf16.length(&narrow) <= SMS_MAX);
    assert!(wide.contains("漢...\n") && Unit::Utf16.length(&wide) <= SMS_WIDE_MAX, "{wide}");
    assert!(wide.ends_with("/incidents/1"), "{wide}");
}
