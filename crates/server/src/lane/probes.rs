//! Probes and the regions that they serve. The server's own probe is the fallback of all regions
//! without another probe. The pipeline's `check` and `remote` run the checks, and `judge` counts the votes.

use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use domain::check::ProbeName;
use domain::judge::{ProbeIndex, ServedRegion};
use probe::Probe;
use rules::{ProbeId, Region};
use store::StoredProbe;

/// Name of the server's own probe, the fallback of all regions. People see it as the location of
/// checks in alerts, on pages and over RPC.
pub const THIS_SERVER: &str = "this server";

/// All probes and the regions of each. Cheap to clone; clones see the same changes.
#[derive(Clone)]
pub struct Probes {
    mapping: Arc<RwLock<Mapping>>,
    /// Known addresses from which the server's own probe sends checks.
    egress: Arc<[IpAddr]>,
}

struct Mapping {
    /// Probes by index. Removed ones keep their index, because results may still name it.
    known: Vec<KnownProbe>,
    /// Probe of each region, in the order of [`Region::ALL`].
    serving: [ProbeIndex; Region::ALL.len()],
}

struct KnownProbe {
    name: ProbeName,
    place: ProbePlace,
}

/// Place of a probe.
#[derive(Clone)]
pub enum ProbePlace {
    /// This process.
    Here(Probe),
    /// A process elsewhere, which connects to this server.
    Elsewhere(ProbeId),
}

impl Probes {
    /// Creates the server's own probe for all regions. `egress` has the known addresses that its
    /// checks come from.
    pub fn embedded(probe: Probe, egress: Vec<IpAddr>) -> Self {
        let name = ProbeName(Arc::from(THIS_SERVER));
        let known = vec![KnownProbe { name, place: ProbePlace::Here(probe) }];
        let mapping = Mapping { known, serving: [ProbeIndex::EMBEDDED; Region::ALL.len()] };
        Self { mapping: Arc::new(RwLock::new(mapping)), egress: egress.into() }
    }

    /// Adds a probe of this process that serves `regions`.
    #[must_use]
    pub fn and(self, name: &str, probe: Probe, regions: &[Region]) -> Self {
        {
            let mut mapping = self.mapping.write().unwrap_or_else(PoisonError::into_inner);
            let index = mapping.add(name, ProbePlace::Here(probe));
            for region in regions {
                mapping.serving[*region as usize] = index;
            }
        }
        self
    }

    /// Returns whether the probe is the server's own or one of the stored ones, which serve regions.
    pub fn is_serving(&self, probe: ProbeIndex) -> bool {
        let mapping = self.mapping.read().unwrap_or_else(PoisonError::into_inner);
        probe == ProbeIndex::EMBEDDED || mapping.serving.contains(&probe)
    }

    /// Uses the stored probes in other places instead of those before. Returns the regions that another
    /// probe serves now.
    pub fn replace_remote(&self, stored: &[StoredProbe]) -> Vec<Region> {
        let mut mapping = self.mapping.write().unwrap_or_else(PoisonError::into_inner);
        let before = mapping.serving;
        for index in &mut mapping.serving {
            if index.0 != 0 {
                *index = ProbeIndex::EMBEDDED;
            }
        }
        for (region, index) in Region::ALL.iter().zip(before) {
            // Probes of this process stay.
            if matches!(mapping.known[usize::from(index.0)].place, ProbePlace::Here(_)) {
                mapping.serving[*region as usize] = index;
            }
        }
        for probe in stored {
            let index = match mapping.index_of(probe.id) {
                Some(index) => index,
                None => mapping.add(&probe.name, ProbePlace::Elsewhere(probe.id)),
            };
            for region in &probe.regions {
                mapping.serving[*region as usize] = index;
            }
        }
        let changed = Region::ALL.iter().zip(before.iter().zip(&mapping.serving));
        changed.filter(|(_, (before, now))| before != now).map(|(region, _)| *region).collect()
    }

    /// Returns the probe that serves a region.
    pub fn serving(&self, region: Region) -> ServedRegion {
        ServedRegion { region, probe: self.read().serving[region as usize] }
    }

    /// Returns the index of a probe in another place.
    pub fn index_of(&self, probe: ProbeId) -> Option<ProbeIndex> {
        self.read().index_of(probe)
    }

    /// Returns the index of the probe with this name.
    pub fn index_by_name(&self, name: &ProbeName) -> Option<ProbeIndex> {
        let mapping = self.read();
        let number = mapping.known.iter().position(|known| known.name == *name)?;
        u16::try_from(number).ok().map(ProbeIndex)
    }

    /// Returns where a probe runs its checks.
    pub fn place(&self, probe: ProbeIndex) -> ProbePlace {
        self.read().known[usize::from(probe.0)].place.clone()
    }

    /// Returns the probe of this process that checks a region, with its name: the server's own if the
    /// region has got a probe in another place since the job was sent.
    pub fn local(&self, region: Region) -> (ProbeName, Probe) {
        let mapping = self.read();
        for index in [mapping.serving[region as usize], ProbeIndex::EMBEDDED] {
            let known = &mapping.known[usize::from(index.0)];
            if let ProbePlace::Here(probe) = &known.place {
                return (known.name.clone(), probe.clone());
            }
        }
        unreachable!("the first probe is the server's own")
    }

    /// Returns the probe in another place that serves a region, if it has one.
    pub fn elsewhere(&self, region: Region) -> Option<ProbeIndex> {
        let mapping = self.read();
        let index = mapping.serving[region as usize];
        let place = &mapping.known[usize::from(index.0)].place;
        matches!(place, ProbePlace::Elsewhere(_)).then_some(index)
    }

    /// Returns the name of a probe, which is also that of its location.
    pub fn name(&self, probe: ProbeIndex) -> ProbeName {
        self.read().known[usize::from(probe.0)].name.clone()
    }

    /// Returns the location that checks of a region come from, if its probe is the server's own or
    /// serves several regions. Regions with the same probe share a location.
    pub fn location_of(&self, region: Region) -> Option<ProbeName> {
        let mapping = self.read();
        let index = mapping.serving[region as usize];
        let is_shared = mapping.serving.iter().filter(|other| **other == index).count() > 1;
        let name = &mapping.known[usize::from(index.0)].name;
        (is_shared || index == ProbeIndex::EMBEDDED).then(|| name.clone())
    }

    /// Returns whether one probe serves all regions.
    pub fn is_one(&self) -> bool {
        let mapping = self.read();
        mapping.serving.iter().all(|index| *index == mapping.serving[0])
    }

    /// Returns the addresses that a probe's checks come from; empty if unknown.
    pub fn egress(&self, probe: ProbeIndex) -> &[IpAddr] {
        if probe == ProbeIndex::EMBEDDED { &self.egress } else { &[] }
    }

    /// Returns the name of the probe that serves a region.
    pub fn name_of(&self, region: Region) -> ProbeName {
        self.name(self.serving(region).probe)
    }

    fn read(&self) -> RwLockReadGuard<'_, Mapping> {
        self.mapping.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mapping {
    fn add(&mut self, name: &str, place: ProbePlace) -> ProbeIndex {
        let number = u16::try_from(self.known.len()).expect("there are few probes");
        self.known.push(KnownProbe { name: ProbeName(Arc::from(name)), place });
        ProbeIndex(number)
    }

    fn index_of(&self, probe: ProbeId) -> Option<ProbeIndex> {
        let is_it =
            |known: &KnownProbe| matches!(known.place, ProbePlace::Elsewhere(id) if id == probe);
        let number = self.known.iter().position(is_it)?;
        u16::try_from(number).ok().map(ProbeIndex)
    }
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.read().known.iter().map(|it| &it.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use rules::Timestamp;
    use store::KeyHash;

    use super::*;

    fn stored(id: u64, regions: &[Region]) -> StoredProbe {
        StoredProbe {
            id: ProbeId::from_bits(id),
            name: format!("probe-{id}"),
            regions: regions.to_vec(),
            created_at: Timestamp::from_millis(0),
            token: KeyHash::new("token"),
            previous_until: None,
            last_seen_at: None,
            version: None,
            address: None,
        }
    }

    #[test]
    fn regions_follow_the_stored_probes() {
        let probes = Probes::embedded(Probe::new(probe::Settings::default()), Vec::new());
        assert!(probes.is_one() && probes.elsewhere(Region::FlyAms).is_none());
        let both = [stored(1, &[Region::FlyAms]), stored(2, &[Region::FlySin, Region::FlyNrt])];
        let changed = probes.replace_remote(&both);
        assert_eq!(changed, [Region::FlyAms, Region::FlyNrt, Region::FlySin]);
        assert!(
            probes.elsewhere(Region::FlyAms).is_some()
                && probes.elsewhere(Region::FlyFra).is_none()
        );
        assert_eq!(&*probes.name_of(Region::FlySin).0, "probe-2");
        assert_eq!(probes.location_of(Region::FlyAms), None, "it has a probe of its own");
        assert_eq!(probes.location_of(Region::FlySin), Some(ProbeName(Arc::from("probe-2"))));
        assert_eq!(probes.replace_remote(&both), []);
        let first = probes.serving(Region::FlySin).probe;
        assert_eq!(probes.replace_remote(&both[..1]), [Region::FlyNrt, Region::FlySin]);
        assert_eq!(&*probes.name_of(Region::FlySin).0, THIS_SERVER);
        probes.replace_remote(&both);
        assert_eq!(probes.serving(Region::FlySin).probe, first, "it keeps its index");
    }
}
