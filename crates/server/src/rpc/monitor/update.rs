//! Updates of a monitor. With a mask, the fields that it names are changed or cleared. Without one,
//! every argument is replaced (design §4). Concurrent edits are not overwritten.

use std::sync::Arc;

use contract::SecretVisibility;
use contract::monitor::StoredMonitor;
use contract::monitor::wire::Kind;
use contract::rpc::{self, Error, Reason};
use rules::monitor::{Monitor, MonitorDraft};
use rules::{MonitorId, MonitorKind, MonitorStatus, Violation, Violations};
use serde_json::Value;
use store::{MonitorWithStatus, StoreError};

use super::refusals::{refuse_unplannable, refuse_unserved};
use super::{RESOURCE, find};
use crate::auth::Caller;
use crate::rpc::pipeline_call::{log_failure, run_to_end};
use crate::rpc::request::{Edit, change, field_changes, invalid, retry_edit};
use crate::rpc::{Services, rpc_error};

/// Requested update of a monitor.
#[derive(Debug)]
pub(super) struct MonitorUpdate {
    id: MonitorId,
    draft: MonitorDraft,
    mask: Option<Vec<String>>,
    revision: Option<String>,
}

impl MonitorUpdate {
    /// Creates the update of this monitor to the draft in a request.
    pub(super) fn new(id: MonitorId, draft: MonitorDraft, edit: Edit<'_>) -> Self {
        let (mask, revision) =
            (edit.mask.map(<[String]>::to_vec), edit.revision.map(str::to_owned));
        Self { id, draft, mask, revision }
    }

    fn edit(&self) -> Edit<'_> {
        Edit { mask: self.mask.as_deref(), revision: self.revision.as_deref() }
    }
}

/// Stores the update and notifies the pipeline. Returns the monitor afterwards.
pub(super) async fn update(
    services: &Services,
    caller: Caller,
    wanted: MonitorUpdate,
) -> Result<MonitorWithStatus, Error> {
    let id = wanted.id;
    let wanted = Arc::new(wanted);
    retry_edit(RESOURCE, id, || {
        let (this, wanted) = (services.clone(), wanted.clone());
        run_to_end(services, id, async move { try_update(&this, caller, &wanted).await })
    })
    .await
}

/// Makes one attempt. Returns `None` on a conflict with another edit.
async fn try_update(
    services: &Services,
    caller: Caller,
    wanted: &MonitorUpdate,
) -> Result<Option<MonitorWithStatus>, Error> {
    let seen = find(services, caller, &wanted.id.to_string()).await?;
    wanted.edit().require_revision(RESOURCE, wanted.id, seen.monitor.updated_at)?;
    let is = seen.monitor.settings.check.kind();
    if wanted.draft.check.kind() != is {
        return Err(wrong_kind(is));
    }
    let draft = match &wanted.mask {
        None => wanted.draft.clone(),
        Some(mask) => {
            let mut draft = MonitorDraft::from(&seen.monitor.settings);
            draft
                .apply_mask(wanted.draft.clone(), mask)
                .map_err(|violations| rpc::invalid(&violations))?;
            draft
        }
    };
    let settings = draft.parse().map_err(invalid(RESOURCE))?;
    if settings == seen.monitor.settings {
        return Ok(Some(seen));
    }
    let candidate = Monitor { settings: settings.clone(), ..seen.monitor.clone() };
    refuse_unplannable(&candidate)?;
    refuse_unserved(services, &candidate, &seen.monitor.settings.regions)?;
    let revision = seen.monitor.revision;
    let (status, since, heartbeat) = (seen.status, seen.since, seen.heartbeat);
    let changes =
        field_changes([&seen.monitor, &candidate], |it, secrets| encode(services, it, secrets));
    let update = change(services, caller).with_changes(changes);
    match services.store.monitors().update(seen.monitor, settings, update).await {
        Ok(monitor) => {
            if monitor.revision != revision {
                let applied = services.pipeline.apply_change(&monitor).await;
                log_failure(applied, monitor.id, Some(&monitor.settings.name));
            }
            let status = if monitor.settings.active { status } else { MonitorStatus::Unknown };
            Ok(Some(MonitorWithStatus { monitor, status, since, heartbeat }))
        }
        Err(StoreError::Conflict { .. }) => Ok(None),
        Err(error) => Err(rpc_error(error)),
    }
}

/// Encodes the arguments of a monitor, for the audit log.
fn encode(services: &Services, monitor: &Monitor, secrets: SecretVisibility) -> Value {
    let (status, default_regions) = (MonitorStatus::Unknown, &*services.default_regions);
    let stored = StoredMonitor { monitor, status, default_regions, heartbeat: None, secrets };
    let message = match stored.kind() {
        Kind::Http(message) => serde_json::to_value(message),
        Kind::Tcp(message) => serde_json::to_value(message),
        Kind::Dns(message) => serde_json::to_value(message),
        Kind::Heartbeat(message) => serde_json::to_value(message),
    };
    let mut message = message.expect("a message of the contract has a JSON form");
    if let Some(fields) = message.as_object_mut() {
        // They follow from the arguments.
        fields.remove("effectiveDegradedAt");
        fields.remove("resolvedRegions");
    }
    message
}

fn wrong_kind(is: MonitorKind) -> Error {
    let method = match is {
        MonitorKind::Http => "UpdateHttpMonitor",
        MonitorKind::Tcp => "UpdateTcpMonitor",
        MonitorKind::Dns => "UpdateDnsMonitor",
        MonitorKind::Heartbeat => "UpdateHeartbeatMonitor",
    };
    let allowed = format!("names a monitor of type {is}; call {method}");
    let violations = Violations::from(Violation::without_value("monitor.id", allowed));
    rpc::invalid_because(Reason::MonitorTypeMismatch, &violations)
}
