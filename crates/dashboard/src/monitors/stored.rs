//! A stored monitor of any kind, in the JSON of the contract.

use contract::monitor::wire::GetMonitorRequest;
use contract::rpc::MethodRequest as _;
use rules::MonitorKind;
use rules::tables;
use serde_json::{Value as Json, json};

use super::fields;
use crate::error::ScreenError;
use crate::form::Values;
use crate::session::Member;
use crate::state::Dashboard;

/// A stored monitor.
#[derive(Clone, Debug)]
pub(super) struct StoredMonitor {
    pub(super) kind: MonitorKind,
    pub(super) json: Json,
}

/// Returns the stored monitor with this ID.
pub(super) async fn find(
    state: &Dashboard,
    member: &Member,
    id: &str,
) -> Result<StoredMonitor, ScreenError> {
    let found =
        state.send_json(member.caller(), GetMonitorRequest::PATH, &json!({ "id": id })).await?;
    for kind in MonitorKind::ALL {
        let json = &found["monitor"][kind.as_str()];
        if json.is_object() {
            return Ok(StoredMonitor { kind: *kind, json: json.clone() });
        }
    }
    Err(ScreenError::NotFound)
}

impl StoredMonitor {
    /// Returns a text, or an empty one if the monitor does not have it.
    pub(super) fn text(&self, field: &str) -> &str {
        self.json[field].as_str().unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        self.text("name")
    }

    /// Returns the URL, `host:port` or domain name that is checked.
    pub(super) fn target(&self) -> &str {
        fields::target(tables::monitor(self.kind)).map_or("", |field| self.text(field))
    }

    pub(super) fn is_active(&self) -> bool {
        self.json["active"].as_bool().unwrap_or_default()
    }

    /// Returns the values of its form.
    pub(super) fn values(&self) -> Values {
        Values::stored(&self.json, tables::monitor(self.kind))
    }
}
