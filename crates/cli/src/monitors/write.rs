//! `aloft monitors create`, `update`, `pause`, `resume` and `delete`. The service validates what the
//! flags and files say.

use anyhow::{Result, bail};
use rules::field::json_name;
use rules::{MonitorKind, tables};
use serde_json::{Map, Value as Json, json};

use super::find::{FoundMonitor, find};
use crate::field_flags::{FieldFlags, FlagSource, KindTable};
use crate::json_input;
use crate::named::confirm_deletion;
use crate::output::one_line;
use crate::output_args::OutputArgs;
use crate::resources::InputArgs;
use crate::session::{Session, print_warnings};

/// Field of requests and responses with the monitor.
const MONITOR: &str = "monitor";

/// Declares the kinds of monitors as sources of flags.
macro_rules! kinds {
    ($($name:ident = $kind:ident,)+) => {$(
        #[doc = concat!("Arguments of one kind of monitors: `MonitorKind::", stringify!($kind), "`.")]
        #[derive(Debug)]
        pub(crate) struct $name;

        impl FlagSource for $name {
            const CHANGES: bool = false;

            fn tables() -> Vec<KindTable> {
                vec![kind_table(MonitorKind::$kind)]
            }
        }
    )+};
}

kinds! {
    HttpKind = Http,
    TcpKind = Tcp,
    DnsKind = Dns,
    HeartbeatKind = Heartbeat,
}

/// Arguments of all kinds of monitors.
#[derive(Debug)]
pub(crate) struct AnyKind;

impl FlagSource for AnyKind {
    const CHANGES: bool = true;

    fn tables() -> Vec<KindTable> {
        MonitorKind::ALL.iter().map(|kind| kind_table(*kind)).collect()
    }
}

/// Whether a monitor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    Active,
    Paused,
}

pub(super) async fn create<S: FlagSource>(kind: MonitorKind, args: InputArgs<S>) -> Result<()> {
    let request = match &args.from_json {
        Some(file) => read(file, kind)?,
        None => Map::from_iter([(MONITOR.to_owned(), Json::Object(args.flags.values.clone()))]),
    };
    let session = Session::open(&args.output_args.service)?;
    let method = method("Create", kind);
    let doing = "creating the monitor";
    let answer = if args.from_json.is_some() {
        session.call(doing, &method, &Json::Object(request)).await?
    } else {
        let explain = |error: &_| FieldFlags::<S>::explain(error, MONITOR);
        session.call_with(doing, &method, &Json::Object(request), explain).await?
    };
    let id = id(&answer);
    args.output_args.print(&answer, &[id], || {
        let name = one_line(answer[MONITOR]["name"].as_str().unwrap_or_default());
        format!("{id} was created: the {kind} monitor `{name}`")
    })?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn update(given: &str, args: InputArgs<AnyKind>) -> Result<()> {
    if args.from_json.is_none() && args.flags.names.is_empty() {
        bail!("nothing to change; give a flag such as `--name`, or `--from-json FILE`");
    }
    let session = Session::open(&args.output_args.service)?;
    let found = find(&session, given).await?;
    let kind = found.kind;
    if let Some(flag) = args.flags.foreign_flag(kind.as_str()) {
        let name = one_line(&found.named.name);
        bail!("{kind} monitors have no `{flag}`, and `{name}` is a {kind} monitor");
    }
    let (doing, method) = ("changing the monitor", method("Update", kind));
    let answer = if let Some(file) = &args.from_json {
        let request = with_id(read(file, kind)?, &found);
        session.call(doing, &method, &request).await?
    } else {
        let request = masked(args.flags.values.clone(), &args.flags.names);
        let explain = |error: &_| FieldFlags::<AnyKind>::explain(error, MONITOR);
        session.call_with(doing, &method, &with_id(request, &found), explain).await?
    };
    let id = id(&answer);
    args.output_args.print(&answer, &[id], || format!("{id} was changed"))?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn activate(
    given: &str,
    running: Running,
    output_args: &OutputArgs,
) -> Result<()> {
    let (doing, state) = match running {
        Running::Active => ("resuming the monitor", "is running"),
        Running::Paused => ("pausing the monitor", "is paused"),
    };
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let active = Map::from_iter([("active".to_owned(), json!(running == Running::Active))]);
    let request = with_id(masked(active, &["active"]), &found);
    let answer = session.call(doing, &method("Update", found.kind), &request).await?;
    let id = id(&answer);
    output_args.print(&answer, &[id], || format!("{id} {state}"))?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn delete(given: &str, yes: bool, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    confirm_deletion("monitor", &found.named, yes)?;
    let id = found.named.id.as_str();
    let method = "/monitor.v1.MonitorService/DeleteMonitor";
    let answer = session.call("deleting the monitor", method, &json!({ "id": id })).await?;
    output_args.print(&answer, &[id], || format!("{id} was deleted"))?;
    Ok(())
}

/// Gives a heartbeat monitor a new URL, and prints it.
pub(super) async fn rotate_url(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = find(&session, given).await?;
    let method = "/monitor.v1.MonitorService/RotateHeartbeatUrl";
    let request = json!({ "id": found.named.id });
    let answer = session.call("replacing the URL of the monitor", method, &request).await?;
    let url = answer[MONITOR]["url"].as_str().unwrap_or_default();
    output_args.print(&answer, &[url], || format!("the new URL is {url}"))?;
    Ok(())
}

fn kind_table(kind: MonitorKind) -> KindTable {
    KindTable { kind: kind.as_str(), table: tables::monitor(kind) }
}

/// Returns the path of a method that exists for each kind.
fn method(verb: &str, kind: MonitorKind) -> String {
    let kind = match kind {
        MonitorKind::Http => "Http",
        MonitorKind::Tcp => "Tcp",
        MonitorKind::Dns => "Dns",
        MonitorKind::Heartbeat => "Heartbeat",
    };
    format!("/monitor.v1.MonitorService/{verb}{kind}Monitor")
}

/// Reads a request for a monitor of this kind. `GetMonitor` returns a monitor in the field of its kind.
fn read(file: &std::path::Path, kind: MonitorKind) -> Result<Map<String, Json>> {
    let mut request = match json_input::read_request(file, MONITOR)? {
        request if request[MONITOR].get(MONITOR).is_none() => request,
        _ => bail!("`{MONITOR}` is inside of another `{MONITOR}`"),
    };
    let kinds = MonitorKind::ALL.iter();
    let mut inside = kinds.filter_map(|it| Some((*it, request[MONITOR].get(it.as_str())?.clone())));
    if let Some((inner_kind, inner)) = inside.find(|(_, inner)| inner.is_object()) {
        if inner_kind != kind {
            bail!("the JSON has a monitor of the kind {inner_kind} instead of {kind}");
        }
        request.insert(MONITOR.to_owned(), inner);
    }
    Ok(request)
}

/// Returns a request that changes these arguments only.
fn masked(values: Map<String, Json>, names: &[&str]) -> Map<String, Json> {
    let mask: Vec<String> = names.iter().map(|name| json_name(name)).collect();
    Map::from_iter([
        (MONITOR.to_owned(), Json::Object(values)),
        ("updateMask".to_owned(), json!(mask.join(","))),
    ])
}

/// Returns a request for the monitor that was found, whatever ID it has.
fn with_id(mut request: Map<String, Json>, found: &FoundMonitor) -> Json {
    if let Some(monitor) = request.get_mut(MONITOR).and_then(Json::as_object_mut) {
        monitor.insert("id".to_owned(), json!(found.named.id));
    }
    Json::Object(request)
}

fn id(answer: &Json) -> &str {
    answer[MONITOR]["id"].as_str().unwrap_or_default()
}
