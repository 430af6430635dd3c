//! `region.v1.RegionService`: which regions there are, and who serves them. The server's own probe
//! stands in for all of them, from where the server is.

use contract::monitor::instant;
use contract::region::wire::{
    ListRegionsRequest, ListRegionsResponse, Region as Shown, RegionService,
};
use contract::rpc::{RequestContext, Response, ServiceRequest, ServiceResult};
use rules::Region;

use crate::app::App;
use crate::pipeline::EMBEDDED;

/// Somebody runs the region's checks.
const HEALTHY: &str = "healthy";

/// The service.
#[derive(Clone, Debug)]
pub(super) struct Regions(pub(super) App);

impl RegionService for Regions {
    async fn list_regions(
        &self,
        _: RequestContext,
        _: ServiceRequest<'_, ListRegionsRequest>,
    ) -> ServiceResult<ListRegionsResponse> {
        let regions = Region::ALL.iter().map(|region| self.shown(*region)).collect();
        Response::ok(ListRegionsResponse { regions })
    }
}

impl Regions {
    fn shown(&self, region: Region) -> Shown {
        let place = region.place();
        Shown {
            id: region.to_string(),
            group: region.group().to_string(),
            city: place.city.to_owned(),
            country: place.country.to_owned(),
            default: self.0.default_regions.contains(&region),
            served_by: EMBEDDED.to_owned(),
            stands_in: true,
            health: HEALTHY.to_owned(),
            // The probe is this process: whoever reads the answer heard of it just now.
            last_seen_at: instant(self.0.ctx.now()),
            // Which addresses the world sees is not known to a process behind its network.
            egress_addresses: Vec::new(),
        }
    }
}
