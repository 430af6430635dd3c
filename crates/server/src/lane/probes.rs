//! Probes and the regions that they serve. The server's own probe is the fallback of all regions
//! without another probe, except private ones: each workspace has its own, and without a probe nobody
//! serves them. The pipeline's `check` and `remote` run the checks, and `judge` counts the votes.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use domain::check::ProbeName;
use domain::judge::{ProbeIndex, ServedRegion};
use probe::Probe;
use rules::{ProbeId, Region, WorkspaceId};
use store::{ProbeOwner, StoredProbe};
use tracing::warn;

/// Name of the server's own probe, the fallback of all regions. People see it as the location of
/// checks in alerts, on pages and over RPC.
pub const THIS_SERVER: &str = "this server";
/// Name of the probe that serves private regions without one. It never connects, so their slots are
/// missed.
pub(crate) const NO_PROBE: &str = "no probe";
const UNSERVED: ProbeIndex = ProbeIndex(1);

/// All probes and the regions of each. Cheap to clone; clones see the same changes.
#[derive(Clone)]
pub struct Probes {
    mapping: Arc<RwLock<Mapping>>,
    /// Known addresses from which the server's own probe sends checks.
    egress: Arc<[IpAddr]>,
}

/// The probes that serve the regions of one workspace.
#[derive(Clone, Copy)]
pub struct WorkspaceProbes<'p> {
    all: &'p Probes,
    workspace: WorkspaceId,
}

/// A region that another probe serves now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MovedRegion {
    pub region: Region,
    /// Workspace of a private region. `None` for all others.
    pub workspace: Option<WorkspaceId>,
}

struct Mapping {
    /// Probes by index. Removed ones keep their index, because results may still name it.
    known: Vec<KnownProbe>,
    /// Indexes of the probes in other places.
    remote: HashMap<ProbeId, ProbeIndex>,
    /// Probe of each region that all workspaces share, in the order of [`Region::PUBLIC`].
    serving: [ProbeIndex; Region::PUBLIC.len()],
    /// Probes of private regions.
    private: HashMap<(WorkspaceId, Region), ProbeIndex>,
}

struct KnownProbe {
    name: ProbeName,
    /// Whether it serves private regions of a workspace.
    is_private: bool,
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
        let serving = [ProbeIndex::EMBEDDED; Region::PUBLIC.len()];
        let known = |name, is_private, place| KnownProbe {
            name: ProbeName(Arc::from(name)),
            is_private,
            place,
        };
        let nobody = ProbePlace::Elsewhere(ProbeId::from_bits(0));
        let known =
            vec![known(THIS_SERVER, false, ProbePlace::Here(probe)), known(NO_PROBE, true, nobody)];
        let (remote, private) = (HashMap::new(), HashMap::new());
        let mapping = Mapping { known, remote, serving, private };
        Self { mapping: Arc::new(RwLock::new(mapping)), egress: egress.into() }
    }

    /// Adds a probe of this process that serves `regions`.
    #[must_use]
    pub fn and(self, name: &str, probe: Probe, regions: &[Region]) -> Self {
        {
            let mut mapping = self.mapping.write().unwrap_or_else(PoisonError::into_inner);
            let name = ProbeName(Arc::from(name));
            let known = KnownProbe { name, is_private: false, place: ProbePlace::Here(probe) };
            let index = mapping.add(known).expect("a process has few probes of its own");
            for region in regions {
                mapping.serving[*region as usize] = index;
            }
        }
        self
    }

    /// Returns the probes that serve the regions of this workspace.
    pub const fn of(&self, workspace: WorkspaceId) -> WorkspaceProbes<'_> {
        WorkspaceProbes { all: self, workspace }
    }

    /// Returns whether the probe is the server's own or serves regions of all workspaces.
    pub fn is_serving(&self, probe: ProbeIndex) -> bool {
        probe == ProbeIndex::EMBEDDED || self.read().serving.contains(&probe)
    }

    /// Returns whether the probe belongs to a workspace.
    pub fn is_private(&self, probe: ProbeIndex) -> bool {
        self.read().known[usize::from(probe.0)].is_private
    }

    /// Uses the stored probes in other places instead of those before. Returns the regions that another
    /// probe serves now.
    pub fn replace_remote(&self, stored: &[StoredProbe]) -> Vec<MovedRegion> {
        let mut mapping = self.mapping.write().unwrap_or_else(PoisonError::into_inner);
        let before = mapping.serving;
        let private_before = std::mem::take(&mut mapping.private);
        let Mapping { known, serving, .. } = &mut *mapping;
        for index in serving {
            // Probes of this process stay.
            if matches!(known[usize::from(index.0)].place, ProbePlace::Elsewhere(_)) {
                *index = ProbeIndex::EMBEDDED;
            }
        }
        for probe in stored {
            let known = mapping.remote.get(&probe.id).copied();
            let Some(index) = known.or_else(|| mapping.add_stored(probe)) else {
                warn!(probe.id = %probe.id, "there are too many probes since the start; restart the server");
                continue;
            };
            for region in &probe.regions {
                mapping.assign(probe.owner, *region, index);
            }
        }
        let changed = Region::PUBLIC.iter().zip(before.iter().zip(&mapping.serving));
        let changed = changed.filter(|(_, (before, now))| before != now);
        let shared = changed.map(|(region, _)| MovedRegion { region: *region, workspace: None });
        shared.chain(changed_keys(&private_before, &mapping.private)).collect()
    }

    /// Returns the index of a probe in another place.
    pub fn index_of(&self, probe: ProbeId) -> Option<ProbeIndex> {
        self.read().remote.get(&probe).copied()
    }

    /// Returns the index of the probe with this name, except those of workspaces.
    pub fn index_by_name(&self, name: &ProbeName) -> Option<ProbeIndex> {
        let mapping = self.read();
        let is_it = |known: &KnownProbe| known.name == *name && !known.is_private;
        let number = mapping.known.iter().position(is_it)?;
        u16::try_from(number).ok().map(ProbeIndex)
    }

    /// Returns the regions that a probe serves and that all workspaces share.
    pub fn public_regions(&self, probe: ProbeIndex) -> Vec<Region> {
        let mapping = self.read();
        let served = Region::PUBLIC.iter().zip(mapping.serving);
        served.filter(|(_, index)| *index == probe).map(|(region, _)| *region).collect()
    }

    /// Returns the probe of a region that all workspaces share.
    ///
    /// # Panics
    /// For a private region.
    pub fn public(&self, region: Region) -> ProbeIndex {
        self.read().serving[region as usize]
    }

    /// Returns where a probe runs its checks.
    pub fn place(&self, probe: ProbeIndex) -> ProbePlace {
        self.read().known[usize::from(probe.0)].place.clone()
    }

    /// Returns the probe of this process that checks a region, with its name: the server's own if the
    /// region has got a probe in another place since the job was sent. `None` for a private region, which
    /// this process never checks.
    pub fn local(&self, region: Region) -> Option<(ProbeName, Probe)> {
        let mapping = self.read();
        let own = *mapping.serving.get(region as usize)?;
        [own, ProbeIndex::EMBEDDED].into_iter().find_map(|index| {
            let known = &mapping.known[usize::from(index.0)];
            match &known.place {
                ProbePlace::Here(probe) => Some((known.name.clone(), probe.clone())),
                ProbePlace::Elsewhere(_) => None,
            }
        })
    }

    /// Returns the name of a probe, which is also that of its location.
    pub fn name(&self, probe: ProbeIndex) -> ProbeName {
        self.read().known[usize::from(probe.0)].name.clone()
    }

    /// Returns the addresses that a probe's checks come from; empty if unknown.
    pub fn egress(&self, probe: ProbeIndex) -> &[IpAddr] {
        if probe == ProbeIndex::EMBEDDED { &self.egress } else { &[] }
    }

    fn read(&self) -> RwLockReadGuard<'_, Mapping> {
        self.mapping.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkspaceProbes<'_> {
    /// Returns the probe that serves a region.
    pub fn serving(self, region: Region) -> ServedRegion {
        ServedRegion { region, probe: self.all.read().index(self.workspace, region) }
    }

    /// Returns the probe in another place that serves a region, if it has one. A private region without a
    /// probe has one that never connects.
    pub fn elsewhere(self, region: Region) -> Option<ProbeIndex> {
        let mapping = self.all.read();
        let index = mapping.index(self.workspace, region);
        let place = &mapping.known[usize::from(index.0)].place;
        matches!(place, ProbePlace::Elsewhere(_)).then_some(index)
    }

    /// Returns whether the region has a probe: all but private ones without a probe.
    pub fn has_probe(self, region: Region) -> bool {
        self.serving(region).probe != UNSERVED
    }

    /// Returns the location that checks of a region come from, if its probe is the server's own or serves
    /// several regions, or if the region is private, because its name names no place. Regions
    /// with the same probe share a location.
    pub fn location_of(self, region: Region) -> Option<ProbeName> {
        let mapping = self.all.read();
        let index = mapping.index(self.workspace, region);
        let is_named = region.is_private()
            || index == ProbeIndex::EMBEDDED
            || mapping.serving.iter().filter(|other| **other == index).count() > 1;
        is_named.then(|| mapping.known[usize::from(index.0)].name.clone())
    }

    /// Returns the name of the probe that serves a region.
    pub fn name_of(self, region: Region) -> ProbeName {
        self.all.name(self.serving(region).probe)
    }
}

impl Mapping {
    /// Adds a probe. Returns `None` if there are too many.
    fn add(&mut self, probe: KnownProbe) -> Option<ProbeIndex> {
        let index = ProbeIndex(u16::try_from(self.known.len()).ok()?);
        self.known.push(probe);
        Some(index)
    }

    fn add_stored(&mut self, probe: &StoredProbe) -> Option<ProbeIndex> {
        let index = self.add(KnownProbe {
            name: ProbeName(Arc::from(probe.name.as_str())),
            is_private: probe.owner != ProbeOwner::Operator,
            place: ProbePlace::Elsewhere(probe.id),
        })?;
        self.remote.insert(probe.id, index);
        Some(index)
    }

    /// Makes the probe serve a region of its owner. Regions that do not match the owner have no effect.
    fn assign(&mut self, owner: ProbeOwner, region: Region, index: ProbeIndex) {
        match (owner, self.serving.get_mut(region as usize)) {
            (ProbeOwner::Operator, Some(serving)) => *serving = index,
            (ProbeOwner::Workspace(workspace), None) => {
                self.private.insert((workspace, region), index);
            }
            (ProbeOwner::Operator, None) | (ProbeOwner::Workspace(_), Some(_)) => {}
        }
    }

    fn index(&self, workspace: WorkspaceId, region: Region) -> ProbeIndex {
        let public = self.serving.get(region as usize);
        let private = || self.private.get(&(workspace, region)).unwrap_or(&UNSERVED);
        *public.unwrap_or_else(private)
    }
}

/// Returns the private regions whose probe differs.
fn changed_keys(
    before: &HashMap<(WorkspaceId, Region), ProbeIndex>,
    now: &HashMap<(WorkspaceId, Region), ProbeIndex>,
) -> Vec<MovedRegion> {
    let ended = before.keys().filter(|key| !now.contains_key(key));
    let changed = now.iter().filter(|(key, index)| before.get(key) != Some(index));
    let keys = ended.chain(changed.map(|(key, _)| key));
    let moved = keys
        .map(|(workspace, region)| MovedRegion { region: *region, workspace: Some(*workspace) });
    moved.collect()
}

impl std::fmt::Display for MovedRegion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.workspace {
            Some(workspace) => write!(f, "{} of workspace `{workspace}`", self.region),
            None => self.region.fmt(f),
        }
    }
}

impl std::fmt::Debug for Probes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.read().known.iter().map(|it| &it.name)).finish()
    }
}

#[cfg(test)]
mod tests;
