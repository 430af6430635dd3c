//! Events and channels for tests, and messages in readable form.

use std::fmt::Write as _;

use rules::notification::Provider;
use rules::{
    ChannelId, IncidentId, MonitorId, MonitorKind, ProviderType, Region, Secret, Timestamp,
};
use serde_json::Value;

use crate::notify::alert_text::AlertText;
use crate::notify::{
    self, BotAccount, Cause, CloseReason, Envelope, Event, EventBatch, EventKind, HttpMessage,
    Message, MonitorSnapshot, RegionOutcome, TwilioAccount, VendorConfig, compose, delivery_key,
    digest_key, thread,
};

/// 2026-11-21T16:48:55Z.
const NOW: Timestamp = Timestamp::from_millis(1_795_279_735_250);
pub(crate) const CHANNEL: ChannelId = ChannelId::from_bits(7);
const CHANNEL_NAME: &str = "On call";
const LINK: &str = "https://status.example.com/incidents/inc_0000000000005";

/// A typical event; a recovery after 12 minutes.
pub(crate) fn an_event(kind: EventKind) -> Event {
    let regions = match kind {
        EventKind::Error => vec![failing(Region::FlyAms), failing(Region::FlyIad), fine()],
        EventKind::Degraded | EventKind::StillDegraded => {
            vec![failing(Region::FlyAms), fine()]
        }
        EventKind::Recovered | EventKind::Test => Vec::new(),
    };
    let why = match kind {
        EventKind::Error | EventKind::Degraded | EventKind::StillDegraded => {
            "the status is 503, which is not 200"
        }
        EventKind::Recovered | EventKind::Test => "",
    };
    let lasted = match kind {
        EventKind::Error | EventKind::Test => 0,
        EventKind::Degraded => 60_000,
        EventKind::StillDegraded | EventKind::Recovered => 720_000,
    };
    Event {
        kind,
        at: NOW,
        workspace: "Example Inc.".to_owned(),
        monitor: MonitorSnapshot {
            id: MonitorId::from_bits(3),
            name: "API & <shop>".to_owned(),
            kind: MonitorKind::Http,
            target: "https://api.example.com/health?full=1&x_y=2".to_owned(),
            method: Some("GET".to_owned()),
        },
        incident: match kind {
            EventKind::Error | EventKind::StillDegraded | EventKind::Recovered => {
                Some(IncidentId::from_bits(5))
            }
            EventKind::Degraded | EventKind::Test => None,
        },
        began_at: NOW - std::time::Duration::from_millis(lasted),
        closed: (kind == EventKind::Recovered).then_some(CloseReason::Recovered),
        cause: Cause { why: why.to_owned(), regions },
        reminder: 0,
    }
}

/// The second reminder of an error that has lasted two hours and five minutes.
pub(crate) fn a_reminder() -> Event {
    let began_at = NOW - std::time::Duration::from_mins(125);
    Event { reminder: 2, began_at, ..an_event(EventKind::Error) }
}

/// The event that closes a successful test on a vendor that keeps alerts.
pub(crate) fn the_end_of_test() -> Event {
    Event { closed: Some(CloseReason::Resolved), ..an_event(EventKind::Test) }
}

/// One event of each kind except tests.
pub(crate) fn a_digest() -> Vec<Event> {
    [EventKind::Error, EventKind::Degraded, EventKind::Recovered].map(an_event).into()
}

fn failing(region: Region) -> RegionOutcome {
    RegionOutcome {
        region,
        place: None,
        failing: true,
        reason: Some("the status is 503, which is not 200".to_owned()),
        status: Some(503),
        latency_ms: Some(120),
    }
}

fn fine() -> RegionOutcome {
    RegionOutcome {
        region: Region::FlySin,
        place: None,
        failing: false,
        reason: None,
        status: Some(200),
        latency_ms: Some(240),
    }
}

/// Declares a typical channel of each kind.
macro_rules! channels {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        /// A channel of this kind.
        pub(crate) fn a_channel(kind: ProviderType) -> Provider {
            match kind {
                $(ProviderType::$variant => Provider::$variant(notify::$block::tests::channel()),)+
            }
        }
    };
}

rules::channel_kinds!(channels);

/// A server that is configured for every kind of channel.
pub(crate) fn vendors() -> VendorConfig {
    VendorConfig {
        has_mail: true,
        telegram: Some(BotAccount {
            base: "https://api.telegram.org".to_owned(),
            token: Secret::new("123:bot".to_owned()),
        }),
        twilio: Some(TwilioAccount {
            base: "https://api.twilio.com".to_owned(),
            account: "AC123".to_owned(),
            token: Secret::new("account-token".to_owned()),
            sms_from: Some("+15005550006".to_owned()),
            whatsapp_from: Some("+15005550007".to_owned()),
            whatsapp_template: None,
        }),
        ..VendorConfig::default()
    }
}

/// Returns the text of a message about `event`.
pub(crate) fn alert_text(event: &Event) -> AlertText {
    let envelope = Envelope {
        channel: CHANNEL,
        key: "key",
        thread: "thread",
        now: NOW,
        signing: &[],
        link: Some("https://status.example.com/incidents/1".to_owned()),
    };
    AlertText::new(None, EventBatch::One(event), &envelope)
}

/// Composes the message of `batch` on a channel of this kind, with this link.
pub(crate) fn composed(kind: ProviderType, batch: EventBatch<'_>, link: &str) -> Message {
    composed_on(&vendors(), kind, batch, link)
}

fn composed_on(
    vendors: &VendorConfig,
    kind: ProviderType,
    batch: EventBatch<'_>,
    link: &str,
) -> Message {
    let (key, thread) = match batch {
        EventBatch::One(event) => (delivery_key(CHANNEL, event), thread(event)),
        EventBatch::Digest(events) => (digest_key(CHANNEL, events), digest_key(CHANNEL, events)),
    };
    let signing = [Secret::new(vec![1; 24]), Secret::new(vec![2; 24])];
    let envelope = Envelope {
        channel: CHANNEL,
        key: &key,
        thread: &thread,
        now: NOW,
        signing: &signing,
        link: Some(link.to_owned()),
    };
    compose(&a_channel(kind), Some(CHANNEL_NAME), vendors, batch, &envelope).unwrap()
}

/// Composes the message of `batch` in readable form.
pub(crate) fn wire(kind: ProviderType, batch: EventBatch<'_>) -> String {
    wire_of(kind, &vendors(), batch)
}

/// Composes the message of `batch` on this server in readable form.
pub(crate) fn wire_of(kind: ProviderType, vendors: &VendorConfig, batch: EventBatch<'_>) -> String {
    match composed_on(vendors, kind, batch, LINK) {
        Message::Http(message) => format_http(&message),
        Message::Mail(mail) => format!(
            "To: {}\nSubject: {}\nMessage-ID: {}\nReferences: {}\n\n{}\n---\n{}",
            mail.to, mail.subject, mail.id, mail.thread, mail.text, mail.html
        ),
    }
}

fn format_http(message: &HttpMessage) -> String {
    let mut text = format!("{} {}\n", message.method, message.url.expose());
    for (name, value) in &message.headers {
        let _ = writeln!(text, "{name}: {}", value.expose());
    }
    let body = String::from_utf8(message.body.clone()).unwrap();
    text.push('\n');
    match serde_json::from_str::<Value>(&body) {
        Ok(json) => text.push_str(&pretty(&json, 0)),
        Err(_) => {
            for (name, value) in url::form_urlencoded::parse(body.as_bytes()) {
                let _ = writeln!(text, "{name}={value}");
            }
        }
    }
    text
}

/// Formats JSON with readable line lengths: short values stay on one line.
fn pretty(value: &Value, depth: usize) -> String {
    let short = value.to_string();
    let (open, inner, close) = match value {
        Value::Object(fields) if short.len() > 90 => {
            let field = |(name, inner): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), pretty(inner, depth + 1))
            };
            ("{", fields.iter().map(field).collect::<Vec<_>>(), "}")
        }
        Value::Array(items) if short.len() > 90 => {
            ("[", items.iter().map(|item| pretty(item, depth + 1)).collect(), "]")
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => return short,
    };
    let indent = "  ".repeat(depth);
    format!("{open}\n{indent}  {}\n{indent}{close}", inner.join(&format!(",\n{indent}  ")))
}
