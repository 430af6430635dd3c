//! Markup in names is shown verbatim for every vendor, and missing settings are reported by name.

use rules::notification::Provider;
use rules::{OpsgenieRegion, ProviderType, Secret};
use serde_json::Value;

use super::fixtures::{CHANNEL, a_channel, an_event, composed, vendors};
use crate::notify::{
    self, Envelope, Event, EventBatch, EventKind, HttpMessage, Message, TwilioAccount,
    VendorConfig, compose, setting,
};

const HOSTILE: &str = "<b>*_~`@everyone`~_*</b> <!channel> [x](y) & \"q\"\r\nBcc: x\u{202e}";

fn http(provider: &Provider, vendors: &VendorConfig, event: &Event) -> HttpMessage {
    let envelope = Envelope {
        channel: CHANNEL,
        key: "key",
        thread: "thread",
        now: event.at,
        signing: &[],
        link: None,
    };
    match compose(provider, None, vendors, EventBatch::One(event), &envelope).unwrap() {
        Message::Http(message) => message,
        Message::Mail(_) => panic!("an email is sent by SMTP"),
    }
}

#[test]
fn markup_in_a_name_is_escaped() {
    let mut event = an_event(EventKind::Error);
    HOSTILE.clone_into(&mut event.monitor.name);
    for (kind, pointer, expected) in [
        (
            ProviderType::Discord,
            "/embeds/0/title",
            r#"🔴 Down: \<b\>\*\_\~\`\@everyone\`\~\_\*\</b\> \<!channel\> \[x\](y) & "q"  Bcc: x"#,
        ),
        (
            ProviderType::Slack,
            "/text",
            r#"🔴 Down: &lt;b&gt;*_~'@everyone'~_*&lt;/b&gt; &lt;!channel&gt; [x](y) &amp; "q"  Bcc: x"#,
        ),
        (
            ProviderType::Pagerduty,
            "/payload/summary",
            r#"Down: <b>*_~`@everyone`~_*</b> <!channel> [x](y) & "q"  Bcc: x"#,
        ),
        (
            ProviderType::GoogleChat,
            "/cardsV2/0/card/header/title",
            r#"🔴 Down: <b>*_~`@everyone`~_*</b> <!channel> [x](y) & "q"  Bcc: x"#,
        ),
    ] {
        let Message::Http(message) = composed(kind, EventBatch::One(&event), "") else {
            panic!("{kind} is not an email")
        };
        let body: Value = serde_json::from_slice(&message.body).unwrap();
        assert_eq!(body.pointer(pointer).unwrap(), expected, "{kind}");
    }
}

#[test]
fn name_cannot_inject_email_headers() {
    let mut event = an_event(EventKind::Error);
    HOSTILE.clone_into(&mut event.monitor.name);
    let Message::Mail(mail) = composed(ProviderType::Email, EventBatch::One(&event), "") else {
        panic!("an email is sent by SMTP")
    };
    assert_eq!(mail.subject, r#"Down: <b>*_~`@everyone`~_*</b> <!channel> [x](y) & "q"  Bcc: x"#);
    assert!(mail.html.contains("&lt;b&gt;*_~`@everyone`~_*&lt;/b&gt;"), "{}", mail.html);
}

#[test]
fn long_name_is_cut_after_the_event() {
    let mut event = an_event(EventKind::Error);
    event.monitor.name = "n".repeat(10_000);
    let Message::Http(message) = composed(ProviderType::Opsgenie, EventBatch::One(&event), "")
    else {
        panic!("Opsgenie is not an email")
    };
    let body: Value = serde_json::from_slice(&message.body).unwrap();
    let expected = format!("Down: {}…", "n".repeat(123));
    assert_eq!(body["message"], expected);
}

#[test]
fn unconfigured_kind_names_the_missing_setting() {
    let event = an_event(EventKind::Error);
    let no_numbers = VendorConfig {
        twilio: Some(TwilioAccount {
            sms_from: None,
            whatsapp_from: None,
            ..vendors().twilio.unwrap()
        }),
        ..vendors()
    };
    let envelope = Envelope {
        channel: CHANNEL,
        key: "key",
        thread: "thread",
        now: event.at,
        signing: &[],
        link: None,
    };
    let missing = |kind, vendors: &VendorConfig| {
        let message = compose(&a_channel(kind), None, vendors, EventBatch::One(&event), &envelope);
        message.err().map(|missing| missing.setting)
    };
    let with_account = ProviderType::ALL.iter().filter(|kind| notify::account(**kind).is_some());
    let with_account: Vec<&str> = with_account.map(|kind| kind.as_str()).collect();
    assert_eq!(with_account, ["email", "telegram", "sms", "whatsapp"]);
    for kind in ProviderType::ALL {
        let expected = notify::account(*kind);
        assert_eq!(missing(*kind, &VendorConfig::default()), expected, "{kind}");
        assert_eq!(missing(*kind, &vendors()), None, "{kind}");
    }
    assert_eq!(missing(ProviderType::Sms, &no_numbers), Some(setting::SMS_FROM));
    assert_eq!(missing(ProviderType::Whatsapp, &no_numbers), Some(setting::WHATSAPP_FROM));
}

#[test]
fn opsgenie_region_selects_the_host() {
    let Provider::Opsgenie(mut team) = a_channel(ProviderType::Opsgenie) else {
        panic!("the channel is an Opsgenie team")
    };
    team.region = OpsgenieRegion::Us;
    let message = http(&Provider::Opsgenie(team), &vendors(), &an_event(EventKind::Error));
    assert_eq!(message.url.expose(), "https://api.opsgenie.com/v2/alerts");
}

#[test]
fn ntfy_without_server_uses_the_default() {
    let Provider::Ntfy(mut topic) = a_channel(ProviderType::Ntfy) else {
        panic!("the channel is an ntfy topic")
    };
    (topic.server_url, topic.token) = (None, None);
    let message = http(&Provider::Ntfy(topic), &vendors(), &an_event(EventKind::Error));
    assert_eq!(message.url.expose(), "https://ntfy.sh/");
    assert_eq!(message.headers.len(), 1);
}

#[test]
fn messaging_service_replaces_the_sender_number() {
    let mut vendors = vendors();
    vendors.twilio.as_mut().unwrap().sms_from = Some("MG123".to_owned());
    let message = http(&a_channel(ProviderType::Sms), &vendors, &an_event(EventKind::Error));
    let body = String::from_utf8(message.body).unwrap();
    assert!(body.contains("&MessagingServiceSid=MG123&"), "{body}");
}

#[test]
fn webhook_headers_cannot_replace_the_signature() {
    let Provider::Webhook(mut webhook) = a_channel(ProviderType::Webhook) else {
        panic!("the channel is a webhook")
    };
    let mut own = |key: &str, value: &str| {
        webhook.headers.push(rules::notification::WebhookHeader {
            key: key.to_owned(),
            value: Secret::new(value.to_owned()),
        });
    };
    own("Content-Type", "application/cloudevents+json");
    own("Authorization", "Bearer mine");
    own("Webhook-Signature", "v1,forged");
    let message = http(&Provider::Webhook(webhook), &vendors(), &an_event(EventKind::Error));
    let headers: Vec<String> =
        message.headers.iter().map(|(name, value)| format!("{name}: {}", value.expose())).collect();
    assert_eq!(
        headers,
        [
            "x-team: core",
            "content-type: application/cloudevents+json",
            "authorization: Bearer mine",
            "webhook-id: key",
            "webhook-timestamp: 1795279735",
        ]
    );
}
