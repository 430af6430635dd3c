//! Limits of channels over RPC, at each bound and one past it. The server names the path of a
//! rejected field and stores nothing.
//!
//! The tests iterate over the table, so they cover new fields without a change here.

use rules::field::{Field, Shape};
use rules::{ProviderType, Scope, tables};
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

use super::{a_channel, call, create};
use crate::rpc::camel;

/// Field of a request: its path in the names of the specification, and its JSON pointer.
struct Spot {
    kind: ProviderType,
    path: String,
    pointer: String,
    field: &'static Field,
}

/// Returns every writable field, each with a channel kind that has it.
fn spots() -> Vec<Spot> {
    let table = &tables::NOTIFICATION;
    let own = table.fields.iter().filter(|field| table.writable().any(|name| name == field.name));
    let mut spots: Vec<Spot> = own
        .map(|field| Spot {
            kind: ProviderType::Slack,
            path: field.name.to_owned(),
            pointer: format!("/{}", camel(field.name)),
            field,
        })
        .collect();
    for block in table.blocks {
        let kind = ProviderType::parse(block.name).unwrap();
        let at = camel(block.name);
        let spot = |path: String, pointer: String, field| Spot { kind, path, pointer, field };
        spots.extend(block.fields.iter().map(|field| {
            let pointer = format!("/{at}/{}", camel(field.name));
            spot(format!("{}.{}", block.name, field.name), pointer, field)
        }));
        for inner in block.blocks {
            spots.extend(inner.fields.iter().map(|field| {
                let path = format!("{}.{}[0].{}", block.name, inner.name, field.name);
                spot(path, format!("/{at}/{}/0/{}", camel(inner.name), camel(field.name)), field)
            }));
        }
    }
    spots
}

/// Returns valid and invalid values: at the bounds of the field's shape and one past them.
fn bounds(shape: Shape) -> (Vec<Value>, Vec<Value>) {
    if let Some(words) = shape.names() {
        return (Vec::new(), vec![json!("pigeon"), json!(""), json!(words[0].to_uppercase())]);
    }
    if let Shape::SetOfIds(_) = shape {
        return (vec![json!([])], vec![json!([""]), json!(["chn_1"]), json!(["mon_é"])]);
    }
    let (min, max) = shape.characters().expect("channels have words, identifiers and texts");
    let mut holds = vec![json!(of_length(shape, max))];
    let mut breaks = vec![json!(of_length(shape, max + 1))];
    if min == 0 {
        holds.push(json!(""));
    } else {
        breaks.push(json!(""));
    }
    (holds, breaks)
}

/// Returns a text of this shape and length in characters. Uses characters of three bytes if the
/// shape allows any.
fn of_length(shape: Shape, length: u32) -> String {
    let length = length as usize;
    let fill = |start: &str| format!("{start}{}", "a".repeat(length - start.len()));
    match shape {
        Shape::HttpUrl { .. } => fill("https://example.com/"),
        Shape::EmailAddress { .. } => {
            let local = "a".repeat(2 + length % 2);
            let labels = format!("{}.", "a".repeat(63)).repeat(length / 64 + 1);
            format!("{local}@{}", &labels[..length - local.len() - 1])
        }
        Shape::PhoneNumber => format!("+{}", "1".repeat(length - 1)),
        Shape::HeaderName { .. } | Shape::HeaderValue { .. } => fill(""),
        Shape::Text { .. } | Shape::Line { .. } => "☂".repeat(length),
        Shape::HostPort { .. }
        | Shape::DomainName { .. }
        | Shape::ContactUrl { .. }
        | Shape::AnswerHeaderName { .. }
        | Shape::JsonPath { .. }
        | Shape::Certificates { .. }
        | Shape::PrivateKey { .. }
        | Shape::Slug { .. }
        | Shape::TimeOfDay
        | Shape::TimeZone
        | Shape::Interval { .. }
        | Shape::Integer { .. }
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::Id(_)
        | Shape::SetOfIds(_)
        | Shape::SetOfTags { .. }
        | Shape::ListOfDomains { .. }
        | Shape::Instant
        | Shape::ListOf(_) => panic!("no channel has such a text: {shape:?}"),
    }
}

async fn stored(caller: &Caller) -> Value {
    call(caller, "ListNotifications", json!({})).await.json()["totalSize"].clone()
}

#[tokio::test]
async fn values_beyond_a_limit_are_rejected() {
    // spec: §2.4, §8.1
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let (mut taken, mut refused) = (0, 0);
    for spot in spots() {
        let (holds, breaks) = bounds(spot.field.shape);
        let with = |value: &Value| {
            let mut channel = a_channel(spot.kind);
            if spot.path == "name" {
                channel["name"] = json!("");
            }
            *channel.pointer_mut(&spot.pointer).unwrap() = value.clone();
            channel
        };
        for value in holds {
            let reply = create(&caller, &with(&value)).await;
            assert_eq!(reply.status, 200, "{}: {reply}", spot.path);
            taken += 1;
        }
        for value in breaks {
            let reply = create(&caller, &with(&value)).await;
            assert_eq!(reply.status, 400, "{} {value}: {reply}", spot.path);
            let violations = contract::rpc::field_violations(&reply.error().unwrap());
            let path = format!("notification.{}", spot.path);
            assert!(violations.iter().any(|it| it.field == path), "{path}: {violations:?}");
            refused += 1;
        }
    }
    assert_eq!(stored(&caller).await, taken, "what was refused is not stored");
    assert!(taken >= 20 && refused >= 40, "{taken} were taken, {refused} refused");
}

#[tokio::test]
async fn webhook_headers_are_limited_and_host_is_unique() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let with = |headers: Value| {
        let mut channel = a_channel(ProviderType::Webhook);
        channel["webhook"]["headers"] = headers;
        channel
    };
    let most = tables::NOTIFICATION.block("webhook").blocks[0].max.unwrap() as usize;
    let header = json!({ "key": "X-Team", "value": "core" });
    assert_eq!(create(&caller, &with(json!(vec![header.clone(); most]))).await.status, 200);
    let host = |value: &str| json!({ "key": "Host", "value": value });
    assert_eq!(create(&caller, &with(json!([host("a.example:81")]))).await.status, 200);
    let connection = json!({ "key": "Content-Length", "value": "1" });
    let mut shown = Vec::new();
    for headers in [
        json!(vec![header; most + 1]),
        json!([host("a.example"), host("b.example")]),
        json!([host("a b")]),
        json!([connection]),
        json!([{ "key": "X-A" }, { "value": "b" }]),
    ] {
        let reply = create(&caller, &with(headers)).await;
        let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
        shown.push(message.chars().take(110).collect::<String>());
    }
    insta::assert_snapshot!(shown.join("\n"), @"
    `notification.webhook.headers` must be given at most 20 times (given: `21`)
    `notification.webhook.headers` must set Host at most once
    `notification.webhook.headers[0].value` must be a host or host:port in ASCII, as the value of Host
    `notification.webhook.headers[0].key` must not be a header of the connection's own: connection, content-length
    `notification.webhook.headers[0].value` must be given; `notification.webhook.headers[1].key` must be given
    ");
    assert_eq!(stored(&caller).await, 2);
}
