//! `region.v1.RegionService`: regions, their probes and the health of these. The server's own probe
//! is the fallback for every region, and checks from the server's location.

use contract::monitor::encode_instant;
use contract::region::wire::{
    ListRegionsRequest, ListRegionsResponse, Region as WireRegion, RegionService,
};
use contract::rpc::{self, RequestContext, Response, ServiceResult};
use domain::judge::ProbeIndex;

use crate::pipeline::{PipelineError, RegionHealth};
use crate::rpc::Services;

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct Regions(pub(super) Services);

impl RegionService for Regions {
    async fn list_regions(
        &self,
        _: RequestContext,
        _: ListRegionsRequest,
    ) -> ServiceResult<ListRegionsResponse> {
        // A read can always be retried, whatever the error.
        let unknown = |why: PipelineError| rpc::deferred(why.to_string());
        let found = self.0.pipeline.health().await.map_err(unknown)?;
        let regions = found.into_iter().map(|health| self.encode(health)).collect();
        Response::ok(ListRegionsResponse { regions })
    }
}

impl Regions {
    fn encode(&self, found: RegionHealth) -> WireRegion {
        let RegionHealth { region, health, last_check_at } = found;
        let (place, probes) = (region.location(), self.0.pipeline.probes());
        let probe = probes.serving(region).probe;
        WireRegion {
            id: region.to_string(),
            group: region.group().to_string(),
            city: place.city.to_owned(),
            country: place.country.to_owned(),
            default: self.0.default_regions.contains(&region),
            is_fallback: probe == ProbeIndex::EMBEDDED,
            served_by: probes.name(probe).to_owned(),
            health: health.as_str().to_owned(),
            last_seen_at: last_check_at.map(encode_instant).unwrap_or_default(),
            egress_addresses: probes.egress(probe).iter().map(ToString::to_string).collect(),
        }
    }
}
