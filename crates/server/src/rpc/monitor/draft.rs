//! Drafts of monitors, which the dashboard validates and checks before they are stored.

use contract::IntoDraft;
use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateHeartbeatMonitorRequest, CreateHttpMonitorRequest,
    CreateTcpMonitorRequest, GetResponseLogResponse, Warning,
};
use contract::rpc::{self, Error};
use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, MonitorKind, Region, WorkspaceId};

use super::refusals::{refuse_unplannable, refuse_unserved};
use super::status::RegionNames;
use super::{RESOURCE, heartbeat, history, warning};
use crate::auth::Caller;
use crate::rpc::Services;
use crate::rpc::pipeline_call::unavailable;
use crate::rpc::request::{invalid, require, secrets};

/// Name of a draft in the log, instead of an ID.
const DRAFT: &str = "draft";

/// Returns the settings in the JSON of a request that creates a monitor. Fails like that request.
pub(crate) fn parse_draft(kind: MonitorKind, request: &[u8]) -> Result<MonitorSettings, Error> {
    let method = match kind {
        MonitorKind::Http => "/monitor.v1.MonitorService/CreateHttpMonitor",
        MonitorKind::Tcp => "/monitor.v1.MonitorService/CreateTcpMonitor",
        MonitorKind::Dns => "/monitor.v1.MonitorService/CreateDnsMonitor",
        MonitorKind::Heartbeat => "/monitor.v1.MonitorService/CreateHeartbeatMonitor",
    };
    rpc::check_json(method, request).map_err(|violations| rpc::invalid(&violations))?;
    let undecodable = |error: serde_json::Error| rpc::malformed(error.to_string());
    let draft = match kind {
        MonitorKind::Http => {
            let sent: CreateHttpMonitorRequest =
                serde_json::from_slice(request).map_err(undecodable)?;
            require(RESOURCE, sent.monitor.into_option())?.into_draft()
        }
        MonitorKind::Tcp => {
            let sent: CreateTcpMonitorRequest =
                serde_json::from_slice(request).map_err(undecodable)?;
            require(RESOURCE, sent.monitor.into_option())?.into_draft()
        }
        MonitorKind::Dns => {
            let sent: CreateDnsMonitorRequest =
                serde_json::from_slice(request).map_err(undecodable)?;
            require(RESOURCE, sent.monitor.into_option())?.into_draft()
        }
        MonitorKind::Heartbeat => {
            let sent: CreateHeartbeatMonitorRequest =
                serde_json::from_slice(request).map_err(undecodable)?;
            require(RESOURCE, sent.monitor.into_option())?.into_draft()
        }
    };
    draft.parse().map_err(invalid(RESOURCE))
}

/// Returns the warnings about a draft. Fails if it cannot be checked.
pub(crate) async fn draft_warnings(
    services: &Services,
    workspace: WorkspaceId,
    settings: &MonitorSettings,
) -> Result<Vec<Warning>, Error> {
    let now = services.ctx.now();
    let draft = Monitor {
        id: MonitorId::from_bits(0),
        workspace,
        revision: 0,
        settings: settings.clone(),
        created_at: now,
        updated_at: now,
    };
    refuse_unplannable(&draft)?;
    refuse_unserved(services, &draft, &[])?;
    Ok(warning::for_draft(services, &draft).await)
}

/// Checks a draft from these regions and returns the results, by region. Stores nothing.
pub(crate) async fn check_draft(
    services: &Services,
    caller: Caller,
    settings: MonitorSettings,
    regions: &[Region],
) -> Result<Vec<GetResponseLogResponse>, Error> {
    let kind = settings.check.kind();
    heartbeat::refuse_check(kind)?;
    let results = services.pipeline.check_draft(caller.workspace, settings, regions).await;
    let mut results = results.map_err(|error| unavailable(&error, DRAFT))?;
    results.sort_unstable_by_key(|result| result.identity.region.as_str());
    let names = RegionNames::new(services.probes(caller), kind);
    Ok(results.iter().map(|it| history::encode_with_details(it, names, secrets(caller))).collect())
}
