//! The steps of `aloft init`. Each finds what exists before it creates something.

use anyhow::{Context as _, Result, bail};
use contract::rpc::Code;
use serde_json::{Map, Value as Json, json};
use url::Url;

use crate::channel_flags::{NewChannel, block, title};
use crate::output::{self, one_line};
use crate::resources::{self, CHANNELS, MONITORS};
use crate::session::Session;

const CREATE_MONITOR: &str = "/monitor.v1.MonitorService/CreateHttpMonitor";
const UPDATE_MONITOR: &str = "/monitor.v1.MonitorService/UpdateHttpMonitor";
const TRIGGER: &str = "/monitor.v1.MonitorService/TriggerMonitor";
const TEST: &str = "/notification.v1.NotificationService/TestNotification";

/// The monitor to find or to create.
#[derive(Debug)]
pub(super) struct WantedMonitor<'a> {
    pub(super) url: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) periodicity: &'a str,
}

/// A monitor or a channel after its step.
#[derive(Debug)]
pub(super) struct ReadyObject {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) origin: Origin,
    pub(super) json: Json,
}

/// Effect of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Created,
    Changed,
    Existing,
}

impl ReadyObject {
    fn new(origin: Origin, json: Json) -> Self {
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        Self { id: text("id"), name: text("name"), origin, json }
    }
}

/// Finds the monitor of a URL, and resumes it if it is paused, or creates it.
pub(super) async fn monitor(
    session: &Session<'_>,
    wanted: &WantedMonitor<'_>,
) -> Result<ReadyObject> {
    let url = parse(wanted.url)?;
    let all = resources::all(session, &MONITORS, &Map::new()).await?;
    let is_same =
        |it: &&Json| it["url"].as_str().and_then(|it| Url::parse(it).ok()) == Some(url.clone());
    let is_named = |it: &&Json| wanted.name.is_none_or(|name| it["name"] == name);
    let mut same: Vec<&Json> = all.iter().filter(is_same).filter(is_named).collect();
    if let (2.., None) = (same.len(), wanted.name) {
        let names: Vec<String> = same.iter().map(|it| one_line(&MONITORS.name_of(it))).collect();
        bail!(
            "{} monitors check this URL; choose one with `--name`: {}",
            same.len(),
            names.join(", ")
        );
    }
    if let Some(found) = same.pop() {
        return resumed(session, found.clone()).await;
    }
    let name = wanted.name.map(str::to_owned).or_else(|| url.host_str().map(str::to_owned));
    let monitor = json!({
        "name": name, "url": url.as_str(), "periodicity": wanted.periodicity, "active": true,
    });
    let request = json!({ "monitor": monitor });
    let mut answer = session.call("creating the monitor", CREATE_MONITOR, &request).await?;
    crate::session::print_warnings(&answer);
    Ok(ReadyObject::new(Origin::Created, answer["monitor"].take()))
}

async fn resumed(session: &Session<'_>, monitor: Json) -> Result<ReadyObject> {
    if monitor["active"] == json!(true) {
        return Ok(ReadyObject::new(Origin::Existing, monitor));
    }
    let change = json!({ "id": monitor["id"], "active": true });
    let request = json!({ "monitor": change, "updateMask": "active" });
    let mut answer = session.call("resuming the monitor", UPDATE_MONITOR, &request).await?;
    Ok(ReadyObject::new(Origin::Changed, answer["monitor"].take()))
}

/// Finds a channel by ID or name, and links the monitor.
pub(super) async fn known_channel(
    session: &Session<'_>,
    given: &str,
    monitor: &str,
) -> Result<ReadyObject> {
    let mut answer = resources::read(session, &CHANNELS, given, &Map::new()).await?;
    linked(session, answer[CHANNELS.field].take(), monitor).await
}

/// Finds the channel with these settings, or creates it, and links the monitor.
pub(super) async fn channel(
    session: &Session<'_>,
    new: &NewChannel,
    monitor: &str,
) -> Result<ReadyObject> {
    let kind = rules::field::json_name(new.kind);
    let all = resources::all(session, &CHANNELS, &Map::new()).await?;
    let is_same = |it: &&Json| new.settings.iter().all(|(name, value)| it[&kind][name] == *value);
    if let Some(found) = all.iter().find(is_same) {
        return linked(session, found.clone(), monitor).await;
    }
    let name = block(new.kind).map(title);
    let channel = json!({
        "name": name, "providerType": new.kind, "monitorIds": [monitor], kind: new.settings,
    });
    let request = json!({ CHANNELS.field: channel });
    let mut answer =
        session.call("creating the channel", &CHANNELS.method("Create"), &request).await?;
    crate::session::print_warnings(&answer);
    Ok(ReadyObject::new(Origin::Created, answer[CHANNELS.field].take()))
}

/// Tries to link a monitor while others change the channel.
const LINK_TRIES: usize = 5;

/// Adds the monitor to the channel unless it has it. Somebody may link another one at the same time.
async fn linked(session: &Session<'_>, mut channel: Json, monitor: &str) -> Result<ReadyObject> {
    let mut tries = 0;
    loop {
        let mut monitors = channel["monitorIds"].as_array().cloned().unwrap_or_default();
        if monitors.contains(&json!(monitor)) {
            return Ok(ReadyObject::new(Origin::Existing, channel));
        }
        monitors.push(json!(monitor));
        let change = json!({ "id": channel["id"], "monitorIds": monitors });
        let request = json!({
            CHANNELS.field: change, "updateMask": "monitorIds", "revision": channel["revision"],
        });
        tries += 1;
        match session.try_call(&CHANNELS.method("Update"), &request).await {
            Ok(mut answer) => {
                return Ok(ReadyObject::new(Origin::Changed, answer[CHANNELS.field].take()));
            }
            Err(error) if error.code == Code::Aborted && tries < LINK_TRIES => {
                let id = channel["id"].as_str().unwrap_or_default();
                let mut answer = resources::read(session, &CHANNELS, id, &Map::new()).await?;
                channel = answer[CHANNELS.field].take();
            }
            Err(error) => return Err(session.failure("linking the channel", &error)),
        }
    }
}

/// Sends a test message.
pub(super) async fn test(session: &Session<'_>, channel: &str) -> Result<Json> {
    session.call("testing the channel", TEST, &json!({ "id": channel })).await
}

/// Describes the result of a test message.
pub(super) fn test_words(channel: &ReadyObject, test: &Json) -> String {
    let text = |name: &str| one_line(test[name].as_str().unwrap_or_default());
    if test["accepted"] == json!(true) {
        return format!("test     accepted by `{}`: {}", one_line(&channel.name), text("response"));
    }
    let id = &channel.id;
    let help = Some(text("help")).filter(|help| !help.is_empty());
    let help = help.map(|help| format!("; {help}")).unwrap_or_default();
    format!(
        "test     not accepted: {}{help}\n         try again with `aloft channels test {id}`",
        text("response")
    )
}

/// Checks the monitor now.
pub(super) async fn check(session: &Session<'_>, monitor: &str) -> Result<Json> {
    session.call("checking the monitor", TRIGGER, &json!({ "id": monitor })).await
}

/// Describes the results of a check, by region.
pub(super) fn check_words(check: &Json) -> String {
    let results = check["results"].as_array();
    let row = |it: &Json| {
        let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        let why = it["reasons"].as_array().into_iter().flatten();
        let why: Vec<&str> = why.filter_map(Json::as_str).collect();
        let latency = it["latencyMs"].as_i64().unwrap_or_default();
        [
            "check".to_owned(),
            text("region"),
            text("outcome"),
            format!("{latency} ms"),
            why.join("; "),
        ]
    };
    let rows: Vec<[String; 5]> = results.into_iter().flatten().map(row).collect();
    output::table(&rows)
}

/// Parses the URL of a site.
fn parse(given: &str) -> Result<Url> {
    let full = if given.contains("://") { given.to_owned() } else { format!("https://{given}") };
    let url = Url::parse(&full);
    let url = url.ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    url.with_context(|| {
        let shown = one_line(given);
        format!("`{shown}` is not a URL of a site; write it as https://example.com/")
    })
}
