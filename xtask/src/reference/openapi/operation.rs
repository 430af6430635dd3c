//! Methods as operations: texts, scope, requests and responses with an example of each, and errors.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use rules::{Reason, Scope, person_role};
use serde_json::{Map, Value, json};

use super::schema::Schemas;
use super::shape::keywords;
use crate::reference::Book;
use crate::reference::comment::{capitalised, parse_method};
use crate::reference::contract::{Level, Method};
use crate::reference::prose::anchor;
use crate::reference::service::{ServicePage, scope};

/// Reasons of every method. A method adds its own.
const COMMON: [Reason; 13] = [
    Reason::InvalidArgument,
    Reason::MalformedMessage,
    Reason::KeyMissing,
    Reason::KeyUnknown,
    Reason::KeyExpired,
    Reason::KeyRevoked,
    Reason::RequestTimeout,
    Reason::PayloadTooLarge,
    Reason::MediaType,
    Reason::RateLimited,
    Reason::Internal,
    Reason::Unavailable,
    Reason::DeadlineExceeded,
];
/// Headers of every response.
const HEADERS: [&str; 4] =
    ["x-request-id", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];

/// Returns the path of a method and its operation.
pub(super) fn operation(
    book: &Book,
    schemas: &Schemas<'_>,
    method: &Method,
) -> Result<(String, Value)> {
    let path = method.path();
    let (mut request, mut response) = (
        keywords(json!({ "schema": schemas.request(method) })),
        keywords(json!({ "schema": schemas.response(method) })),
    );
    // The examples have keys, which cannot call the methods for people.
    if person_role(&path).is_none() {
        let example = book.examples.get(&path).with_context(|| format!("{path} has no example"))?;
        let answer = book.responses.get(&path).with_context(|| format!("{path} has no answer"))?;
        request.insert("example".to_owned(), example.request.clone());
        response.insert("example".to_owned(), answer.clone());
    }
    let page = ServicePage::for_method(book, method);
    let mut operation = keywords(json!({
        "operationId": format!("{}_{}", service(method), method.name),
        "tags": [method.service],
    }));
    operation.extend(texts(book, method));
    operation.insert("security".to_owned(), security(method));
    operation.insert("parameters".to_owned(), parameters(&page, method));
    operation.insert(
        "requestBody".to_owned(),
        json!({ "required": true, "content": { "application/json": request } }),
    );
    let mut responses = keywords(json!({ "200": {
        "description": "Success.",
        "headers": headers(),
        "content": { "application/json": response },
    }}));
    responses.extend(errors(&page, book, method));
    operation.insert("responses".to_owned(), Value::Object(responses));
    Ok((format!("/rpc/{path}"), json!({ "post": operation })))
}

/// Returns the headers of a successful response.
fn headers() -> Map<String, Value> {
    let reference = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    HEADERS.iter().map(|name| ((*name).to_owned(), reference(name))).collect()
}

fn texts(book: &Book, method: &Method) -> Map<String, Value> {
    let doc = parse_method(&method.comment);
    let first = doc.paragraphs.first().map_or("", String::as_str);
    let sentence = first.split_once(". ").map_or(first.trim_end_matches('.'), |(first, _)| first);
    let prose = book.prose();
    let package = method.package();
    keywords(json!({
        "summary": prose.plain(sentence),
        "description": prose.plain(&doc.paragraphs.join("\n\n")),
        "externalDocs": { "url": format!("/docs/reference/{package}#{}", anchor(&method.name)) },
    }))
}

/// Returns the two ways to send a key, with the scope that it needs.
fn security(method: &Method) -> Value {
    json!([{ "serviceKey": [scope(method)] }, { "bearer": [scope(method)] }])
}

fn parameters(page: &ServicePage<'_>, method: &Method) -> Value {
    let mut names = vec!["connect-timeout-ms", "x-request-id"];
    if method.level == Level::Once && page.takes_key(&method.comment) {
        names.push("idempotency-key");
    }
    let reference = |name: &str| json!({ "$ref": format!("#/components/parameters/{name}") });
    names.into_iter().map(reference).collect()
}

/// Returns the responses of errors by their status. Conditions of the method's own errors replace the
/// general description.
fn errors(page: &ServicePage<'_>, book: &Book, method: &Method) -> Map<String, Value> {
    let mut found: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for reason in COMMON {
        found.entry(reason.status()).or_default();
    }
    if scope(method) == Scope::Write.as_str() {
        found.entry(Reason::KeyReadOnly.status()).or_default();
    }
    for (reasons, when) in page.own_errors(method) {
        for reason in reasons {
            let conditions = found.entry(reason.status()).or_default();
            if !when.is_empty() && !conditions.contains(&when) {
                conditions.push(when.clone());
            }
        }
    }
    let response = |(status, conditions): (u16, Vec<String>)| {
        let mut response = keywords(json!({ "$ref": format!("#/components/responses/{status}") }));
        if !conditions.is_empty() {
            let text = capitalised(&book.prose().plain(&conditions.join("; ")));
            response.insert("description".to_owned(), Value::from(format!("{text}.")));
        }
        (status.to_string(), Value::Object(response))
    };
    found.into_iter().map(response).collect()
}

/// Returns the name of a method's service without its package.
fn service(method: &Method) -> &str {
    method.service.rsplit('.').next().unwrap_or(&method.service)
}
