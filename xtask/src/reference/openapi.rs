//! The OpenAPI description of the RPC API (Connect over JSON) and of `/v1`: from `proto/`, the tables of `rules`,
//! the scenarios and the recorded responses. The part beside the methods is written by hand in `openapi/base.json`.

mod operation;
mod schema;
mod shape;

use anyhow::{Context, Result, bail};
use rules::{Reason, limits};
use serde_json::{Map, Value, json};

use self::operation::operation;
use self::schema::Schemas;
use super::Book;
use super::comment::paragraphs;
use super::service::ServicePage;

/// Everything that no method says: servers, security, headers, `/v1`.
const BASE: &str = include_str!("openapi/base.json");

/// Returns the description as text.
pub(super) fn text(book: &Book) -> Result<String> {
    let mut document: Value = serde_json::from_str(BASE).context("openapi/base.json")?;
    let schemas = Schemas::new(book);
    let mut paths = Map::new();
    let mut tags = Vec::new();
    for service in &book.contract.services {
        let name = format!("{}.{}", service.package, service.name);
        let page = ServicePage::new(book, service);
        let about = paragraphs(&service.comment).join("\n\n");
        tags.push(json!({
            "name": name,
            "description": book.prose().plain(&about),
            "externalDocs": { "url": format!("/docs/reference/{}", page.package()) },
        }));
        for method in &service.methods {
            let (path, operation) = operation(book, &schemas, method)?;
            paths.insert(path, operation);
        }
    }
    extend(&mut document, "/tags", tags)?;
    merge(&mut document, "/paths", paths)?;
    merge(&mut document, "/components/schemas", schemas.all()?)?;
    merge(&mut document, "/components/schemas", reasons())?;
    merge(&mut document, "/components/responses", responses())?;
    document["components"]["parameters"]["idempotency-key"]["schema"]["maxLength"] =
        json!(limits::IDEMPOTENCY_KEY_CHARS_MAX);
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Returns the enumerations of reasons and codes.
fn reasons() -> Map<String, Value> {
    let mut codes: Vec<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    let reason = |reason: &Reason| {
        let description = format!("{} {}", reason.meaning(), reason.help());
        json!({ "const": reason.as_str(), "description": description })
    };
    let reasons: Vec<Value> = Reason::ALL.iter().map(reason).collect();
    shape::keywords(json!({
        "Reason": {
            "type": "string",
            "description": "Cause of an error, for programs. New reasons may be added.",
            "oneOf": reasons,
        },
        "Code": {
            "type": "string",
            "description": "Class of an error. Each has one or more reasons.",
            "enum": codes,
        },
    }))
}

/// Returns the response of each status of an error, with its reasons. No operation has another HTTP method
/// than its own.
fn responses() -> Map<String, Value> {
    let possible = Reason::ALL.iter().filter(|reason| **reason != Reason::Verb);
    let mut statuses: Vec<u16> = possible.map(|reason| reason.status()).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let response = |status: u16| {
        let own = Reason::ALL.iter().filter(|reason| reason.status() == status);
        let lines: Vec<String> =
            own.map(|reason| format!("- `{reason}`: {}", reason.meaning())).collect();
        let mut headers =
            json!({ "x-request-id": { "$ref": "#/components/headers/x-request-id" } });
        if [Reason::RateLimited, Reason::Unavailable].iter().any(|it| it.status() == status) {
            headers["retry-after"] = json!({ "$ref": "#/components/headers/retry-after" });
        }
        let response = json!({
            "description": format!("Reasons:\n\n{}", lines.join("\n")),
            "headers": headers,
            "content": {
                "application/json": { "schema": { "$ref": "#/components/schemas/Error" } },
            },
        });
        (status.to_string(), response)
    };
    statuses.into_iter().map(response).collect()
}

/// Adds fields to an object of the document. Fails if it has one of them already.
fn merge(document: &mut Value, pointer: &str, fields: Map<String, Value>) -> Result<()> {
    let object = document.pointer_mut(pointer).and_then(Value::as_object_mut);
    let object = object.with_context(|| format!("openapi/base.json has no object {pointer}"))?;
    for (name, value) in fields {
        if object.contains_key(&name) {
            bail!("{pointer} has `{name}` twice");
        }
        object.insert(name, value);
    }
    Ok(())
}

fn extend(document: &mut Value, pointer: &str, items: Vec<Value>) -> Result<()> {
    let list = document.pointer_mut(pointer).and_then(Value::as_array_mut);
    let list = list.with_context(|| format!("openapi/base.json has no list {pointer}"))?;
    // Services first, in their order.
    list.splice(0..0, items);
    Ok(())
}
