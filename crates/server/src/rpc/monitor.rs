//! `monitor.v1.MonitorService`: validates requests with `rules`, stores monitors and notifies the
//! pipeline. `update` applies edits, `status` and `history` encode what the checks found, `warning`
//! names monitors that cannot succeed, `heartbeat` has the URLs of heartbeat monitors, `listing` pages
//! through them, `refusals` rejects those that nothing can check, and `draft` checks monitors that are
//! not stored yet.

mod draft;
mod heartbeat;
pub(in crate::rpc) mod history;
mod listing;
mod refusals;
pub(in crate::rpc) mod status;
mod update;
mod warning;

use contract::monitor::wire::{
    CreateDnsMonitorRequest, CreateDnsMonitorResponse, CreateHeartbeatMonitorRequest,
    CreateHeartbeatMonitorResponse, CreateHttpMonitorRequest, CreateHttpMonitorResponse,
    CreateTcpMonitorRequest, CreateTcpMonitorResponse, DeleteMonitorRequest, DeleteMonitorResponse,
    GetMonitorRequest, GetMonitorResponse, GetMonitorStatusRequest, GetMonitorStatusResponse,
    GetMonitorSummaryRequest, GetMonitorSummaryResponse, GetResponseLogRequest,
    GetResponseLogResponse, ListMissedSlotsRequest, ListMissedSlotsResponse, ListMonitorsRequest,
    ListMonitorsResponse, ListResponseLogsRequest, ListResponseLogsResponse, MonitorService,
    RotateHeartbeatUrlRequest, RotateHeartbeatUrlResponse, TriggerMonitorRequest,
    TriggerMonitorResponse, UpdateDnsMonitorRequest, UpdateDnsMonitorResponse,
    UpdateHeartbeatMonitorRequest, UpdateHeartbeatMonitorResponse, UpdateHttpMonitorRequest,
    UpdateHttpMonitorResponse, UpdateTcpMonitorRequest, UpdateTcpMonitorResponse, Warning,
};
use contract::monitor::{HeartbeatDetails, MonitorMessage, StoredMonitor, encode_instant, mask};
use contract::rpc::{Error, Message, RequestContext, Response, ServiceResult};
use rules::monitor::Monitor as Stored;
use rules::{MonitorId, MonitorStatus, Region};
use store::{Created, MonitorWithStatus, NewMonitor};

pub(crate) use self::draft::{check_draft, draft_warnings, parse_draft};
use self::refusals::{refuse_unplannable, refuse_unserved};
use self::status::{encode_region, encode_result};
use super::pipeline_call::{log_failure, run_to_end, unavailable};
use super::request::{
    Edit, caller, change, id, idempotency, invalid, require, require_id, secrets,
};
use crate::auth::Caller;
use crate::pipeline::{PipelineError, RegionView};
use crate::rpc::{Services, rpc_error};

/// Field of requests that contains a monitor, and its noun in error messages.
const RESOURCE: &str = "monitor";

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Monitors(pub(super) Services);

impl MonitorService for Monitors {
    async fn create_http_monitor(
        &self,
        context: RequestContext,
        request: CreateHttpMonitorRequest,
    ) -> ServiceResult<CreateHttpMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateHttpMonitor", given).await?;
        Response::ok(CreateHttpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn create_tcp_monitor(
        &self,
        context: RequestContext,
        request: CreateTcpMonitorRequest,
    ) -> ServiceResult<CreateTcpMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateTcpMonitor", given).await?;
        Response::ok(CreateTcpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn create_dns_monitor(
        &self,
        context: RequestContext,
        request: CreateDnsMonitorRequest,
    ) -> ServiceResult<CreateDnsMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateDnsMonitor", given).await?;
        Response::ok(CreateDnsMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn create_heartbeat_monitor(
        &self,
        context: RequestContext,
        request: CreateHeartbeatMonitorRequest,
    ) -> ServiceResult<CreateHeartbeatMonitorResponse> {
        let given = request.monitor.into_option();
        let (monitor, warnings) = self.create(&context, "CreateHeartbeatMonitor", given).await?;
        Response::ok(CreateHeartbeatMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_http_monitor(
        &self,
        context: RequestContext,
        request: UpdateHttpMonitorRequest,
    ) -> ServiceResult<UpdateHttpMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateHttpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_tcp_monitor(
        &self,
        context: RequestContext,
        request: UpdateTcpMonitorRequest,
    ) -> ServiceResult<UpdateTcpMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateTcpMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_dns_monitor(
        &self,
        context: RequestContext,
        request: UpdateDnsMonitorRequest,
    ) -> ServiceResult<UpdateDnsMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateDnsMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn update_heartbeat_monitor(
        &self,
        context: RequestContext,
        request: UpdateHeartbeatMonitorRequest,
    ) -> ServiceResult<UpdateHeartbeatMonitorResponse> {
        let given = request.monitor.into_option();
        let (mask, revision) = (mask(request.update_mask.as_option()), request.revision.as_deref());
        let (monitor, warnings) = self.update(&context, given, Edit { mask, revision }).await?;
        Response::ok(UpdateHeartbeatMonitorResponse { monitor: monitor.into(), warnings })
    }

    async fn rotate_heartbeat_url(
        &self,
        context: RequestContext,
        request: RotateHeartbeatUrlRequest,
    ) -> ServiceResult<RotateHeartbeatUrlResponse> {
        Response::ok(heartbeat::rotate(&self.0, caller(&context), request).await?)
    }

    async fn get_monitor(
        &self,
        context: RequestContext,
        request: GetMonitorRequest,
    ) -> ServiceResult<GetMonitorResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        let heartbeat = heartbeat::outputs(&self.0, &stored);
        let monitor = self.stored_monitor((&stored, heartbeat.as_ref()), caller).any().into();
        Response::ok(GetMonitorResponse { monitor })
    }

    async fn list_monitors(
        &self,
        context: RequestContext,
        request: ListMonitorsRequest,
    ) -> ServiceResult<ListMonitorsResponse> {
        Response::ok(listing::list(self, caller(&context), request).await?)
    }

    async fn delete_monitor(
        &self,
        context: RequestContext,
        request: DeleteMonitorRequest,
    ) -> ServiceResult<DeleteMonitorResponse> {
        let caller = caller(&context);
        let id = monitor_id(&request.id)?;
        let (services, change) = (self.0.clone(), change(&self.0, caller));
        let delete = async move {
            services
                .store
                .monitors()
                .delete(caller.workspace, id, change)
                .await
                .map_err(rpc_error)?;
            log_failure(services.pipeline.apply_removal(id).await, id, None);
            Ok::<(), Error>(())
        };
        run_to_end(&self.0, id, delete).await?;
        Response::ok(DeleteMonitorResponse::default())
    }

    async fn trigger_monitor(
        &self,
        context: RequestContext,
        request: TriggerMonitorRequest,
    ) -> ServiceResult<TriggerMonitorResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        heartbeat::refuse_trigger(&stored)?;
        let results = self.0.pipeline.trigger(&stored.monitor).await;
        let mut results = results.map_err(|error| unavailable(&error, &request.id))?;
        results.sort_unstable_by_key(|result| result.identity.region.as_str());
        let probes = self.0.probes(caller);
        let results = results.iter().map(|it| encode_result(it, probes)).collect();
        Response::ok(TriggerMonitorResponse { results })
    }

    async fn get_monitor_status(
        &self,
        context: RequestContext,
        request: GetMonitorStatusRequest,
    ) -> ServiceResult<GetMonitorStatusResponse> {
        let caller = caller(&context);
        let stored = find(&self.0, caller, &request.id).await?;
        let id = stored.monitor.id;
        let (store, now) = (&self.0.store, self.0.ctx.now());
        let maintenance = store.maintenances().active_until(caller.workspace, id, now).await;
        let maintenance_until =
            maintenance.map_err(rpc_error)?.map(encode_instant).unwrap_or_default();
        let (status, since, mut regions, incident) = match self.0.pipeline.view(id).await {
            Ok(view) => (view.status, view.since, view.regions, view.incident),
            Err(PipelineError::NotFound(_)) => {
                let (status, since, regions) = self.stopped_state(&stored);
                (status, since, regions, None)
            }
            Err(error) => return Err(unavailable(&error, &request.id)),
        };
        if !stored.monitor.settings.check.is_probed() {
            regions.clear();
        }
        regions.sort_unstable_by_key(|view| view.region.as_str());
        Response::ok(GetMonitorStatusResponse {
            id: id.to_string(),
            status: status.to_string(),
            since: encode_instant(since),
            regions: regions.iter().map(|it| encode_region(it, self.0.probes(caller))).collect(),
            incident_id: incident.map(|incident| incident.to_string()).unwrap_or_default(),
            maintenance_until,
        })
    }

    async fn get_monitor_summary(
        &self,
        context: RequestContext,
        request: GetMonitorSummaryRequest,
    ) -> ServiceResult<GetMonitorSummaryResponse> {
        Response::ok(history::summary(&self.0, caller(&context), request).await?)
    }

    async fn list_response_logs(
        &self,
        context: RequestContext,
        request: ListResponseLogsRequest,
    ) -> ServiceResult<ListResponseLogsResponse> {
        Response::ok(history::list(&self.0, caller(&context), request).await?)
    }

    async fn list_missed_slots(
        &self,
        context: RequestContext,
        request: ListMissedSlotsRequest,
    ) -> ServiceResult<ListMissedSlotsResponse> {
        Response::ok(history::list_missed(&self.0, caller(&context), request).await?)
    }

    async fn get_response_log(
        &self,
        context: RequestContext,
        request: GetResponseLogRequest,
    ) -> ServiceResult<GetResponseLogResponse> {
        Response::ok(history::get(&self.0, caller(&context), request).await?)
    }
}

impl Monitors {
    /// Creates the monitor in a request of any kind. Returns its message and the warnings.
    async fn create<Kind: MonitorMessage + Message>(
        &self,
        context: &RequestContext,
        method: &'static str,
        sent: Option<Kind>,
    ) -> Result<(Option<Kind>, Vec<Warning>), Error> {
        let stored = self.store_new(context, method, sent).await?;
        let monitor = self.message(&stored, caller(context));
        Ok((monitor, warning::for_new_monitor(&self.0, &stored.monitor)))
    }

    async fn store_new<Kind: MonitorMessage + Message>(
        &self,
        context: &RequestContext,
        method: &'static str,
        sent: Option<Kind>,
    ) -> Result<MonitorWithStatus, Error> {
        let services = &self.0;
        let caller = caller(context);
        let sent = require(RESOURCE, sent)?;
        let idempotency = idempotency(context, method, &sent)?;
        let draft = sent.into_draft();
        let settings = draft.parse().map_err(invalid(RESOURCE))?;
        let (id, workspace, change) =
            (services.ctx.new_id(), caller.workspace, change(services, caller));
        let revision = 1;
        let (created_at, updated_at) = (change.at, change.at);
        let monitor = Stored { id, workspace, revision, settings, created_at, updated_at };
        refuse_unplannable(&monitor)?;
        refuse_unserved(&self.0, &monitor, &[])?;
        let new = NewMonitor { id, workspace, settings: monitor.settings, idempotency };
        let create = {
            let services = services.clone();
            async move {
                let created =
                    services.store.monitors().create(new, change).await.map_err(rpc_error)?;
                if let Created::Now(monitor) = &created {
                    log_failure(
                        services.pipeline.apply_change(monitor).await,
                        monitor.id,
                        Some(&monitor.settings.name),
                    );
                }
                Ok::<Created<Stored>, Error>(created)
            }
        };
        match run_to_end(services, id, create).await? {
            Created::Now(monitor) if monitor.settings.check.is_probed() => {
                let (status, since, heartbeat) = (MonitorStatus::Unknown, None, None);
                Ok(MonitorWithStatus { monitor, status, since, heartbeat })
            }
            // The store created the URL of a new heartbeat monitor.
            Created::Now(monitor) | Created::Before(monitor) => {
                find(services, caller, &monitor.id.to_string()).await
            }
        }
    }

    /// Updates the monitor in a request of any kind. Returns its message and the warnings.
    async fn update<Kind: MonitorMessage>(
        &self,
        context: &RequestContext,
        sent: Option<Kind>,
        edit: Edit<'_>,
    ) -> Result<(Option<Kind>, Vec<Warning>), Error> {
        let sent = require(RESOURCE, sent)?;
        let id = require_id(RESOURCE, RESOURCE, sent.id().map(ToOwned::to_owned))?;
        let wanted = update::MonitorUpdate::new(id, sent.into_draft(), edit);
        let stored = Box::pin(update::update(&self.0, caller(context), wanted)).await?;
        let monitor = self.message(&stored, caller(context));
        Ok((monitor, warning::for_monitor(&self.0, &stored.monitor)))
    }

    fn message<Kind: MonitorMessage>(
        &self,
        stored: &MonitorWithStatus,
        caller: Caller,
    ) -> Option<Kind> {
        let heartbeat = heartbeat::outputs(&self.0, stored);
        self.stored_monitor((stored, heartbeat.as_ref()), caller).message()
    }

    fn stored_monitor<'a>(
        &'a self,
        (stored, heartbeat): (&'a MonitorWithStatus, Option<&'a HeartbeatDetails>),
        caller: Caller,
    ) -> StoredMonitor<'a> {
        StoredMonitor {
            heartbeat,
            monitor: &stored.monitor,
            status: stored.status,
            default_regions: &self.0.default_regions,
            secrets: secrets(caller),
        }
    }

    /// Returns the state of a monitor that does not run: every region is unknown.
    fn stopped_state(
        &self,
        stored: &MonitorWithStatus,
    ) -> (MonitorStatus, rules::Timestamp, Vec<RegionView>) {
        let regions = stored.monitor.settings.resolved_regions(&self.0.default_regions);
        let probes = self.0.pipeline.probes().of(stored.monitor.workspace);
        let unknown = |region: &Region| RegionView {
            region: *region,
            status: MonitorStatus::Unknown,
            checked_at: None,
            latency_us: None,
            served_by: probes.name_of(*region).0.to_string(),
        };
        let since = stored.since.unwrap_or(stored.monitor.updated_at);
        (stored.status, since, regions.iter().map(unknown).collect())
    }
}

/// Returns the monitor with this ID in the caller's workspace.
async fn find(services: &Services, caller: Caller, id: &str) -> Result<MonitorWithStatus, Error> {
    let found = services.store.monitors().get(caller.workspace, monitor_id(id)?).await;
    found.map_err(rpc_error)
}

/// Parses the monitor ID in a request.
fn monitor_id(given: &str) -> Result<MonitorId, Error> {
    id(RESOURCE, given)
}
