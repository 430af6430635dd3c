//! Heartbeat monitors in the service: the URL that a response shows, and its rotation.

use contract::monitor::wire::{RotateHeartbeatUrlRequest, RotateHeartbeatUrlResponse};
use contract::monitor::{HeartbeatDetails, StoredMonitor};
use contract::rpc::{self, Error, Reason};
use rules::{MonitorKind, Secret, Violation, Violations};
use store::MonitorWithStatus;

use super::find;
use crate::auth::Caller;
use crate::rpc::request::{change, secrets};
use crate::rpc::{Services, rpc_error};

/// Returns the URL and the last call of a heartbeat monitor. `None` for other kinds.
pub(super) fn outputs(services: &Services, stored: &MonitorWithStatus) -> Option<HeartbeatDetails> {
    let heartbeat = stored.heartbeat.as_ref()?;
    let url = format!("{}/heartbeat/{}", services.pages.url(), heartbeat.token.expose());
    Some(HeartbeatDetails { url: Secret::new(url), last_at: heartbeat.state.received_at })
}

/// Rejects a manual check of a monitor that only waits.
pub(super) fn refuse_trigger(stored: &MonitorWithStatus) -> Result<(), Error> {
    if stored.monitor.settings.check.is_probed() {
        return Ok(());
    }
    Err(mismatch("names a heartbeat monitor, which only waits; call its URL instead"))
}

/// Rejects a check of a draft that would only wait.
pub(super) fn refuse_check(kind: MonitorKind) -> Result<(), Error> {
    if kind.is_probed() {
        return Ok(());
    }
    Err(mismatch("is that of a heartbeat monitor, which only waits: there is nothing to check"))
}

/// Gives a monitor a new URL.
pub(super) async fn rotate(
    services: &Services,
    caller: Caller,
    request: RotateHeartbeatUrlRequest,
) -> Result<RotateHeartbeatUrlResponse, Error> {
    let found = find(services, caller, &request.id).await?;
    let kind = found.monitor.settings.check.kind();
    if kind != MonitorKind::Heartbeat {
        return Err(mismatch(&format!("names a monitor of type {kind}, which has no URL to call")));
    }
    let (id, workspace) = (found.monitor.id, caller.workspace);
    let change = change(services, caller);
    services.store.heartbeats().rotate(workspace, id, change).await.map_err(rpc_error)?;
    let stored = find(services, caller, &request.id).await?;
    let heartbeat = outputs(services, &stored);
    let shown = StoredMonitor {
        monitor: &stored.monitor,
        status: stored.status,
        default_regions: &services.default_regions,
        heartbeat: heartbeat.as_ref(),
        secrets: secrets(caller),
    };
    Ok(RotateHeartbeatUrlResponse { monitor: shown.message().into() })
}

fn mismatch(allowed: &str) -> Error {
    let violations = Violations::from(Violation::without_value("id", allowed));
    rpc::invalid_because(Reason::MonitorTypeMismatch, &violations)
}
