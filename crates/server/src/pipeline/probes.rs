//! Who runs the checks of which region. The server's own probe stands in for every region that no
//! other one serves; running the checks belongs to `check`, their votes to `judge`.

use std::net::IpAddr;
use std::sync::Arc;

use domain::check::ProbeId;
use domain::judge::{ProbeSlot, Serving};
use probe::Probe;
use rules::Region;

/// Name of the probe inside the server, which stands in for all regions. People read it as the place that
/// checks come from, in alerts, on pages and over RPC.
pub const THIS_SERVER: &str = "this server";

/// The probes there are, and the regions that each serves. Cheap to clone.
#[derive(Clone)]
pub struct Probes {
    /// By the number of their slot.
    known: Arc<[(ProbeId, Probe)]>,
    /// The addresses that checks of the server's own probe come from, as far as they are known.
    egress: Arc<[IpAddr]>,
    /// By region, in the order of [`Region::ALL`].
    serving: [ProbeSlot; Region::ALL.len()],
}

impl Probes {
    /// The server's own probe, for all regions; its checks come from these addresses, as far as that
    /// is known.
    pub fn embedded(probe: Probe, egress: Vec<IpAddr>) -> Self {
        let known = Arc::new([(ProbeId(Arc::from(THIS_SERVER)), probe)]);
        let serving = [ProbeSlot::EMBEDDED; Region::ALL.len()];
        Self { known, egress: egress.into(), serving }
    }

    /// These, and another one that serves `regions` from now on.
    #[must_use]
    pub fn and(self, name: &str, probe: Probe, regions: &[Region]) -> Self {
        let number = u16::try_from(self.known.len()).expect("there are few probes");
        let mut known = self.known.to_vec();
        known.push((ProbeId(Arc::from(name)), probe));
        let mut serving = self.serving;
        for region in regions {
            serving[*region as usize] = ProbeSlot(number);
        }
        Self { known: known.into(), egress: self.egress, serving }
    }

    /// Who serves a region.
    pub fn serving(&self, region: Region) -> Serving {
        Serving { region, probe: self.serving[region as usize] }
    }

    /// A probe with its name.
    pub fn known(&self, slot: ProbeSlot) -> &(ProbeId, Probe) {
        &self.known[usize::from(slot.0)]
    }

    /// Returns the name of a probe, which is also that of its place.
    pub fn name(&self, slot: ProbeSlot) -> &str {
        &self.known(slot).0.0
    }

    /// Returns the place that checks of a region come from, if its probe is the server's own or serves several
    /// regions: these are one place.
    pub fn place_of(&self, region: Region) -> Option<&str> {
        let slot = self.serving(region).probe;
        let is_shared = self.serving.iter().filter(|other| **other == slot).count() > 1;
        (is_shared || slot == ProbeSlot::EMBEDDED).then(|| self.name(slot))
    }

    /// Returns whether one probe serves all regions.
    pub fn is_one(&self) -> bool {
        self.known.len() == 1
    }

    /// The addresses that a probe's checks come from; empty where they are not known.
    pub fn egress(&self, slot: ProbeSlot) -> &[IpAddr] {
        if slot == ProbeSlot::EMBEDDED { &self.egress } else { &[] }
    }

    /// The name of who serves a region.
    pub fn name_of(&self, region: Region) -> &str {
        self.name(self.serving(region).probe)
    }
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.known.iter().map(|(name, _)| name)).finish()
    }
}
