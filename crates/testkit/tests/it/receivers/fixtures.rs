//! Creates events and their messages, and posts them.

use bytes::Bytes;
use domain::notify::{
    BotAccount, Cause, Envelope, Event, EventBatch, EventKind, HttpMessage, Message,
    MonitorSnapshot, RegionOutcome, TwilioAccount, VendorConfig, compose, delivery_key, digest_key,
    thread,
};
use http::Request;
use http_body_util::Full;
use rules::{
    ChannelId, IncidentId, MonitorId, MonitorKind, ProviderType, Region, Secret, Timestamp,
};
use testkit::receivers::{Receiver, TELEGRAM_TOKEN, TWILIO_ACCOUNT, TWILIO_TOKEN};
use testkit::server::{Caller, Reply, START};
use web::context::Context;

pub(super) const CHANNEL: ChannelId = ChannelId::from_bits(7);
const SIGNING: [u8; 24] = [3; 24];

/// Returns every kind that uses HTTP: all except email.
pub(super) fn kinds() -> impl Iterator<Item = ProviderType> {
    ProviderType::ALL.iter().copied().filter(|kind| *kind != ProviderType::Email)
}

/// Starts a receiver of this kind that knows the secret with which [`message`] signs.
pub(super) async fn receiver(kind: ProviderType) -> Receiver {
    if kind == ProviderType::Webhook {
        let ctx = Context::manual(START).0;
        return Receiver::start_webhooks(vec![Secret::new(SIGNING.to_vec())], ctx).await;
    }
    Receiver::start(kind).await
}

/// Returns an event: a monitor with this name is down in two regions.
pub(super) fn event(kind: EventKind, name: &str) -> Event {
    let seen = |region, failing| RegionOutcome {
        region,
        place: None,
        failing,
        reason: failing.then(|| format!("{name} says 503")),
        status: Some(503),
        latency_ms: Some(120),
    };
    Event {
        kind,
        at: START,
        workspace: name.to_owned(),
        monitor: MonitorSnapshot {
            id: MonitorId::from_bits(3),
            name: name.to_owned(),
            kind: MonitorKind::Http,
            target: format!("https://example.com/?q={name}"),
            method: Some("GET".to_owned()),
        },
        incident: Some(IncidentId::from_bits(5)),
        began_at: Timestamp::from_millis(START.as_millis() - 720_000),
        closed: None,
        cause: Cause {
            why: format!("{name} says 503"),
            regions: vec![seen(Region::FlyAms, true), seen(Region::FlyIad, false)],
        },
        reminder: 0,
    }
}

/// Returns the message that the server would send to this receiver.
pub(super) fn message(receiver: &Receiver, notice: EventBatch<'_>, link: &str) -> HttpMessage {
    let (key, thread) = match notice {
        EventBatch::One(event) => (delivery_key(CHANNEL, event), thread(event)),
        EventBatch::Digest(events) => (digest_key(CHANNEL, events), digest_key(CHANNEL, events)),
    };
    let signing = [Secret::new(vec![9; 24]), Secret::new(SIGNING.to_vec())];
    let envelope = Envelope {
        channel: CHANNEL,
        key: &key,
        thread: &thread,
        now: START,
        signing: &signing,
        link: Some(link.to_owned()),
    };
    let name = Some("On call");
    match compose(&receiver.provider(), name, &servers(receiver), notice, &envelope).unwrap() {
        Message::Http(message) => message,
        Message::Mail(_) => panic!("receivers accept no emails"),
    }
}

/// Returns vendor settings that all lead to this receiver.
fn servers(receiver: &Receiver) -> VendorConfig {
    let base = receiver.base();
    VendorConfig {
        has_mail: false,
        telegram: Some(BotAccount {
            base: base.clone(),
            token: Secret::new(TELEGRAM_TOKEN.to_owned()),
        }),
        twilio: Some(TwilioAccount {
            base: base.clone(),
            account: TWILIO_ACCOUNT.to_owned(),
            token: Secret::new(TWILIO_TOKEN.to_owned()),
            sms_from: Some("+15005550006".to_owned()),
            whatsapp_from: Some("+15005550007".to_owned()),
            whatsapp_template: None,
        }),
        pagerduty: base.clone(),
        opsgenie_us: base.clone(),
        opsgenie_eu: base.clone(),
        ntfy: base,
    }
}

/// Posts a message unchanged.
pub(super) async fn post(receiver: &Receiver, message: &HttpMessage) -> Reply {
    let base = receiver.base();
    let address = base.strip_prefix("http://").unwrap();
    let target = message.url.expose().strip_prefix(&base).unwrap_or("/elsewhere");
    let mut request = Request::builder().method(&message.method).uri(target);
    request = request.header("host", address);
    for (name, value) in &message.headers {
        request = request.header(name, value.expose());
    }
    let body = Full::new(Bytes::from(message.body.clone()));
    Caller::at(address.parse().unwrap(), None).request(request.body(body).unwrap()).await
}
