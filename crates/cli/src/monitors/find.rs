//! Finds the monitor that a user means by an ID or a name.

use anyhow::{Context as _, Result};
use rules::limits::LIST_LIMIT_MAX;
use rules::{MonitorId, MonitorKind};
use serde_json::{Value as Json, json};

use crate::named::{self, NamedId};
use crate::session::Session;

const GET: &str = "/monitor.v1.MonitorService/GetMonitor";
const LIST: &str = "/monitor.v1.MonitorService/ListMonitors";

/// A monitor in the contract's JSON.
#[derive(Clone, Debug)]
pub(super) struct FoundMonitor {
    pub(super) kind: MonitorKind,
    pub(super) named: NamedId,
    /// The fields of the monitor.
    pub(super) json: Json,
}

impl FoundMonitor {
    fn new(kind: MonitorKind, json: Json) -> Self {
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_owned();
        Self { kind, named: NamedId { id: text("id"), name: text("name") }, json }
    }
}

/// Returns the monitor with this ID or name. Names take a call per page of the list.
pub(super) async fn find(session: &Session<'_>, given: &str) -> Result<FoundMonitor> {
    if MonitorId::parse(given).is_ok() {
        let answer = session.call("reading the monitor", GET, &json!({ "id": given })).await?;
        let kinds = MonitorKind::ALL.iter();
        let json = |kind: &MonitorKind| answer["monitor"].get(kind.as_str()).cloned();
        let mut found = kinds.filter_map(|kind| Some(FoundMonitor::new(*kind, json(kind)?)));
        return found.next().context("the monitor has a kind that this version does not know");
    }
    let mut monitors = all(session).await?;
    let known: Vec<NamedId> = monitors.iter().map(|it| it.named.clone()).collect();
    Ok(monitors.swap_remove(named::position("monitor", given, &known)?))
}

async fn all(session: &Session<'_>) -> Result<Vec<FoundMonitor>> {
    let (mut monitors, mut token) = (Vec::new(), String::new());
    loop {
        let mut request = json!({ "limit": LIST_LIMIT_MAX });
        if !token.is_empty() {
            request["pageToken"] = json!(token);
        }
        let page = session.call("listing monitors", LIST, &request).await?;
        for kind in MonitorKind::ALL {
            let list = page[format!("{kind}Monitors")].as_array();
            let list = list.into_iter().flatten();
            monitors.extend(list.map(|json| FoundMonitor::new(*kind, json.clone())));
        }
        let next = page["nextPageToken"].as_str().unwrap_or_default();
        if next.is_empty() || next == token {
            return Ok(monitors);
        }
        next.clone_into(&mut token);
    }
}
