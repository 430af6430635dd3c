//! Probes and the regions that they serve. The server's own probe is the fallback of all regions
//! without another probe. `check` runs the checks, and `judge` counts the votes.

use std::net::IpAddr;
use std::sync::Arc;

use domain::check::ProbeId;
use domain::judge::{ProbeIndex, ServedRegion};
use probe::Probe;
use rules::Region;

/// Name of the server's own probe, the fallback of all regions. People see it as the location of
/// checks in alerts, on pages and over RPC.
pub const THIS_SERVER: &str = "this server";

/// All probes and the regions of each. Cheap to clone.
#[derive(Clone)]
pub struct Probes {
    /// Probes by index.
    known: Arc<[(ProbeId, Probe)]>,
    /// Known addresses from which the server's own probe sends checks.
    egress: Arc<[IpAddr]>,
    /// Probe of each region, in the order of [`Region::ALL`].
    serving: [ProbeIndex; Region::ALL.len()],
}

impl Probes {
    /// Creates the server's own probe for all regions. `egress` has the known addresses that its
    /// checks come from.
    pub fn embedded(probe: Probe, egress: Vec<IpAddr>) -> Self {
        let known = Arc::new([(ProbeId(Arc::from(THIS_SERVER)), probe)]);
        let serving = [ProbeIndex::EMBEDDED; Region::ALL.len()];
        Self { known, egress: egress.into(), serving }
    }

    /// Adds a probe that serves `regions`.
    #[must_use]
    pub fn and(self, name: &str, probe: Probe, regions: &[Region]) -> Self {
        let number = u16::try_from(self.known.len()).expect("there are few probes");
        let mut known = self.known.to_vec();
        known.push((ProbeId(Arc::from(name)), probe));
        let mut serving = self.serving;
        for region in regions {
            serving[*region as usize] = ProbeIndex(number);
        }
        Self { known: known.into(), egress: self.egress, serving }
    }

    /// Returns the probe that serves a region.
    pub fn serving(&self, region: Region) -> ServedRegion {
        ServedRegion { region, probe: self.serving[region as usize] }
    }

    /// Returns a probe with its name.
    pub fn known(&self, probe: ProbeIndex) -> &(ProbeId, Probe) {
        &self.known[usize::from(probe.0)]
    }

    /// Returns the name of a probe, which is also that of its location.
    pub fn name(&self, probe: ProbeIndex) -> &str {
        &self.known(probe).0.0
    }

    /// Returns the location that checks of a region come from, if its probe is the server's own or
    /// serves several regions. Regions with the same probe share a location.
    pub fn location_of(&self, region: Region) -> Option<&str> {
        let probe = self.serving(region).probe;
        let is_shared = self.serving.iter().filter(|other| **other == probe).count() > 1;
        (is_shared || probe == ProbeIndex::EMBEDDED).then(|| self.name(probe))
    }

    /// Returns whether one probe serves all regions.
    pub fn is_one(&self) -> bool {
        self.known.len() == 1
    }

    /// Returns the addresses that a probe's checks come from; empty if unknown.
    pub fn egress(&self, probe: ProbeIndex) -> &[IpAddr] {
        if probe == ProbeIndex::EMBEDDED { &self.egress } else { &[] }
    }

    /// Returns the name of the probe that serves a region.
    pub fn name_of(&self, region: Region) -> &str {
        self.name(self.serving(region).probe)
    }
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.known.iter().map(|(name, _)| name)).finish()
    }
}
