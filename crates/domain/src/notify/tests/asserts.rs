//! Checks of a message's form.

use serde_json::Value;

use crate::notify::truncate::Unit;
use crate::notify::{HttpMessage, Message};

/// A message with a JSON body.
pub(crate) struct JsonMessage {
    pub(crate) body: Value,
    pub(crate) bytes: usize,
}

/// Returns the JSON of a message and checks its headers.
pub(crate) fn json(message: &Message) -> JsonMessage {
    let message = http(message);
    let body = serde_json::from_slice(&message.body).expect("the body is JSON");
    JsonMessage { body, bytes: message.body.len() }
}

fn http(message: &Message) -> &HttpMessage {
    let Message::Http(message) = message else { panic!("the message is not an email") };
    assert_headers(message);
    message
}

/// Checks a form with a text of at most `max` units.
pub(crate) fn assert_form(message: &Message, max: usize) {
    let message = http(message);
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
pub(crate) fn assert_html(html: &str, known: &[&str]) {
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

pub(crate) fn assert_entities(text: &str, known: &[&str]) {
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().unwrap_or_default();
        assert!(known.contains(&name), "&{}", part.chars().take(20).collect::<String>());
    }
}

pub(crate) fn assert_text(value: &Value, pointer: &str, min: usize, max: usize) {
    let length = length(text(value, pointer));
    assert!((min..=max).contains(&length), "{pointer} has {length} of {min} to {max}");
}

pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer}"))
}

/// Returns the largest length that any vendor would count.
pub(crate) fn length(text: &str) -> usize {
    Unit::Utf16.length(text)
}
