//! A scenario for alert tests: a server with a monitor, channels of every kind, and a receiver for
//! each.

use std::time::Duration;

use domain::notify::{BotAccount, TwilioAccount, VendorConfig};
use rules::notification::{Email, Provider};
use rules::{ChannelId, MonitorId, ProviderType, Scope, Secret};
use serde_json::{Value, json};
use server::config::Settings;
use store::{Delivery, DeliveryFilter, Page, Store};
use testkit::mail::{AcceptedMail, MailServer};
use testkit::receivers::{Receiver, TELEGRAM_TOKEN, TWILIO_ACCOUNT, TWILIO_TOKEN, json_of};
use testkit::server::{Caller, NOTIFICATIONS, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, Received, ScriptedResponse};

use crate::pipeline::{PERIOD, Watched, until};

/// Public URL of the servers in these tests.
const PUBLIC_URL: &str = "https://aloft.example.com";
/// Name of the monitor in messages.
const NAME: &str = "API & <shop>";

/// Receivers for each kind except webhooks, and a mail server for emails.
pub(super) struct Vendors {
    pub(super) receivers: Vec<Receiver>,
    pub(super) mail: MailServer,
}

/// A server with a monitor and its target.
pub(super) struct AlertFixture {
    pub(super) watched: Watched,
    pub(super) target: HttpTarget,
    pub(super) monitor: MonitorId,
    pub(super) caller: Caller,
}

impl Vendors {
    pub(super) async fn start() -> Self {
        let mut receivers = Vec::new();
        for kind in ProviderType::ALL {
            if !matches!(kind, ProviderType::Email | ProviderType::Webhook) {
                receivers.push(Receiver::start(*kind).await);
            }
        }
        Self { receivers, mail: MailServer::start().await }
    }

    pub(super) fn receiver(&self, kind: ProviderType) -> &Receiver {
        self.receivers.iter().find(|receiver| receiver.kind() == kind).unwrap()
    }

    /// Configures the server to send every kind to these receivers.
    pub(super) fn set_up(&self, settings: &mut Settings) {
        let base = |kind| self.receiver(kind).base();
        settings.public_url = Some(PUBLIC_URL.to_owned());
        settings.vendors = VendorConfig {
            has_mail: true,
            telegram: Some(BotAccount {
                base: base(ProviderType::Telegram),
                token: Secret::new(TELEGRAM_TOKEN.to_owned()),
            }),
            twilio: Some(self.telephone(ProviderType::Sms)),
            pagerduty: base(ProviderType::Pagerduty),
            opsgenie_us: base(ProviderType::Opsgenie),
            opsgenie_eu: base(ProviderType::Opsgenie),
            ntfy: base(ProviderType::Ntfy),
        };
        self.mail.set_up(settings);
    }

    /// Returns a phone account that sends to the receiver of this kind.
    pub(super) fn telephone(&self, kind: ProviderType) -> TwilioAccount {
        TwilioAccount {
            base: self.receiver(kind).base(),
            account: TWILIO_ACCOUNT.to_owned(),
            token: Secret::new(TWILIO_TOKEN.to_owned()),
            sms_from: Some("+15005550006".to_owned()),
            whatsapp_from: Some("+15005550007".to_owned()),
            whatsapp_template: None,
        }
    }
}

impl AlertFixture {
    /// Creates a monitor of a healthy target and waits for its first check.
    pub(super) async fn on(server: TestServer) -> Self {
        let target = HttpTarget::start().await;
        target.on("/", ScriptedResponse::ok("fine"));
        Box::pin(Self::with_target(server, target, json!({}))).await
    }

    /// Creates a monitor of `target` with other fields. Unless it is paused, waits for its first
    /// check.
    pub(super) async fn with_target(server: TestServer, target: HttpTarget, fields: Value) -> Self {
        let caller = server.caller(Scope::Write);
        let watched = Box::pin(Watched::on(server)).await;
        let monitor = create_monitor(&caller, &target.url("/"), NAME, &fields).await;
        if fields["active"] != false {
            watched.stored.at_least(1, monitor).await;
        }
        Self { watched, target, monitor, caller }
    }

    /// Creates a status page with these fields, adds the monitor and returns the page.
    pub(super) async fn create_page(&self, fields: Value) -> Value {
        let made = async |method: &str, field: &str, fields: Value| -> Value {
            let reply = self.caller.call(STATUS_PAGES, method, json!({ field: fields })).await;
            assert_eq!(reply.status, 200, "{method}: {reply}");
            reply.json()[field].clone()
        };
        let page = made("CreateStatusPage", "statusPage", fields).await;
        let monitor = self.monitor.to_string();
        let shows = json!({ "pageId": page["id"], "type": "monitor", "monitorId": monitor });
        made("CreateComponent", "component", shows).await;
        page
    }

    /// Changes one field of the monitor.
    pub(super) async fn edit(&self, field: &str, value: Value) {
        let change = json!({ "id": self.monitor.to_string(), field: value });
        let request = json!({ "monitor": change, "updateMask": field });
        let reply = self.caller.rpc("UpdateHttpMonitor", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Creates another monitor of the target and waits for its first check.
    pub(super) async fn another(&self, name: &str) -> MonitorId {
        let monitor = create_monitor(&self.caller, &self.target.url("/"), name, &json!({})).await;
        self.watched.stored.at_least(1, monitor).await;
        monitor
    }

    /// Creates a channel of this provider for these monitors.
    pub(super) async fn channel(&self, provider: &Provider, monitors: &[MonitorId]) -> ChannelId {
        create_channel(&self.caller, provider, monitors).await
    }

    /// Creates a channel that sends to this receiver.
    pub(super) async fn notify(&self, receiver: &Receiver) -> ChannelId {
        self.channel(&receiver.provider(), &[self.monitor]).await
    }

    /// Sets the response of the target, advances the clock by a period, and waits for a result of
    /// each monitor.
    pub(super) async fn becomes(&self, answer: ScriptedResponse, monitors: &[MonitorId]) {
        self.target.on("/", answer);
        let mut counts = Vec::new();
        for monitor in monitors {
            counts.push(self.watched.stored.at_least(1, *monitor).await.len());
        }
        self.watched.server.advance(PERIOD);
        for (monitor, before) in monitors.iter().zip(counts) {
            self.watched.stored.at_least(before + 1, *monitor).await;
        }
    }

    /// Breaks the target and waits for a result.
    pub(super) async fn breaks(&self) {
        self.becomes(ScriptedResponse::status(503), &[self.monitor]).await;
    }

    /// Restores the target and waits for a result.
    pub(super) async fn recovers(&self) {
        self.becomes(ScriptedResponse::ok("fine"), &[self.monitor]).await;
    }

    /// Starts a webhook receiver with the signing secrets of the workspace.
    pub(super) async fn webhook(&self) -> Receiver {
        let app = self.watched.server.running().app();
        let workspace = app.store.workspaces().by_slug("acme").await.unwrap().id;
        let secrets = app.store.signing_secrets().active(workspace, app.ctx.now()).await.unwrap();
        Receiver::start_webhooks(secrets, app.ctx.clone()).await
    }

    /// Advances the clock.
    pub(super) fn advance(&self, by: Duration) {
        self.watched.server.advance(by);
    }

    /// Waits until the deliveries of a channel match `wanted` and returns them, oldest first.
    pub(super) async fn deliveries(
        &self,
        channel: ChannelId,
        wanted: impl Fn(&[Delivery]) -> bool,
    ) -> Vec<Delivery> {
        deliveries(&self.watched.server.running().app().store, channel, wanted).await
    }
}

/// Creates a monitor that runs in `fly-ams` every 30 seconds without retries, unless `fields` says
/// otherwise.
async fn create_monitor(caller: &Caller, url: &str, name: &str, fields: &Value) -> MonitorId {
    let mut monitor = json!({
        "name": name, "url": url, "periodicity": "30s", "regions": ["fly-ams"], "retry": 0,
        "active": true, "timeout": 120_000,
    });
    for (field, value) in fields.as_object().unwrap() {
        monitor[field] = value.clone();
    }
    let reply = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    assert_eq!(reply.status, 200, "{reply}");
    MonitorId::parse(reply.json()["monitor"]["id"].as_str().unwrap()).unwrap()
}

pub(super) async fn create_channel(
    caller: &Caller,
    provider: &Provider,
    monitors: &[MonitorId],
) -> ChannelId {
    let mut channel = json_of(provider);
    channel["name"] = json!("On call");
    channel["monitorIds"] = monitors.iter().map(ToString::to_string).collect();
    let request = json!({ "notification": channel });
    let reply = caller.call(NOTIFICATIONS, "CreateNotification", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    ChannelId::parse(reply.json()["notification"]["id"].as_str().unwrap()).unwrap()
}

/// Waits until the deliveries of a channel of `acme` match `wanted` and returns them, oldest first.
pub(super) async fn deliveries(
    store: &Store,
    channel: ChannelId,
    wanted: impl Fn(&[Delivery]) -> bool,
) -> Vec<Delivery> {
    let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
    let filter = DeliveryFilter { channel: Some(channel), ..DeliveryFilter::default() };
    let all = Page { limit: 1_000, offset: 0, after: None };
    until(async || {
        let mut listed = store.outbox().list(workspace, filter, all).await.unwrap().rows;
        listed.reverse();
        wanted(&listed).then_some(listed)
    })
    .await
}

/// Returns an email provider.
pub(super) fn a_mailbox() -> Provider {
    Provider::Email(Email { email: "ops@example.com".to_owned() })
}

/// Formats a message without headers and signatures that vary between runs.
pub(super) fn format_message(message: &Received) -> String {
    let own = ["host", "content-length", "user-agent", "accept", "accept-encoding"];
    let mut text = format!("{} {}\n", message.method, message.target);
    for (name, value) in message.headers.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        let signed = name == "webhook-signature";
        let value = if signed { "v1,… (verified)" } else { value };
        text = text + name + ": " + value + "\n";
    }
    match message.header("content-type") {
        Some("application/x-www-form-urlencoded") => {
            let fields = url::form_urlencoded::parse(message.body.as_bytes());
            let lines: Vec<String> =
                fields.map(|(name, value)| format!("{name}={value}")).collect();
            text + &lines.join("\n")
        }
        Some(_) | None => text + &message.body,
    }
}

/// Formats an email without headers that vary between runs.
pub(super) fn format_mail(mail: &AcceptedMail) -> String {
    let headers = mail.headers.iter().filter(|(name, _)| name != "content-type");
    let headers: Vec<String> = headers.map(|(name, value)| format!("{name}: {value}\n")).collect();
    let (text, html) = (mail.text.trim_end(), mail.html.trim_end());
    format!("{}\n{text}\n---\n{html}", headers.concat())
}

/// Replaces values that vary between runs: addresses, IDs and durations of checks.
pub(super) fn stable(text: &str, names: &[(String, &str)]) -> String {
    let mut text = text.to_owned();
    for (given, name) in names {
        text = text.replace(given, name);
    }
    let text = ["mon_", "chn_", "inc_", "dlv_", "cmp_"]
        .iter()
        .fold(text, |text, it| without_id(&text, it));
    let text = without_number(&text, |before, _| before.ends_with("\"latency_ms\":"));
    without_number(&text, |before, after| {
        let is_taken = before.ends_with(", ") || before.ends_with("took ");
        is_taken && after.starts_with(" ms")
    })
}

/// Replaces each ID after `prefix` with `1`.
fn without_id(text: &str, prefix: &str) -> String {
    let mut parts = text.split(prefix);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |out, part| {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
        out + prefix + "1" + &part[end..]
    })
}

/// Replaces each number with `N` if `is_between` accepts the text before and after it.
fn without_number(text: &str, is_between: impl Fn(&str, &str) -> bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        out.push_str(before);
        let number = if is_between(&out, &from[end..]) { "N" } else { &from[..end] };
        out.push_str(number);
        rest = &from[end..];
    }
    out + rest
}
