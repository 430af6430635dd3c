//! Messages to WhatsApp as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;
use rules::notification::Phone;

use crate::notify::tests::asserts::assert_form;
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, vendors, wire, wire_of};
use crate::notify::{
    EventBatch, EventKind, Message, TemplateParameter, TwilioAccount, VendorConfig,
    WhatsappTemplate, phone,
};

const KIND: ProviderType = ProviderType::Whatsapp;

/// A typical channel.
pub(crate) fn channel() -> Phone {
    Phone { phone_number: "+4915112345678".to_owned() }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    assert_form(message, phone::BODY_MAX);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🔴 Down: API & <shop>
    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 16:48:55 UTC
    Regions: 2 of 3 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms
    https://status.example.com/incidents/inc_0000000000005
    ");
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🟠 Degraded: API & <shop>
    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 16:47:55 UTC
    Regions: 1 of 2 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms
    https://status.example.com/incidents/inc_0000000000005
    ");
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🟢 Recovered after 12 min: API & <shop>
    Target: GET https://api.example.com/health?full=1&x_y=2
    Started: 2026-11-21 16:36:55 UTC
    Duration: 12 min
    Workspace: Example Inc.
    https://status.example.com/incidents/inc_0000000000005
    ");
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🔵 Test: this channel works
    This is a test of the channel "On call". Nothing is wrong.
    Workspace: Example Inc.
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🔴 Still down after 2 h 5 min: API & <shop>
    the status is 503, which is not 200
    Target: GET https://api.example.com/health?full=1&x_y=2
    Since: 2026-11-21 14:43:55 UTC
    Duration: 2 h 5 min
    Reminder: 2
    Regions: 2 of 3 failing
    Workspace: Example Inc.
    • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200
    • Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200
    • Singapore (fly-sin): ok, status 200, 240 ms
    https://status.example.com/incidents/inc_0000000000005
    ");
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    Body=🔴 3 events: 1 down, 1 degraded, 1 recovered
    Workspace: Example Inc.
    • Down: API & <shop>: the status is 503, which is not 200
    • Degraded: API & <shop>: the status is 503, which is not 200
    • Recovered after 12 min: API & <shop>
    https://status.example.com/incidents/inc_0000000000005
    "#);
}

// issue 16, point 21: a conversation is opened with an approved template
#[test]
fn template_is_composed() {
    let template = WhatsappTemplate {
        id: "HX0123456789abcdef0123456789abcdef".to_owned(),
        parameters: TemplateParameter::ALL.to_vec(),
    };
    let telephone =
        TwilioAccount { whatsapp_template: Some(template), ..vendors().twilio.unwrap() };
    let templated = VendorConfig { twilio: Some(telephone), ..vendors() };
    assert!(!templated.is_without_template() && vendors().is_without_template());
    assert_snapshot!(wire_of(KIND, &templated, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://api.twilio.com/2010-04-01/Accounts/AC123/Messages.json
    content-type: application/x-www-form-urlencoded
    authorization: Basic QUMxMjM6YWNjb3VudC10b2tlbg==

    To=whatsapp:+4915112345678
    From=whatsapp:+15005550007
    ContentSid=HX0123456789abcdef0123456789abcdef
    ContentVariables={"1":"🔴 Down: API & <shop>","2":"the status is 503, which is not 200 | Target: GET https://api.example.com/health?full=1&x_y=2 | Since: 2026-11-21 16:48:55 UTC | Regions: 2 of 3 failing | Workspace: Example Inc. | • Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200 | • Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200 | • Singapore (fly-sin): ok, status 200, 240 ms","3":"the status is 503, which is not 200","4":"GET https://api.example.com/health?full=1&x_y=2","5":"https://status.example.com/incidents/inc_0000000000005"}
    "#);
}
