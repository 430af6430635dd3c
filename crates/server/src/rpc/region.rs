//! `region.v1.RegionService`: regions, their probes and the health of these. The server's own probe
//! is the fallback for every region, and checks from the server's location.

use contract::monitor::encode_instant;
use contract::region::wire::{
    ListRegionsRequest, ListRegionsResponse, ProbeState as WireProbeState, Region as WireRegion,
    RegionService,
};
use contract::rpc::{self, RequestContext, Response, ServiceResult};
use domain::judge::ProbeIndex;

use super::request::caller;
use crate::auth::Caller;
use crate::observe::metrics::ProbeStatus;
use crate::pipeline::{PipelineError, RegionHealth};
use crate::rpc::Services;

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Regions(pub(super) Services);

impl RegionService for Regions {
    async fn list_regions(
        &self,
        context: RequestContext,
        _: ListRegionsRequest,
    ) -> ServiceResult<ListRegionsResponse> {
        let caller = caller(&context);
        // A read can always be retried, whatever the error.
        let unknown = |why: PipelineError| rpc::deferred(why.to_string());
        let found = self.0.pipeline.health(caller.workspace).await.map_err(unknown)?;
        let regions = found.into_iter().map(|health| self.encode(caller, health)).collect();
        Response::ok(ListRegionsResponse { regions })
    }
}

fn encode_status(status: ProbeStatus) -> WireProbeState {
    let number = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    let clamped = |millis: i64| millis.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    WireProbeState {
        connected: status.is_connected,
        version: status.version,
        heard_at: encode_instant(status.heard_at),
        lag_ms: clamped(i64::try_from(status.lag.as_millis()).unwrap_or(i64::MAX)),
        clock_offset_ms: clamped(status.clock_offset_ms),
        running: number(status.running),
        waiting: number(status.waiting),
    }
}

impl Regions {
    fn encode(&self, caller: Caller, found: RegionHealth) -> WireRegion {
        let RegionHealth { region, health, last_check_at } = found;
        let (place, probes) = (region.location(), self.0.pipeline.probes());
        let probe = self.0.probes(caller).serving(region).probe;
        let state = self.0.pipeline.remote().status(probe);
        let name = probes.name(probe).0.to_string();
        // Only the name of its probe says where a private region is.
        let city = if region.is_private() { name.clone() } else { place.city.to_owned() };
        WireRegion {
            id: region.to_string(),
            group: region.group().to_string(),
            city,
            country: place.country.to_owned(),
            default: self.0.default_regions.contains(&region),
            is_fallback: probe == ProbeIndex::EMBEDDED,
            served_by: name,
            health: health.as_str().to_owned(),
            last_seen_at: last_check_at.map(encode_instant).unwrap_or_default(),
            egress_addresses: probes.egress(probe).iter().map(ToString::to_string).collect(),
            probe: state.map(|it| encode_status(it).into()).unwrap_or_default(),
        }
    }
}
