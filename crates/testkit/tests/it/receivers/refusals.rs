//! Rejections by each vendor, with its own error messages: a valid message with one invalid part.
//! `chat` has the chats, `on_call` the services for on-call duty, and this file the other vendors.

mod chat;
mod on_call;

use domain::notify::{
    Disposition, EventBatch, EventKind, HttpMessage, VendorResponse, classify_response,
};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use rules::{ProviderType, Secret};
use serde_json::{Value, json};
use testkit::receivers::Receiver;

use super::fixtures::{event, message, post, receiver};

const LINK: &str = "https://status.example.com/";

/// A valid message, and the results of making it invalid.
struct Bench {
    receiver: Receiver,
    good: HttpMessage,
    responses: Vec<String>,
}

impl Bench {
    async fn new(kind: ProviderType, event_kind: EventKind) -> Self {
        let receiver = receiver(kind).await;
        let event = event(event_kind, "API");
        let good = message(&receiver, EventBatch::One(&event), LINK);
        let reply = post(&receiver, &good).await;
        assert!(reply.status.is_success(), "{kind}: {reply}");
        Self { receiver, good, responses: Vec::new() }
    }

    /// Posts the message with a change that makes it invalid, and records the response.
    async fn spoiled(&mut self, name: &str, spoil: impl FnOnce(&mut HttpMessage)) {
        let mut bad = self.good.clone();
        spoil(&mut bad);
        let before = self.receiver.refused().len();
        let reply = post(&self.receiver, &bad).await;
        let refused = self.receiver.refused();
        assert_eq!(refused.len(), before + 1, "{name} was accepted: {reply}");
        if self.responses.is_empty() {
            self.responses.push(format!("says {reply}"));
        }
        self.responses.push(format!("{name}: {} {}", reply.status.as_u16(), refused[before].why));
        let body = String::from_utf8_lossy(&reply.body).into_owned();
        let answer = VendorResponse { status: reply.status.as_u16(), retry_after: None, body };
        let read = classify_response(self.receiver.kind(), &answer);
        assert!(matches!(read, Disposition::Rejected(_)), "{name} is read as {read:?}");
    }

    /// Posts the message with another value in its JSON, and records the response. Null removes the
    /// field.
    async fn with(&mut self, pointer: &str, value: Value) {
        let name = match value.to_string() {
            long if long.len() > 40 => format!("{pointer} of {} bytes", long.len()),
            short => format!("{pointer} = {short}"),
        };
        self.spoiled(&name, |bad| {
            let mut body: Value = serde_json::from_slice(&bad.body).unwrap();
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            let parent = body.pointer_mut(parent).unwrap();
            match (parent, value) {
                (Value::Object(fields), Value::Null) => drop(fields.shift_remove(field).unwrap()),
                (Value::Array(items), value) => items[field.parse::<usize>().unwrap()] = value,
                (parent, value) => parent[field] = value,
            }
            bad.body = body.to_string().into_bytes();
        })
        .await;
    }

    async fn header(&mut self, name: http::HeaderName, value: Option<&str>) {
        let what = format!("{name} {value:?}");
        self.spoiled(&what, |bad| set_header(bad, name, value)).await;
    }

    async fn url(&mut self, from: &str, to: &str) {
        self.spoiled(&format!("{from} → {to}"), |bad| {
            assert!(bad.url.expose().contains(from), "{}", bad.url.expose());
            bad.url = Secret::new(bad.url.expose().replacen(from, to, 1));
        })
        .await;
    }

    fn render(self) -> String {
        self.responses.join("\n")
    }
}

fn set_header(message: &mut HttpMessage, name: http::HeaderName, value: Option<&str>) {
    message.headers.retain(|(known, _)| *known != name);
    if let Some(value) = value {
        message.headers.push((name, Secret::new(value.to_owned())));
    }
}

fn long(count: usize) -> Value {
    Value::from("x".repeat(count))
}

#[tokio::test]
async fn webhook() {
    let mut bench = Bench::new(ProviderType::Webhook, EventKind::Error).await;
    let name = |name: &'static str| http::HeaderName::from_static(name);
    for header in ["webhook-id", "webhook-timestamp", "webhook-signature", "x-team"] {
        bench.header(name(header), None).await;
    }
    bench.header(name("webhook-id"), Some("another")).await;
    bench.header(name("webhook-timestamp"), Some("1795219199")).await;
    bench.header(name("webhook-timestamp"), Some("1795218800")).await;
    bench.header(name("webhook-timestamp"), Some("soon")).await;
    bench.header(name("webhook-signature"), Some("v1,AAAA v2,BBBB")).await;
    bench.with("/version", json!(2)).await;
    bench.url("/hook", "/elsewhere").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 401 {"error":"webhook-id is missing"}
    webhook-id None: 401 webhook-id is missing
    webhook-timestamp None: 401 webhook-timestamp is missing
    webhook-signature None: 401 webhook-signature is missing
    x-team None: 401 the user-defined header is missing
    webhook-id Some("another"): 401 no signature matches
    webhook-timestamp Some("1795219199"): 401 no signature matches
    webhook-timestamp Some("1795218800"): 401 webhook-timestamp is too old or too new
    webhook-timestamp Some("soon"): 401 webhook-timestamp is not a number
    webhook-signature Some("v1,AAAA v2,BBBB"): 401 no signature matches
    /version = 2: 401 no signature matches
    /hook → /elsewhere: 404 not found
    "#);
}

#[tokio::test]
async fn sms_and_whatsapp() {
    let mut shown = Vec::new();
    for kind in [ProviderType::Sms, ProviderType::Whatsapp] {
        let mut bench = Bench::new(kind, EventKind::Error).await;
        let form = |to: &str, from: &str, body: &str| {
            let pairs = [("To", to), ("From", from), ("Body", body)];
            let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
        };
        let prefix = if kind == ProviderType::Whatsapp { "whatsapp:" } else { "" };
        let (to, from) = (format!("{prefix}+4915112345678"), format!("{prefix}+15005550006"));
        let other = if prefix.is_empty() { "whatsapp:+15005550006" } else { "+15005550006" };
        let long = "x".repeat(1_601);
        for (name, body) in [
            ("no To", form("", &from, "x")),
            ("wrong To", form(&to.replace("49", "0"), &from, "x")),
            ("no From", form(&to, "", "x")),
            ("wrong From", form(&to, &from.replace('+', ""), "x")),
            ("another way", form(&to, other, "x")),
            ("no Body", form(&to, &from, "")),
            ("long Body", form(&to, &from, &long)),
        ] {
            bench.spoiled(name, |bad| bad.body = body.into_bytes()).await;
        }
        bench.header(AUTHORIZATION, None).await;
        bench.header(CONTENT_TYPE, Some("application/json")).await;
        bench.url("/AC0", "/AC1").await;
        bench.url("/2010-04-01/", "/v1/").await;
        shown.push(format!("{kind}\n{}", bench.render()));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    sms
    says 400 {"code":21604,"message":"A 'To' phone number is required.","more_info":"https://www.twilio.com/docs/errors/21604","status":400}
    no To: 400 A 'To' phone number is required.
    wrong To: 400 Invalid 'To' Phone Number: +015112345678
    no From: 400 A 'From' phone number is required.
    wrong From: 400 Invalid From Number (caller ID): 15005550006
    another way: 400 Invalid From and To pair. From and To should be of the same channel
    no Body: 400 Message body is required.
    long Body: 400 The concatenated message body exceeds the 1600 character limit
    authorization None: 401 Authenticate
    content-type Some("application/json"): 400 A 'To' phone number is required.
    /AC0 → /AC1: 401 Authenticate
    /2010-04-01/ → /v1/: 404 The requested resource was not found
    whatsapp
    says 400 {"code":21604,"message":"A 'To' phone number is required.","more_info":"https://www.twilio.com/docs/errors/21604","status":400}
    no To: 400 A 'To' phone number is required.
    wrong To: 400 Invalid 'To' Phone Number: whatsapp:+015112345678
    no From: 400 A 'From' phone number is required.
    wrong From: 400 Invalid From Number (caller ID): whatsapp:15005550006
    another way: 400 Invalid From and To pair. From and To should be of the same channel
    no Body: 400 Message body is required.
    long Body: 400 The concatenated message body exceeds the 1600 character limit
    authorization None: 401 Authenticate
    content-type Some("application/json"): 400 A 'To' phone number is required.
    /AC0 → /AC1: 401 Authenticate
    /2010-04-01/ → /v1/: 404 The requested resource was not found
    "#);
}

#[tokio::test]
async fn ntfy() {
    let mut bench = Bench::new(ProviderType::Ntfy, EventKind::Error).await;
    bench.with("/topic", json!("a b")).await;
    bench.with("/topic", long(65)).await;
    bench.with("/priority", json!(6)).await;
    bench.with("/priority", json!("high")).await;
    bench.with("/tags", json!("warning")).await;
    bench.with("/message", long(4_097)).await;
    bench.with("/message", long(8_192)).await;
    bench.with("/click", json!("no url")).await;
    bench.header(AUTHORIZATION, None).await;
    bench.header(AUTHORIZATION, Some("Bearer tk_other")).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"code":40009,"http":400,"error":"invalid request: topic invalid","link":"https://ntfy.sh/docs/publish/#publish-as-json"}
    /topic = "a b": 400 invalid request: topic invalid
    /topic of 67 bytes: 400 invalid request: topic invalid
    /priority = 6: 400 invalid request: priority invalid
    /priority = "high": 400 invalid request: request body must be valid JSON
    /tags = "warning": 400 invalid request: request body must be valid JSON
    /message of 4099 bytes: 400 invalid request: attachments not allowed
    /message of 8194 bytes: 413 JSON body too large
    /click = "no url": 400 click is not a URL
    authorization None: 403 forbidden
    authorization Some("Bearer tk_other"): 401 unauthorized
    no JSON: 400 invalid request: request body must be valid JSON
    "#);
}
