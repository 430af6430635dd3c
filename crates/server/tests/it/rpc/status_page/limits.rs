//! Limits of pages, components and groups over RPC, at each bound and one past it.
//!
//! The server names the path of a rejected field and stores nothing.

use rules::field::{Field, Presence, Resource, Shape};
use rules::tables::{STATUS_PAGE, STATUS_PAGE_COMPONENT, STATUS_PAGE_COMPONENT_GROUP};
use serde_json::{Value, json};
use testkit::server::Caller;

use super::{a_page, call, merge, paths, start};
use crate::rpc::camel;

/// Values at the bounds of a field, and values one past them with the rejected path.
struct Bounds {
    hold: Vec<Value>,
    refused: Vec<(Value, String)>,
}

/// Returns a text of this shape with this many characters.
fn text(shape: Shape, characters: u32) -> String {
    let count = characters as usize;
    if matches!(shape, Shape::Slug { .. }) {
        return "a".repeat(count);
    }
    if matches!(shape, Shape::DomainName { .. }) {
        // A custom domain must resolve to this server, as all names below `.localhost` do.
        let end = ".localhost";
        let begin = (1..=count - end.len()).map(|at| if at % 64 == 0 { '.' } else { 'a' });
        return begin.chain(end.chars()).collect();
    }
    let is_url = matches!(shape, Shape::HttpUrl { .. } | Shape::ContactUrl { .. });
    let begin = if is_url { "https://example.com/" } else { "" };
    // Characters of three bytes: limits count characters, not bytes.
    format!("{begin}{}", "☂".repeat(count - begin.len()))
}

fn bounds(field: &Field) -> Option<Bounds> {
    let at = |suffix: &str| format!("{}{suffix}", field.name);
    let refused = |values: Vec<Value>| values.into_iter().map(|value| (value, at(""))).collect();
    if matches!(field.shape, Shape::Id(_)) {
        // Other tests cover references to existing resources.
        return None;
    }
    if let Some(words) = field.shape.names() {
        let hold = words.iter().map(|word| json!(word)).collect();
        return Some(Bounds { hold, refused: refused(vec![json!("Public"), json!("")]) });
    }
    if let Shape::Integer { min, max } = field.shape {
        let past = vec![json!(i64::from(min) - 1), json!(i64::from(max) + 1)];
        return Some(Bounds { hold: vec![json!(min), json!(max)], refused: refused(past) });
    }
    if let Shape::ListOfDomains { max } = field.shape {
        let domains = |count: u32| json!(vec!["a.example"; count as usize]);
        let long = json!([text(Shape::DomainName { max: 253 }, 254)]);
        let refused = vec![(domains(max + 1), at("")), (long, at("[0]"))];
        return Some(Bounds { hold: vec![domains(0), domains(1), domains(max)], refused });
    }
    let (min, max) = field.shape.characters()?;
    let longest = json!(text(field.shape, max));
    let past = json!(text(field.shape, max + 1));
    Some(if min == 0 {
        Bounds { hold: vec![longest, json!("")], refused: refused(vec![past]) }
    } else {
        Bounds { hold: vec![longest], refused: refused(vec![past, json!("")]) }
    })
}

/// Creates resources of this table with each bounded field at its bounds and past them.
async fn walk(
    caller: &Caller,
    (table, name, under): (&'static Resource, &str, &str),
    // Required fields beside the field under test. The number makes them unique.
    least: impl Fn(usize) -> Value,
) {
    let list = format!("List{name}s");
    let method = format!("Create{name}");
    let field_of_request = camel(under);
    let mut walked = Vec::new();
    let mut stored = 0;
    for field in table.fields.iter().filter(|field| field.presence != Presence::Output) {
        let Some(Bounds { hold, refused }) = bounds(field) else { continue };
        for value in hold {
            // A static component requires a name.
            if table.name == STATUS_PAGE_COMPONENT.name && field.name == "name" && value == "" {
                continue;
            }
            let mut resource = least(stored);
            merge(&mut resource, json!({ camel(field.name): value }));
            let reply = call(caller, &method, json!({ &field_of_request: resource })).await;
            assert_eq!(reply.status, 200, "{}: {reply}", field.name);
            stored += 1;
        }
        for (value, path) in refused {
            let mut resource = least(stored);
            merge(&mut resource, json!({ camel(field.name): value }));
            let reply = call(caller, &method, json!({ &field_of_request: resource })).await;
            assert_eq!(reply.status, 400, "{}: {reply}", field.name);
            let path = format!("{under}.{path}");
            assert_eq!(paths(&reply), [path], "{reply}");
        }
        walked.push(field.name);
        let found = call(caller, &list, json!({ "limit": 1 })).await.json();
        assert_eq!(found["totalSize"], stored, "after {}", field.name);
    }
    assert!(!walked.is_empty(), "{}", table.name);
}

#[tokio::test]
async fn page_values_beyond_a_limit_are_rejected() {
    // spec: §2.5, §8.1
    let (_server, caller) = start().await;
    walk(&caller, (&STATUS_PAGE, "StatusPage", "status_page"), |number| {
        json!({
            "title": "Acme",
            "slug": format!("acme-{number}"),
            // Present for every access type that requires it.
            "password": "hunter2",
            "authEmailDomains": ["a.example"],
        })
    })
    .await;
}

#[tokio::test]
async fn component_values_beyond_a_limit_are_rejected() {
    // spec: §2.6, §8.1
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let monitor = super::monitor(&caller).await;
    walk(&caller, (&STATUS_PAGE_COMPONENT, "Component", "component"), |number| {
        // The type field comes first in the table. Its first value needs a monitor, the second does
        // not.
        let mut least = json!({ "pageId": page["id"], "type": "static", "name": "Mail" });
        if number == 0 {
            least["monitorId"] = monitor.clone();
        }
        least
    })
    .await;
}

#[tokio::test]
async fn group_values_beyond_a_limit_are_rejected() {
    // spec: §2.7, §8.1
    let (_server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let table = (&STATUS_PAGE_COMPONENT_GROUP, "ComponentGroup", "component_group");
    walk(&caller, table, |_| json!({ "pageId": page["id"], "name": "Core" })).await;
}
