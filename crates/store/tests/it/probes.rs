//! Probes: one per region, found by their tokens, rotated without a gap.

use domain::check::ProbeName;
use domain::judge::{FailedHosts, ProbeTrust, StoredSuspicion};
use rules::{ProbeId, Region, Timestamp};
use store::{
    Batch, KeyHash, NewProbe, NewProbeToken, OperatorContext, ProbeOwner, ProbeSeen, StoreError,
    StoredProbe,
};

use crate::harness::{Home, at, for_each_engine, instant};

const fn probe_id(number: u64) -> ProbeId {
    ProbeId::from_bits(number)
}

fn token(text: &str) -> KeyHash {
    KeyHash::new(text)
}

fn a_probe(number: u64, name: &str, regions: &[Region]) -> NewProbe {
    let (id, owner) = (probe_id(number), ProbeOwner::Operator);
    NewProbe { id, owner, name: name.to_owned(), regions: regions.to_vec() }
}

fn stored(new: &NewProbe, token: KeyHash) -> StoredProbe {
    StoredProbe {
        id: new.id,
        owner: new.owner,
        name: new.name.clone(),
        regions: new.regions.clone(),
        created_at: instant(5),
        token,
        previous_until: None,
        last_seen_at: None,
        version: None,
        address: None,
    }
}

fn seen(number: u64, at: i64, version: &str) -> ProbeSeen {
    ProbeSeen {
        probe: probe_id(number),
        at: instant(at),
        version: version.to_owned(),
        address: Some([192, 0, 2, 7].into()),
    }
}

fn author(millis: i64) -> OperatorContext {
    OperatorContext::of_server(at(millis))
}

/// Creates a probe of one region with the token `first`.
pub(crate) async fn a_full_one(home: &Home) -> NewProbe {
    let new = a_probe(1, "ams", &[Region::FlyAms]);
    home.store.probes().create(new.clone(), token("first"), author(5)).await.unwrap();
    new
}

/// Stores that the probe `ams` is suspect.
pub(crate) async fn a_suspicion(home: &Home) -> (ProbeName, StoredSuspicion) {
    let failed_hosts = FailedHosts { failing: 4, of_hosts: 6 };
    let stored = StoredSuspicion {
        suspicion: Some((instant(7), failed_hosts)),
        trust: ProbeTrust::Suspect,
        changed_at: instant(7),
    };
    let suspect = (ProbeName("ams".into()), stored);
    let suspicions = vec![suspect.clone()];
    home.commit(Batch { suspicions, ..Batch::default() }).await.unwrap();
    suspect
}

fn rotation(new: &str, previous_until: i64) -> NewProbeToken {
    NewProbeToken { token: token(new), previous_until: instant(previous_until) }
}

async fn rotate(home: &Home, new: &str, millis: i64, previous_until: i64) {
    let rotation = rotation(new, previous_until);
    home.store.probes().rotate(probe_id(1), rotation, author(millis)).await.unwrap();
}

/// Returns which of the tokens are valid at this time.
async fn valid(home: &Home, tokens: &[&str], at: i64) -> Vec<String> {
    let mut valid = Vec::new();
    for text in tokens {
        let found = home.store.probes().find_for_auth(token(text), instant(at)).await.unwrap();
        valid.extend(found.map(|_| (*text).to_owned()));
    }
    valid
}

async fn names(home: &Home) -> Vec<String> {
    home.store.probes().list().await.unwrap().into_iter().map(|probe| probe.name).collect()
}

#[tokio::test]
async fn probes_are_listed_by_name_with_regions() {
    for_each_engine(async |home| {
        let probes = home.store.probes();
        assert_eq!(probes.list().await.unwrap(), []);
        let two = a_probe(1, "tokyo", &[Region::KoyebTyo, Region::FlyNrt]);
        let one = a_probe(2, "ams", &[Region::FlyAms]);
        probes.create(two.clone(), token("a"), author(5)).await.unwrap();
        probes.create(one.clone(), token("b"), author(5)).await.unwrap();
        let two = NewProbe { regions: vec![Region::FlyNrt, Region::KoyebTyo], ..two };
        let (one, two) = (stored(&one, token("b")), stored(&two, token("a")));
        assert_eq!(probes.list().await.unwrap(), [one, two.clone()]);
        assert_eq!(probes.find_for_auth(token("a"), instant(9)).await.unwrap(), Some(two));
        assert_eq!(probes.find_for_auth(token("c"), instant(9)).await.unwrap(), None);
    })
    .await;
}

// issue 19: "Tokens are bound to regions"
#[tokio::test]
async fn taken_name_or_region_is_rejected() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let probes = home.store.probes();
        let same_name = a_probe(2, "ams", &[Region::FlyArn]);
        let refusal = probes.create(same_name, token("b"), author(5)).await.unwrap_err();
        assert!(matches!(refusal, StoreError::AlreadyExists { what: "probe", .. }), "{refusal}");
        let same_region = a_probe(2, "both", &[Region::FlyArn, Region::FlyAms]);
        let refusal = probes.create(same_region, token("b"), author(5)).await.unwrap_err();
        let StoreError::RegionServed { region: Region::FlyAms, probe } = refusal else {
            panic!("{refusal}")
        };
        assert_eq!(probe, "ams");
        assert_eq!(names(home).await, ["ams"]);
        assert_eq!(home.count("probe_regions").await, 1, "no part of a rejected probe is stored");
        assert_eq!(valid(home, &["first", "b"], 9).await, ["first"]);
    })
    .await;
}

// issue 19: "rotated without a gap"
#[tokio::test]
async fn previous_token_is_valid_until_its_end() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        rotate(home, "second", 10, 20).await;
        assert_eq!(valid(home, &["first", "second"], 19).await, ["first", "second"]);
        assert_eq!(valid(home, &["first", "second"], 20).await, ["second"]);
        let listed = home.store.probes().list().await.unwrap();
        assert_eq!(listed[0].previous_until, Some(instant(20)));
        assert_eq!(listed[0].token, token("second"));
    })
    .await;
}

#[tokio::test]
async fn used_token_ends_the_previous_one() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let probes = home.store.probes();
        rotate(home, "second", 10, 20).await;
        // The probe connected with the previous token, or another rotation came between.
        for stale in ["first", "third"] {
            probes.end_rotation(probe_id(1), token(stale)).await.unwrap();
            assert_eq!(valid(home, &["first", "second"], 11).await, ["first", "second"]);
        }
        probes.end_rotation(probe_id(1), token("second")).await.unwrap();
        assert_eq!(valid(home, &["first", "second"], 11).await, ["second"]);
        assert_eq!(probes.list().await.unwrap()[0].previous_until, None);
    })
    .await;
}

#[tokio::test]
async fn unused_token_is_replaced_without_a_gap() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let tokens = ["first", "second", "third"];
        rotate(home, "second", 10, 20).await;
        rotate(home, "third", 15, 25).await;
        assert_eq!(valid(home, &tokens, 24).await, ["first", "third"]);
        // An ended token does not become valid again.
        rotate(home, "fourth", 30, 40).await;
        assert_eq!(valid(home, &tokens, 31).await, ["third"]);
        assert_eq!(valid(home, &["fourth"], 31).await, ["fourth"]);
    })
    .await;
}

#[tokio::test]
async fn deleted_probe_frees_its_regions() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let probes = home.store.probes();
        rotate(home, "second", 10, 20).await;
        probes.delete(probe_id(1), author(11)).await.unwrap();
        assert_eq!(valid(home, &["first", "second"], 11).await, Vec::<String>::new());
        let again = a_probe(2, "ams", &[Region::FlyAms]);
        probes.create(again, token("third"), author(5)).await.unwrap();
        let rotation = rotation("third", 22);
        for refusal in [
            probes.delete(probe_id(1), author(11)).await,
            probes.rotate(probe_id(1), rotation, author(12)).await,
        ] {
            assert!(matches!(refusal, Err(StoreError::NotFound { what: "probe", .. })));
        }
        probes.end_rotation(probe_id(1), token("second")).await.unwrap();
        assert_eq!(names(home).await, ["ams"]);
    })
    .await;
}

#[tokio::test]
async fn last_sign_of_life_never_moves_backward() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let probes = home.store.probes();
        probes.record_seen(&[seen(1, 70, "2.0.0"), seen(8, 70, "2.0.0")]).await.unwrap();
        probes.record_seen(&[seen(1, 60, "1.0.0")]).await.unwrap();
        let probe = probes.list().await.unwrap().remove(0);
        let last = (probe.last_seen_at, probe.version.as_deref(), probe.address.as_deref());
        assert_eq!(last, (Some(instant(70)), Some("2.0.0"), Some("192.0.2.7")));
    })
    .await;
}

#[tokio::test]
async fn committed_changes_are_counted() {
    for_each_engine(async |home| {
        let probes = home.store.probes();
        let changed = probes.changed();
        let count = || *changed.borrow();
        let before = count();
        let new = a_full_one(home).await;
        assert_eq!(count(), before + 1, "create");
        probes.create(new, token("b"), author(5)).await.unwrap_err();
        probes.record_seen(&[seen(1, 70, "1.0.0")]).await.unwrap();
        assert_eq!(count(), before + 1, "neither a rejection nor a sign of life");
        rotate(home, "second", 10, 20).await;
        assert_eq!(count(), before + 2, "rotate");
        probes.end_rotation(probe_id(1), token("second")).await.unwrap();
        assert_eq!(count(), before + 3, "end of a rotation");
        probes.delete(probe_id(1), author(11)).await.unwrap();
        assert_eq!(count(), before + 4, "delete");
    })
    .await;
}

#[tokio::test]
async fn unreadable_probe_is_omitted_and_removable() {
    for_each_engine(async |home| {
        a_full_one(home).await;
        let sound = a_probe(2, "arn", &[Region::FlyArn, Region::FlyBom]);
        home.store.probes().create(sound, token("b"), author(5)).await.unwrap();
        home.execute("UPDATE probe_regions SET region = 'mars' WHERE region = 'fly-ams'").await;
        assert_eq!(names(home).await, ["arn"]);
        let now = Timestamp::from_millis(0);
        let alone = home.store.probes().find_for_auth(token("first"), now).await;
        assert!(matches!(alone, Err(StoreError::Corrupt { .. })), "{alone:?}");
        let doctor = home.store.doctor();
        let found = doctor.examine().await.unwrap();
        let damaged: Vec<_> = found.iter().map(|row| (row.table.as_str(), &row.key)).collect();
        assert_eq!(damaged, [("probes", &probe_id(1).to_string())]);
        assert_eq!(found[0].columns["name"], "ams");

        let changed = home.store.probes().changed();
        let before = *changed.borrow();
        doctor.remove("probes", &probe_id(1).to_string()).await.unwrap();
        assert_eq!(doctor.examine().await.unwrap(), []);
        assert_eq!(home.count("probe_regions").await, 2);
        assert_eq!(*changed.borrow(), before + 1, "the server learns of it");
    })
    .await;
}

#[tokio::test]
async fn suspicion_ends_with_its_probe() {
    for_each_engine(async |home| {
        let probe = a_full_one(home).await;
        let (name, suspect) = a_suspicion(home).await;
        let all = async || home.store.probe_suspicions().all().await.unwrap();
        assert_eq!(all().await, [(name.clone(), suspect)]);
        let trust = ProbeTrust::TrustedSince(instant(9));
        let ended = StoredSuspicion { suspicion: None, trust, changed_at: instant(9) };
        let suspicions = vec![(name.clone(), ended)];
        home.commit(Batch { suspicions, ..Batch::default() }).await.unwrap();
        assert_eq!(all().await, [(name, ended)]);
        home.store.probes().delete(probe.id, author(9)).await.unwrap();
        assert_eq!(all().await, []);
    })
    .await;
}

#[tokio::test]
async fn unreadable_suspicion_is_omitted_and_removable() {
    for_each_engine(async |home| {
        a_suspicion(home).await;
        home.execute("UPDATE probe_suspicions SET state = '{}'").await;
        assert_eq!(home.store.probe_suspicions().all().await.unwrap(), []);
        let doctor = home.store.doctor();
        let found = doctor.examine().await.unwrap();
        let damaged: Vec<_> = found.iter().map(|row| (row.table.as_str(), &*row.key)).collect();
        assert_eq!(damaged, [("probe_suspicions", "ams")]);
        doctor.remove("probe_suspicions", "ams").await.unwrap();
        assert_eq!(doctor.examine().await.unwrap(), []);
    })
    .await;
}
