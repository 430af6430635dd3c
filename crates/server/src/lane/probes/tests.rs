//! Regions follow the stored probes, and private ones those of their workspace.

use rules::Timestamp;
use store::KeyHash;

use super::*;

const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);
const OTHER: WorkspaceId = WorkspaceId::from_bits(2);

fn stored(id: u64, owner: ProbeOwner, regions: &[Region]) -> StoredProbe {
    StoredProbe {
        id: ProbeId::from_bits(id),
        owner,
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

fn moved(region: Region) -> MovedRegion {
    MovedRegion { region, workspace: None }
}

#[test]
fn regions_follow_the_stored_probes() {
    let all = Probes::embedded(Probe::new(probe::Settings::default()), Vec::new());
    let probes = all.of(WORKSPACE);
    assert!(probes.elsewhere(Region::FlyAms).is_none());
    let (first, second) = (&[Region::FlyAms][..], &[Region::FlySin, Region::FlyNrt]);
    let both = [stored(7, ProbeOwner::Operator, first), stored(8, ProbeOwner::Operator, second)];
    let changed = all.replace_remote(&both);
    assert_eq!(changed, [Region::FlyAms, Region::FlyNrt, Region::FlySin].map(moved));
    assert!(
        probes.elsewhere(Region::FlyAms).is_some() && probes.elsewhere(Region::FlyFra).is_none()
    );
    assert_eq!(&*probes.name_of(Region::FlySin).0, "probe-8");
    assert_eq!(probes.location_of(Region::FlyAms), None, "it has a probe of its own");
    assert_eq!(probes.location_of(Region::FlySin), Some(ProbeName(Arc::from("probe-8"))));
    assert_eq!(all.replace_remote(&both), []);
    let first = probes.serving(Region::FlySin).probe;
    assert_eq!(all.replace_remote(&both[..1]), [Region::FlyNrt, Region::FlySin].map(moved));
    assert_eq!(&*probes.name_of(Region::FlySin).0, THIS_SERVER);
    all.replace_remote(&both);
    assert_eq!(probes.serving(Region::FlySin).probe, first, "it keeps its index");
}

#[test]
fn private_regions_belong_to_one_workspace() {
    let all = Probes::embedded(Probe::new(probe::Settings::default()), Vec::new());
    let region = Region::Private1;
    let unserved = all.of(WORKSPACE).serving(region).probe;
    assert!(!all.of(WORKSPACE).has_probe(region) && all.local(region).is_none());
    assert_eq!(all.of(WORKSPACE).elsewhere(region), Some(unserved), "its jobs wait");
    let own = stored(7, ProbeOwner::Workspace(WORKSPACE), &[region]);
    // The operator's probes serve no private region, and those of a workspace no other one.
    let wrong = [
        stored(8, ProbeOwner::Operator, &[region]),
        stored(9, ProbeOwner::Workspace(OTHER), &[Region::FlyAms]),
    ];
    let change = [MovedRegion { region, workspace: Some(WORKSPACE) }];
    assert_eq!(all.replace_remote(&[std::slice::from_ref(&own), &wrong[..]].concat()), change);
    assert_eq!(&*all.of(WORKSPACE).name_of(region).0, "probe-7");
    assert_eq!(all.of(WORKSPACE).location_of(region), Some(ProbeName(Arc::from("probe-7"))));
    assert_eq!(all.of(OTHER).serving(region).probe, unserved);
    assert_eq!(&*all.of(OTHER).name_of(Region::FlyAms).0, THIS_SERVER);
    let index = all.of(WORKSPACE).serving(region).probe;
    assert!(all.is_private(index) && all.is_private(unserved));
    assert_eq!(all.public_regions(index), []);
    assert_eq!(all.index_by_name(&all.name(index)), None, "its name may be that of others");
    assert_eq!(all.replace_remote(&wrong), change, "it is deleted");
    assert!(all.is_private(index), "also after its end");
    assert!(!all.of(WORKSPACE).has_probe(region));
}

#[test]
fn too_many_probes_stay_unserved() {
    let all = Probes::embedded(Probe::new(probe::Settings::default()), Vec::new());
    for id in 1..=u64::from(u16::MAX) {
        all.replace_remote(&[stored(id, ProbeOwner::Workspace(OTHER), &[Region::Private1])]);
    }
    let own = stored(100_000, ProbeOwner::Workspace(WORKSPACE), &[Region::Private1]);
    all.replace_remote(&[own]);
    assert!(!all.of(WORKSPACE).has_probe(Region::Private1));
}
