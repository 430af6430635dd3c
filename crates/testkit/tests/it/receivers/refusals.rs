//! Rejections by each vendor, with its own error messages: a valid message with one invalid part.

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
async fn discord() {
    let mut bench = Bench::new(ProviderType::Discord, EventKind::Error).await;
    bench.with("/embeds/0/title", long(257)).await;
    bench.with("/embeds/0/description", long(4_097)).await;
    bench.with("/embeds/0/description", Value::from("😀".repeat(2_049))).await;
    bench.with("/embeds/0/fields/0/value", long(1_025)).await;
    bench.with("/embeds/0/fields/0/value", json!("")).await;
    bench.with("/embeds/0/fields/0/name", Value::Null).await;
    bench
        .with("/embeds/0/fields", Value::from(vec![json!({ "name": "a", "value": "b" }); 26]))
        .await;
    bench
        .with(
            "/embeds/0/fields",
            Value::from(vec![json!({ "name": "a", "value": "x".repeat(1_000) }); 6]),
        )
        .await;
    bench.with("/embeds/0/url", json!("not a url")).await;
    bench.with("/embeds/0/timestamp", json!("yesterday")).await;
    bench.with("/embeds/0/color", json!(0x0100_0000)).await;
    bench.with("/allowed_mentions/parse", json!(["all"])).await;
    bench.with("/embeds", json!([])).await;
    bench.with("/content", long(2_001)).await;
    bench.url("/webhooks/1", "/webhooks/2").await;
    bench.url("wH3n", "other").await;
    bench.header(CONTENT_TYPE, Some("text/plain")).await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"message":"Invalid Form Body","code":50035,"errors":{"embeds":{"0":{"title":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 256 or fewer in length."}]}}}}}
    /embeds/0/title of 259 bytes: 400 embeds.0.title: Must be 256 or fewer in length.
    /embeds/0/description of 4099 bytes: 400 embeds.0.description: Must be 4096 or fewer in length.
    /embeds/0/description of 8198 bytes: 400 embeds.0.description: Must be 4096 or fewer in length.
    /embeds/0/fields/0/value of 1027 bytes: 400 embeds.0.fields.0.value: Must be 1024 or fewer in length.
    /embeds/0/fields/0/value = "": 400 embeds.0.fields.0.value: This field is required
    /embeds/0/fields/0/name = null: 400 embeds.0.fields.0.name: This field is required
    /embeds/0/fields of 651 bytes: 400 embeds.0.fields: Must be 25 or fewer in length.
    /embeds/0/fields of 6145 bytes: 400 embeds: Embed size exceeds maximum size of 6000
    /embeds/0/url = "not a url": 400 embeds.0.url: Not a well formed URL: "not a url"
    /embeds/0/timestamp = "yesterday": 400 embeds.0.timestamp: Could not parse the value. Should be ISO8601.
    /embeds/0/color = 16777216: 400 embeds.0.color: int value should be between 0 and 16777215.
    /allowed_mentions/parse = ["all"]: 400 allowed_mentions.parse.0: Value must be one of ('users', 'roles', 'everyone').
    /embeds = []: 400 Cannot send an empty message
    /content of 2003 bytes: 400 content: Must be 2000 or fewer in length.
    /webhooks/1 → /webhooks/2: 404 Unknown Webhook
    wH3n → other: 401 Invalid Webhook Token
    content-type Some("text/plain"): 400 The request body contains invalid JSON.
    "#);
}

#[tokio::test]
async fn slack() {
    let mut bench = Bench::new(ProviderType::Slack, EventKind::Error).await;
    let block = |block: Value| Value::from(vec![block]);
    let at = "/attachments/0/blocks";
    let section =
        |text: Value| json!({ "type": "section", "text": { "type": "mrkdwn", "text": text } });
    bench.with(at, block(section(long(3_001)))).await;
    bench.with(at, block(section(json!("")))).await;
    bench.with(at, block(json!({ "type": "section" }))).await;
    bench.with(at, block(json!({ "type": "header", "text": { "type": "plain_text", "text": "x".repeat(151) } }))).await;
    bench
        .with(at, block(json!({ "type": "header", "text": { "type": "mrkdwn", "text": "x" } })))
        .await;
    bench.with(at, block(json!({ "type": "section", "fields": vec![json!({ "type": "mrkdwn", "text": "x" }); 11] }))).await;
    bench.with(at, block(json!({ "type": "section", "fields": [{ "type": "mrkdwn", "text": "x".repeat(2_001) }] }))).await;
    bench.with(at, block(json!({ "type": "section", "colour": "red", "text": { "type": "mrkdwn", "text": "x" } }))).await;
    bench.with(at, block(json!({ "type": "chart" }))).await;
    bench.with(at, Value::from(vec![json!({ "type": "divider" }); 51])).await;
    bench.with("/attachments", json!("x")).await;
    bench.with("/attachments", Value::from(vec![json!({ "fallback": "x" }); 101])).await;
    bench.spoiled("nothing", |bad| bad.body = b"{}".to_vec()).await;
    bench.spoiled("no JSON", |bad| bad.body = b"{".to_vec()).await;
    bench.url("/T00000001/", "/T00000002/").await;
    bench.url("/services/", "/elsewhere/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 invalid_blocks
    /attachments/0/blocks of 3056 bytes: 400 /blocks/0: a text of 3001 characters, at most 3000
    /attachments/0/blocks of 55 bytes: 400 /blocks/0: a text of 0 characters, at most 3000
    /attachments/0/blocks = [{"type":"section"}]: 400 /blocks/0: a section without text and fields
    /attachments/0/blocks of 209 bytes: 400 /blocks/0: a text of 151 characters, at most 150
    /attachments/0/blocks of 55 bytes: 400 /blocks/0: the text of a header is plain_text
    /attachments/0/blocks of 350 bytes: 400 /blocks/0: 11 fields
    /attachments/0/blocks of 2060 bytes: 400 /blocks/0: a text of 2001 characters, at most 2000
    /attachments/0/blocks of 71 bytes: 400 /blocks/0: invalid additional property: colour
    /attachments/0/blocks = [{"type":"chart"}]: 400 /blocks/0: unknown block `chart` in messages of webhooks
    /attachments/0/blocks of 970 bytes: 400 51 blocks
    /attachments = "x": 400 attachments are not a list
    /attachments of 1718 bytes: 400 too many attachments
    nothing: 400 neither text nor blocks
    no JSON: 400 the body is not JSON
    /T00000001/ → /T00000002/: 403 another token
    /services/ → /elsewhere/: 404 unknown path
    "#);
}

#[tokio::test]
async fn pagerduty() {
    let mut bench = Bench::new(ProviderType::Pagerduty, EventKind::Error).await;
    bench.with("/routing_key", Value::Null).await;
    bench.with("/routing_key", json!("e93facc04764012d7bfb002500d5d1a7")).await;
    bench.with("/event_action", json!("close")).await;
    bench.with("/event_action", Value::Null).await;
    bench.with("/dedup_key", long(256)).await;
    bench.with("/payload/summary", long(1_025)).await;
    bench.with("/payload/summary", json!(" ")).await;
    bench.with("/payload/severity", json!("fatal")).await;
    bench.with("/payload/source", Value::Null).await;
    bench.with("/payload/timestamp", json!("now")).await;
    bench.with("/payload/custom_details", json!([])).await;
    bench.with("/links/0/href", json!("x y")).await;
    bench.with("/payload/custom_details", json!({ "x": "x".repeat(512 * 1_024) })).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("/v2/", "/v1/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"status":"invalid event","message":"Event object is invalid","errors":["'routing_key' is missing or blank","Length of 'routing_key' is incorrect (should be 32 characters)","Invalid routing key"]}
    /routing_key = null: 400 'routing_key' is missing or blank; Length of 'routing_key' is incorrect (should be 32 characters); Invalid routing key
    /routing_key = "e93facc04764012d7bfb002500d5d1a7": 400 Invalid routing key
    /event_action = "close": 400 'event_action' must be one of: trigger, acknowledge, resolve
    /event_action = null: 400 'event_action' must be one of: trigger, acknowledge, resolve
    /dedup_key of 258 bytes: 400 'dedup_key' has 1 to 255 characters
    /payload/summary of 1027 bytes: 400 'payload.summary' has at most 1024 characters
    /payload/summary = " ": 400 'payload.summary' is missing or blank
    /payload/severity = "fatal": 400 'payload.severity' must be one of: critical, error, warning, info
    /payload/source = null: 400 'payload.source' is missing or blank
    /payload/timestamp = "now": 400 'payload.timestamp' is not ISO 8601
    /payload/custom_details = []: 400 'payload.custom_details' is not an object
    /links/0/href = "x y": 400 'links' need an 'href' that is a URL
    /payload/custom_details of 524296 bytes: 413 the event is too large
    no JSON: 400 the body is not JSON
    /v2/ → /v1/: 404 unknown path
    "#);
    let mut over = Bench::new(ProviderType::Pagerduty, EventKind::Recovered).await;
    over.with("/dedup_key", Value::Null).await;
    insta::assert_snapshot!(over.render(), @r#"
    says 400 {"status":"invalid event","message":"Event object is invalid","errors":["'dedup_key' is missing or blank"]}
    /dedup_key = null: 400 'dedup_key' is missing or blank
    "#);
}

#[tokio::test]
async fn opsgenie() {
    let mut bench = Bench::new(ProviderType::Opsgenie, EventKind::Error).await;
    for (name, max) in [
        ("message", 130),
        ("alias", 512),
        ("description", 15_000),
        ("entity", 512),
        ("source", 100),
    ] {
        bench.with(&format!("/{name}"), long(max + 1)).await;
    }
    bench.with("/message", Value::Null).await;
    bench.with("/priority", json!("P0")).await;
    bench.with("/tags", Value::from(vec![long(51)])).await;
    bench.with("/tags", Value::from(vec!["x"; 21])).await;
    bench.with("/details", json!({ "x": "x".repeat(8_000) })).await;
    bench.with("/details", json!({ "x": 1 })).await;
    bench.header(AUTHORIZATION, None).await;
    bench.header(AUTHORIZATION, Some("Bearer eb243592-faa2-4ba2-a551-1afdf565c889")).await;
    bench.header(AUTHORIZATION, Some("GenieKey other")).await;
    bench.url("/v2/", "/v1/").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 422 {"message":"Request body is not processable. Please check the errors.","errors":{"message":"is a text of at most 130 characters."},"took":0.001,"requestId":"513085b8-caf3-4f91-aa23-be5fdefc3570"}
    /message of 133 bytes: 422 Request body is not processable. Please check the errors. {"message":"is a text of at most 130 characters."}
    /alias of 515 bytes: 422 Request body is not processable. Please check the errors. {"alias":"is a text of at most 512 characters."}
    /description of 15003 bytes: 422 Request body is not processable. Please check the errors. {"description":"is a text of at most 15000 characters."}
    /entity of 515 bytes: 422 Request body is not processable. Please check the errors. {"entity":"is a text of at most 512 characters."}
    /source of 103 bytes: 422 Request body is not processable. Please check the errors. {"source":"is a text of at most 100 characters."}
    /message = null: 422 Request body is not processable. Please check the errors. {"message":"Message can not be empty."}
    /priority = "P0": 422 Request body is not processable. Please check the errors. {"priority":"should be one of [ P1, P2, P3, P4, P5 ]."}
    /tags of 55 bytes: 422 Request body is not processable. Please check the errors. {"tags":"are at most 20 texts of at most 50 characters."}
    /tags of 85 bytes: 422 Request body is not processable. Please check the errors. {"tags":"are at most 20 texts of at most 50 characters."}
    /details of 8008 bytes: 422 Request body is not processable. Please check the errors. {"details":"are texts of at most 8000 characters together."}
    /details = {"x":1}: 422 Request body is not processable. Please check the errors. {"details":"are texts of at most 8000 characters together."}
    authorization None: 401 Could not authenticate {}
    authorization Some("Bearer eb243592-faa2-4ba2-a551-1afdf565c889"): 401 Could not authenticate {}
    authorization Some("GenieKey other"): 422 Key format is not valid! {}
    /v2/ → /v1/: 404 Not Found {}
    "#);
    let mut over = Bench::new(ProviderType::Opsgenie, EventKind::Recovered).await;
    over.url("?identifierType=alias", "").await;
    over.with("/note", long(25_001)).await;
    insta::assert_snapshot!(over.render(), @r#"
    says 422 {"message":"Identifier is not an id","errors":{"id":"inc_0000000000005"},"took":0.001,"requestId":"513085b8-caf3-4f91-aa23-be5fdefc3570"}
    ?identifierType=alias → : 422 Identifier is not an id {"id":"inc_0000000000005"}
    /note of 25003 bytes: 422 Request body is not processable. Please check the errors. {"note":"is a text of at most 25000 characters."}
    "#);
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
async fn telegram() {
    let mut bench = Bench::new(ProviderType::Telegram, EventKind::Error).await;
    bench.with("/text", long(4_097)).await;
    bench.with("/text", json!("<b></b> ")).await;
    bench.with("/text", json!("<b>x")).await;
    bench.with("/text", json!("a <wbr> b")).await;
    bench.with("/text", json!("1 < 2")).await;
    bench.with("/text", Value::Null).await;
    bench.with("/parse_mode", json!("Markup")).await;
    bench.with("/parse_mode", json!("MarkdownV2")).await;
    bench.with("/chat_id", json!("ops")).await;
    bench.with("/chat_id", Value::Null).await;
    bench.url("/bot123456789:", "/bot987654321:").await;
    bench.url("/bot", "/").await;
    bench.url("sendMessage", "sendmessages").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"ok":false,"error_code":400,"description":"Bad Request: message is too long"}
    /text of 4099 bytes: 400 Bad Request: message is too long
    /text = "<b></b> ": 400 Bad Request: message text is empty
    /text = "<b>x": 400 Bad Request: can't parse entities: Can't find end tag corresponding to start tag "b"
    /text = "a <wbr> b": 400 Bad Request: can't parse entities: Unsupported start tag "wbr" at byte offset 2
    /text = "1 < 2": 400 Bad Request: can't parse entities: Unclosed start tag at byte offset 2
    /text = null: 400 Bad Request: message text is empty
    /parse_mode = "Markup": 400 Bad Request: unsupported parse_mode
    /parse_mode = "MarkdownV2": 400 Bad Request: can't parse entities: Character '>' is reserved and must be escaped with the preceding '\' (byte offset 7)
    /chat_id = "ops": 400 Bad Request: chat not found
    /chat_id = null: 400 Bad Request: chat_id is empty
    /bot123456789: → /bot987654321:: 401 Unauthorized
    /bot → /: 404 Not Found
    sendMessage → sendmessages: 404 Not Found
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
async fn google_chat() {
    let mut bench = Bench::new(ProviderType::GoogleChat, EventKind::Error).await;
    let card = "/cardsV2/0/card";
    bench.with("/cardsV2", json!([])).await;
    bench.with("/colour", json!("red")).await;
    bench.with(&format!("{card}/header/title"), json!("")).await;
    bench.with(&format!("{card}/sections"), json!([])).await;
    bench.with(&format!("{card}/sections/0/widgets"), json!([])).await;
    let widgets = format!("{card}/sections/0/widgets");
    bench.with(&widgets, Value::from(vec![json!({ "divider": {} }); 101])).await;
    bench.with(&format!("{widgets}/0"), json!({ "image": {} })).await;
    bench
        .with(&format!("{widgets}/0"), json!({ "divider": {}, "textParagraph": { "text": "x" } }))
        .await;
    bench.with(&format!("{widgets}/0"), json!({ "textParagraph": { "text": "" } })).await;
    let link = |url: &str| json!({ "buttonList": { "buttons": [{ "text": "x", "onClick": { "openLink": { "url": url } } }] } });
    bench.with(&format!("{widgets}/0"), link("javascript:alert(1)")).await;
    bench
        .with(&format!("{widgets}/0"), json!({ "textParagraph": { "text": "x".repeat(32_000) } }))
        .await;
    bench.with("/thread/threadKey", long(4_001)).await;
    bench.with("/text", long(4_097)).await;
    bench.url("REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD", "REPLY").await;
    bench.url("key=", "key=x").await;
    bench.url("&token=", "&tok=").await;
    bench.url("/spaces/", "/spaces/X").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"error":{"code":400,"message":"Message cannot be empty.","status":"INVALID_ARGUMENT"}}
    /cardsV2 = []: 400 Message cannot be empty.
    /colour = "red": 400 Unknown name "colour": Cannot find field.
    /cardsV2/0/card/header/title = "": 400 card header: `title` is required
    /cardsV2/0/card/sections = []: 400 Cards must have at least one section
    /cardsV2/0/card/sections/0/widgets = []: 400 Sections must have at least one widget
    /cardsV2/0/card/sections/0/widgets of 1516 bytes: 400 Cards have at most 100 widgets
    /cardsV2/0/card/sections/0/widgets/0 = {"image":{}}: 400 Unknown name "image" at 'widgets': Cannot find field.
    /cardsV2/0/card/sections/0/widgets/0 of 43 bytes: 400 Widgets must have exactly one of their fields
    /cardsV2/0/card/sections/0/widgets/0 = {"textParagraph":{"text":""}}: 400 text paragraph: `text` is required
    /cardsV2/0/card/sections/0/widgets/0 of 94 bytes: 400 Invalid URL: javascript:alert(1)
    /cardsV2/0/card/sections/0/widgets/0 of 32029 bytes: 400 Message is too long: at most 32000 bytes
    /thread/threadKey of 4003 bytes: 400 Invalid thread key: 1 to 4000 characters
    /text of 4099 bytes: 400 Message text is too long: at most 4096 characters
    REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD → REPLY: 400 Invalid value at 'message_reply_option'
    key= → key=x: 400 API key not valid. Please pass a valid API key.
    &token= → &tok=: 401 Invalid webhook token.
    /spaces/ → /spaces/X: 404 Requested entity was not found.
    "#);
}

#[tokio::test]
async fn grafana_oncall() {
    let mut bench = Bench::new(ProviderType::GrafanaOncall, EventKind::Error).await;
    bench.with("/state", json!("down")).await;
    bench.with("/title", json!("")).await;
    bench.with("/alert_uid", Value::Null).await;
    bench.with("/message", json!({})).await;
    bench.with("/link_to_upstream_details", json!("x y")).await;
    bench.with("/severity", json!("high")).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("/formatted_webhook/", "/webhook/").await;
    bench.url("/bJ8K", "/other").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 `state` is neither `alerting` nor `ok`
    /state = "down": 400 `state` is neither `alerting` nor `ok`
    /title = "": 400 `title` is empty: nothing could be grouped or shown by it
    /alert_uid = null: 400 `alert_uid` is empty: nothing could be grouped or shown by it
    /message = {}: 400 `message` is not text
    /link_to_upstream_details = "x y": 400 `link_to_upstream_details` is not a URL
    /severity = "high": 400 `severity` is not recognised
    no JSON: 400 the body is not JSON
    /formatted_webhook/ → /webhook/: 400 another kind of integration
    /bJ8K → /other: 403 another key
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

#[tokio::test]
async fn ms_teams() {
    let mut bench = Bench::new(ProviderType::MsTeams, EventKind::Error).await;
    let card = "/attachments/0/content";
    bench.with("/type", json!("card")).await;
    bench.with("/attachments", json!([])).await;
    bench.with("/attachments/0/contentType", json!("text/html")).await;
    bench.with(&format!("{card}/colour"), json!("red")).await;
    bench.with(&format!("{card}/version"), json!("0.5")).await;
    bench.with(&format!("{card}/body"), json!([])).await;
    bench.with(&format!("{card}/body/0"), json!({ "type": "TextBlock", "text": "x" })).await;
    bench.with(&format!("{card}/body/0/inlines/0/text"), json!("")).await;
    bench.with(&format!("{card}/body/0/inlines/0/text"), long(28_672)).await;
    bench.with(&format!("{card}/actions/0/url"), json!("javascript:alert(1)")).await;
    bench.spoiled("no JSON", |bad| bad.body = b"x".to_vec()).await;
    bench.url("sig=", "sig=x").await;
    bench.url("/workflows/", "/workflows/x").await;
    insta::assert_snapshot!(bench.render(), @r#"
    says 400 {"error":{"code":"TriggerInputSchemaMismatch","message":"the type is not `message`"}}
    /type = "card": 400 the type is not `message`
    /attachments = []: 400 not exactly one attachment
    /attachments/0/contentType = "text/html": 400 the attachment is not an Adaptive Card
    /attachments/0/content/colour = "red": 400 unknown property `colour` of the card
    /attachments/0/content/version = "0.5": 400 the content is not an Adaptive Card of version 1.4
    /attachments/0/content/body = []: 400 the card has no body
    /attachments/0/content/body/0 = {"type":"TextBlock","text":"x"}: 400 unexpected element: {"type":"TextBlock","text":"x"}
    /attachments/0/content/body/0/inlines/0/text = "": 400 a block without text
    /attachments/0/content/body/0/inlines/0/text of 28674 bytes: 413 Request Entity too large
    /attachments/0/content/actions/0/url = "javascript:alert(1)": 400 an action that opens no URL
    no JSON: 400 The body is not JSON.
    sig= → sig=x: 401 The provided authorization signature is invalid.
    /workflows/ → /workflows/x: 404 The workflow could not be found.
    "#);
}
