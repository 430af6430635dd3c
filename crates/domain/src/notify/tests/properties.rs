//! Every message keeps its vendor's form and limits, for any names, addresses and reasons.

use proptest::prelude::*;
use rules::ProviderType;
use serde_json::Value;

use super::any::{any_event, any_link, any_text};
use super::fixtures::{a_channel, a_digest, an_event, composed};
use super::schema;
use crate::notify::truncate::Unit;
use crate::notify::{
    Disposition, Event, EventBatch, HttpMessage, Mail, Message, STORM_EVENTS_MAX, VendorResponse,
    classify_response, discord, email, google_chat, grafana_oncall, ntfy, opsgenie, pagerduty,
    phone, slack, telegram,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn message_of_any_event_is_valid(event in any_event(), link in any_link()) {
        for kind in ProviderType::ALL {
            assert_fine(*kind, &composed(*kind, EventBatch::One(&event), &link));
        }
    }

    #[test]
    fn digest_of_any_events_is_valid(
        events in prop::collection::vec(any_event(), 1..12),
        link in any_link(),
    ) {
        for kind in ProviderType::ALL {
            assert_fine(*kind, &composed(*kind, EventBatch::Digest(&events), &link));
        }
    }
}

proptest! {
    #[test]
    fn stored_event_reads_back_equal(event in any_event()) {
        let kept = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<Event>(&kept).unwrap(), event);
    }

    #[test]
    fn quoted_response_is_one_short_line(
        status in any::<u16>(),
        body in any_text(),
        place in prop::sample::select(&["", "message", "description", "error", "errors"][..]),
    ) {
        let body = match place {
            "" => body,
            "errors" => serde_json::json!({ "errors": [body] }).to_string(),
            field => serde_json::json!({ field: body, "error": { "message": body } }).to_string(),
        };
        for kind in ProviderType::ALL {
            let answer = VendorResponse { status, retry_after: None, body: body.clone() };
            let why = match classify_response(*kind, &answer) {
                Disposition::Accepted => continue,
                Disposition::Again { why, .. } => why,
                Disposition::Rejected(refusal) => refusal.why,
            };
            prop_assert!(!why.is_empty() && why.chars().count() <= 400, "{}", why);
            prop_assert!(!why.chars().any(char::is_control), "{}", why);
        }
    }
}

// issue 16, point 9: PagerDuty's key is in the body of the request
#[test]
fn echoed_secret_of_any_channel_is_hidden() {
    let event = an_event(crate::notify::EventKind::Error);
    for kind in ProviderType::ALL {
        let channel = a_channel(*kind);
        let Some(secret) = channel.secret() else { continue };
        let mut said = format!("unknown {}, retry", secret.expose());
        composed(*kind, EventBatch::One(&event), "").hide_secrets(&mut said, None);
        assert!(said.starts_with("unknown …") && said.ends_with(", retry"), "{kind}: {said}");
        assert!(!said.contains(secret.expose().as_str()), "{kind}: {said}");
    }
}

#[test]
fn largest_digest_is_valid() {
    let events: Vec<Event> = a_digest().into_iter().cycle().take(STORM_EVENTS_MAX).collect();
    for kind in ProviderType::ALL {
        assert_fine(*kind, &composed(*kind, EventBatch::Digest(&events), "https://a.example/"));
    }
}

fn assert_fine(kind: ProviderType, message: &Message) {
    match (kind, message) {
        (ProviderType::Email, Message::Mail(mail)) => assert_mail(mail),
        (ProviderType::Sms, Message::Http(message)) => assert_form(message, phone::SMS_MAX),
        (ProviderType::Whatsapp, Message::Http(message)) => {
            assert_form(message, phone::BODY_MAX);
        }
        (kind, Message::Http(message)) => {
            assert_headers(message);
            let body = serde_json::from_slice(&message.body).expect("the body is JSON");
            assert_json(kind, &body, message.body.len());
        }
        (kind, Message::Mail(_)) => panic!("{kind} is not an email"),
    }
}

fn assert_json(kind: ProviderType, body: &Value, bytes: usize) {
    match kind {
        ProviderType::Discord => assert_discord(body),
        ProviderType::Slack => assert_slack(body),
        ProviderType::Pagerduty => assert_pagerduty(body, bytes),
        ProviderType::Opsgenie => assert_opsgenie(body),
        ProviderType::Webhook => schema::assert_fits(body),
        ProviderType::Telegram => {
            assert_text(body, "/text", 1, telegram::TEXT_MAX);
            assert_html(text(body, "/text"), &["b", "code", "a"]);
        }
        ProviderType::GoogleChat => assert_google_chat(body, bytes),
        ProviderType::GrafanaOncall => {
            assert_text(body, "/title", 1, grafana_oncall::TITLE_MAX);
            assert_text(body, "/message", 0, grafana_oncall::MESSAGE_MAX);
            assert!(matches!(text(body, "/state"), "alerting" | "ok"));
        }
        ProviderType::Ntfy => {
            assert!(bytes <= ntfy::REQUEST_MAX, "{bytes} bytes");
            assert!(text(body, "/message").len() <= ntfy::MESSAGE_MAX);
            assert!(!text(body, "/message").is_empty());
            assert!(text(body, "/title").len() <= ntfy::TITLE_MAX);
        }
        ProviderType::Email | ProviderType::Sms | ProviderType::Whatsapp => {
            panic!("{kind} does not send JSON")
        }
    }
}

fn assert_discord(body: &Value) {
    let embed = &body["embeds"][0];
    assert_eq!(body["allowed_mentions"]["parse"], serde_json::json!([]));
    assert_text(embed, "/title", 1, discord::TITLE_MAX);
    let mut total = length(text(embed, "/title"));
    if embed.get("description").is_some() {
        assert_text(embed, "/description", 1, discord::DESCRIPTION_MAX);
        total += length(text(embed, "/description"));
    }
    let fields = embed["fields"].as_array().expect("fields are a list");
    assert!(fields.len() <= 25);
    for field in fields {
        assert_text(field, "/name", 1, discord::TITLE_MAX);
        assert_text(field, "/value", 1, discord::FIELD_MAX);
        total += length(text(field, "/name")) + length(text(field, "/value"));
    }
    assert!(total <= discord::TOTAL_MAX, "{total} in total");
}

fn assert_slack(body: &Value) {
    assert_text(body, "/text", 1, slack::TITLE_MAX);
    assert_slack_markup(text(body, "/text"));
    let blocks = body["attachments"][0]["blocks"].as_array().expect("blocks are a list");
    assert!((1..=slack::BLOCKS_MAX).contains(&blocks.len()));
    for block in blocks {
        if block.get("text").is_some() {
            assert_text(block, "/text/text", 1, slack::SECTION_MAX);
            assert_slack_markup(text(block, "/text/text"));
        }
        for list in ["fields", "elements"] {
            let parts = block.get(list).and_then(Value::as_array);
            let max = if list == "fields" { slack::FIELD_MAX } else { slack::SECTION_MAX };
            for part in parts.into_iter().flatten() {
                assert_text(part, "/text", 1, max);
                assert_slack_markup(text(part, "/text"));
            }
            assert!(parts.is_none_or(|parts| parts.len() <= slack::FIELDS_MAX));
        }
    }
}

/// Checks that angle brackets contain only the time or the link, and that every `&` begins an
/// entity.
fn assert_slack_markup(text: &str) {
    for part in text.split('<').skip(1) {
        let (inside, _) = part.split_once('>').expect("every bracket is closed");
        assert!(inside.starts_with("!date^") || inside.starts_with("http"), "{inside}");
    }
    assert_entities(text, &["amp", "lt", "gt"]);
}

fn assert_pagerduty(body: &Value, bytes: usize) {
    assert!(bytes <= pagerduty::PAYLOAD_BYTES_MAX);
    assert_text(body, "/dedup_key", 1, pagerduty::DEDUP_KEY_MAX);
    match text(body, "/event_action") {
        "trigger" => {
            assert_text(body, "/payload/summary", 1, pagerduty::SUMMARY_MAX);
            assert!(!text(body, "/payload/source").is_empty());
            let severity = text(body, "/payload/severity");
            assert!(matches!(severity, "critical" | "error" | "warning" | "info"));
        }
        action => assert_eq!(action, "resolve"),
    }
}

fn assert_opsgenie(body: &Value) {
    if body.get("note").is_some() {
        return assert_text(body, "/note", 1, 25_000);
    }
    assert_text(body, "/message", 1, opsgenie::MESSAGE_MAX);
    assert_text(body, "/alias", 1, opsgenie::ALIAS_MAX);
    assert_text(body, "/description", 0, opsgenie::DESCRIPTION_MAX);
    assert_text(body, "/entity", 0, opsgenie::ENTITY_MAX);
    let details = body["details"].as_object().expect("details are an object");
    let values = details
        .iter()
        .map(|(label, value)| length(label) + length(value.as_str().expect("details are texts")));
    assert!(values.sum::<usize>() <= opsgenie::DETAILS_MAX);
}

fn assert_google_chat(body: &Value, bytes: usize) {
    assert!(bytes <= google_chat::MESSAGE_BYTES_MAX, "{bytes} bytes");
    assert_text(body, "/thread/threadKey", 1, google_chat::THREAD_KEY_MAX);
    let card = &body["cardsV2"][0]["card"];
    assert!(!text(card, "/header/title").is_empty());
    let widgets = card["sections"][0]["widgets"].as_array().expect("widgets are a list");
    assert!((1..=100).contains(&widgets.len()));
    for widget in widgets {
        for pointer in ["/textParagraph/text", "/decoratedText/text"] {
            if let Some(shown) = widget.pointer(pointer) {
                assert_html(shown.as_str().expect("a widget's text is a string"), &[]);
            }
        }
    }
}

fn assert_mail(mail: &Mail) {
    assert!(length(&mail.subject) <= email::SUBJECT_MAX);
    assert!(!mail.subject.chars().any(char::is_control), "{:?}", mail.subject);
    for id in [&mail.id, &mail.thread] {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        assert!(!id.is_empty() && id.chars().all(is_plain), "{id}");
    }
    assert!(!mail.text.contains('\r'));
    let tags = [
        "html", "head", "title", "body", "div", "h1", "p", "table", "tr", "th", "td", "ul", "li",
        "a",
    ];
    assert_html(&mail.html, &tags);
}

fn assert_form(message: &HttpMessage, max: usize) {
    assert_headers(message);
    let fields: Vec<(String, String)> =
        url::form_urlencoded::parse(&message.body).into_owned().collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["To", "From", "Body"]);
    let body = &fields[2].1;
    assert!(!body.is_empty() && length(body) <= max, "{} units", length(body));
    assert!(!body.chars().any(|c| c.is_control() && c != '\n'), "{body:?}");
}

fn assert_headers(message: &HttpMessage) {
    assert!(url::Url::parse(message.url.expose()).is_ok());
    for (name, value) in &message.headers {
        let value = http::HeaderValue::from_bytes(value.expose().as_bytes());
        assert!(value.is_ok(), "{name}");
    }
    let content_types = message.headers.iter().filter(|(name, _)| name == "content-type");
    assert_eq!(content_types.count(), 1);
}

/// Checks that only known tags occur, closed in order, and that every `&` begins an entity.
fn assert_html(html: &str, known: &[&str]) {
    let mut open = Vec::new();
    for part in html.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("every tag ends");
        let name = tag.split(' ').next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "tags are closed in order"),
            None if matches!(name, "!doctype" | "meta" | "br") => {}
            None => {
                assert!(known.contains(&name), "<{tag}>");
                open.push(name);
            }
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    assert_entities(html, &["amp", "lt", "gt", "quot", "#39"]);
}

fn assert_entities(text: &str, known: &[&str]) {
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().unwrap_or_default();
        assert!(known.contains(&name), "&{}", part.chars().take(20).collect::<String>());
    }
}

fn assert_text(value: &Value, pointer: &str, min: usize, max: usize) {
    let length = length(text(value, pointer));
    assert!((min..=max).contains(&length), "{pointer} has {length} of {min} to {max}");
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer}"))
}

/// Returns the largest length that any vendor would count.
fn length(text: &str) -> usize {
    Unit::Utf16.length(text)
}
