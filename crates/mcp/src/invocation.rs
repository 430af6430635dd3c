//! One call of a tool: from its arguments to requests of the contract, and from their responses to the
//! result. The services validate; this only adds what a model needs more than a program.

use contract::rpc;
use serde_json::{Map, Value, json};

use crate::backend::{Backend, Call};
use crate::catalog::Entry;
use crate::failure::Failure;
use crate::hidden;
use crate::tools::{
    Action, Effect, GET_MONITOR, GET_WORKSPACE, HIDDEN, IDEMPOTENCY_KEY, LIST_INCIDENTS,
    LIST_MONITORS, NOTIFY, Notice, UPDATE_MONITOR,
};

/// Field of an update that names the fields to change.
const MASK: &str = "update_mask";
const MASK_JSON: &str = HIDDEN[1];
/// Page size of the lists in which [`list_broken`] looks.
const PAGE: u32 = rules::limits::LIST_LIMIT_MAX;
/// Maximum number of these pages.
const PAGES_MAX: u32 = 50;
/// Maximum number of broken monitors in a result.
const BROKEN_MAX: usize = 100;

/// Valid arguments of a tool.
struct Arguments {
    request: Map<String, Value>,
    idempotency_key: Option<String>,
}

/// Calls a tool.
pub(crate) async fn call_tool(
    entry: &Entry,
    arguments: Map<String, Value>,
    backend: &dyn Backend,
) -> Result<Value, Failure> {
    let Arguments { request, idempotency_key } = read_arguments(entry, arguments)?;
    match entry.tool.action {
        Action::Call(method) => send(backend, method, request, idempotency_key).await,
        Action::Whoami => whoami(backend).await,
        Action::ListBroken => Box::pin(list_broken(backend)).await,
        Action::Pause => set_active(backend, request, false).await,
        Action::Resume => set_active(backend, request, true).await,
    }
}

/// Separates the arguments of the tool from those of the contract.
fn read_arguments(entry: &Entry, mut given: Map<String, Value>) -> Result<Arguments, Failure> {
    if let Some(unknown) = given.keys().find(|name| entry.argument(name).is_none()) {
        let known: Vec<&str> =
            entry.arguments().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        return Err(Failure::unknown_argument(unknown, &known));
    }
    for path in entry.tool.hidden {
        let (parent, child) = path.split_once('.').unwrap_or((path, ""));
        if given.get(parent).is_some_and(|it| it.get(child).is_some()) {
            return Err(Failure::argument(
                path,
                "cannot be changed by this tool; its description names another one",
            ));
        }
    }
    if entry.tool.effect != Effect::Reads {
        hidden::require_none(&given)?;
    }
    match entry.tool.notice {
        Notice::Silent => {}
        Notice::Chosen if given.get(NOTIFY).is_some_and(Value::is_boolean) => {}
        Notice::Chosen => {
            return Err(Failure::argument(
                NOTIFY,
                "must be true or false: it decides whether subscribers get a message",
            ));
        }
        Notice::Certain if given.remove(NOTIFY) == Some(Value::Bool(true)) => {}
        Notice::Certain => {
            return Err(Failure::argument(
                NOTIFY,
                "must be true, because this call can send messages to people; ask the person first",
            ));
        }
    }
    let idempotency_key = match given.remove(IDEMPOTENCY_KEY) {
        None => None,
        Some(Value::String(key)) => Some(key),
        Some(_) => return Err(Failure::argument(IDEMPOTENCY_KEY, "must be a text")),
    };
    if let Some(limit) = entry.argument("limit").and_then(|limit| limit.get("default"))
        && !given.contains_key("limit")
    {
        given.insert("limit".to_owned(), limit.clone());
    }
    if let Action::Call(method) = entry.tool.action {
        add_mask(method, &mut given);
    }
    Ok(Arguments { request: given, idempotency_key })
}

/// Makes an update change exactly the given fields of its resource. Without a mask it would replace all of
/// them, also those that an assistant cannot read.
fn add_mask(method: &str, request: &mut Map<String, Value>) {
    let fields = rpc::method(method).and_then(|method| rpc::field_names(&method.request));
    if !fields.into_iter().flatten().any(|field| field == MASK) {
        return;
    }
    let Some(resource) = request.values().find_map(Value::as_object) else { return };
    let changed: Vec<&str> =
        resource.keys().map(String::as_str).filter(|name| *name != "id").collect();
    request.insert(MASK_JSON.to_owned(), Value::String(changed.join(",")));
}

/// Calls a method.
async fn send(
    backend: &dyn Backend,
    method: &'static str,
    request: Map<String, Value>,
    idempotency_key: Option<String>,
) -> Result<Value, Failure> {
    let request = Value::Object(request).to_string().into();
    let response = backend.call(Call { method, request, idempotency_key }).await;
    let response = response.map_err(Failure::Refused)?;
    serde_json::from_slice(&response).map_err(|_| Failure::Undecodable)
}

async fn read(
    backend: &dyn Backend,
    method: &'static str,
    request: Value,
) -> Result<Value, Failure> {
    let request = match request {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    send(backend, method, request, None).await
}

async fn whoami(backend: &dyn Backend) -> Result<Value, Failure> {
    let mut answer = read(backend, GET_WORKSPACE, json!({})).await?;
    answer["key"] = json!({ "scope": backend.scope().as_str() });
    Ok(answer)
}

/// Returns the monitors that are down or degraded, and the open incidents.
async fn list_broken(backend: &dyn Backend) -> Result<Value, Failure> {
    let (mut broken, mut looked_at, mut token) = (Vec::new(), 0, String::new());
    for _ in 0..PAGES_MAX {
        let mut request = json!({ "limit": PAGE });
        if !token.is_empty() {
            request["pageToken"] = json!(token);
        }
        let page = read(backend, LIST_MONITORS, request).await?;
        for kind in UPDATE_MONITOR.map(|(kind, _)| kind) {
            let monitors = page[format!("{kind}Monitors")].as_array();
            for monitor in monitors.into_iter().flatten() {
                looked_at += 1;
                broken.extend(broken_monitor(kind, monitor));
            }
        }
        page["nextPageToken"].as_str().unwrap_or_default().clone_into(&mut token);
        if token.is_empty() {
            break;
        }
    }
    let incidents =
        read(backend, LIST_INCIDENTS, json!({ "state": "open", "limit": PAGE })).await?;
    let count = broken.len();
    broken.truncate(BROKEN_MAX);
    Ok(json!({
        "brokenMonitors": broken,
        "brokenTotal": count,
        "monitorsLookedAt": looked_at,
        "isComplete": token.is_empty() && count <= BROKEN_MAX,
        "openIncidents": incidents["incidents"],
        "openIncidentsTotal": incidents["totalSize"],
    }))
}

/// Returns what identifies a monitor, if it is down or degraded.
fn broken_monitor(kind: &str, monitor: &Value) -> Option<Value> {
    let status = monitor["status"].as_str()?;
    let is_broken = matches!(status, "error" | "degraded");
    is_broken.then(
        || json!({ "id": monitor["id"], "name": monitor["name"], "kind": kind, "status": status }),
    )
}

/// Pauses or resumes a monitor of any kind.
async fn set_active(
    backend: &dyn Backend,
    request: Map<String, Value>,
    active: bool,
) -> Result<Value, Failure> {
    let found = send(backend, GET_MONITOR, request, None).await?;
    let monitor = &found["monitor"];
    let kind = UPDATE_MONITOR.iter().find(|(kind, _)| monitor[*kind].is_object());
    let (kind, method) = kind.ok_or(Failure::Undecodable)?;
    let request = json!({
        "monitor": { "id": monitor[*kind]["id"], "active": active },
        MASK_JSON: "active",
    });
    read(backend, method, request).await
}
