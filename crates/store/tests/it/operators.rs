//! Workspaces of the operator: which they are, who may change probes, and where changes are recorded.

use rules::{ProbeId, Region, WorkspaceId};
use store::{
    Actor, AuditContext, KeyHash, NewProbe, NewProbeToken, OperatorContext, ProbeOwner, StoreError,
    WorkspaceEdit,
};

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, workspace_id};

const PROBE: ProbeId = ProbeId::from_bits(7);

fn a_probe(name: &str, region: Region) -> NewProbe {
    let owner = ProbeOwner::Operator;
    NewProbe { id: PROBE, owner, name: name.to_owned(), regions: vec![region] }
}

fn by_key(workspace: WorkspaceId, millis: i64) -> OperatorContext {
    let actor = Actor::Key(rules::KeyId::from_bits(3));
    OperatorContext::in_workspace(workspace, AuditContext::new(actor, instant(millis)))
}

async fn operators(home: &Home, numbers: &[u64]) -> Vec<u64> {
    let mut found = Vec::new();
    for number in numbers {
        let workspace = workspace_id(*number);
        if home.store.workspaces().is_operator(workspace).await.unwrap() {
            found.push(*number);
        }
    }
    found
}

async fn probe_entries(home: &Home, workspace: WorkspaceId) -> Vec<String> {
    let entries = home.store.audit().newest(workspace, 20).await.unwrap();
    let of_probes = entries.into_iter().filter(|entry| entry.action.starts_with("probe."));
    of_probes.map(|it| format!("{} {} {}", it.actor, it.action, it.detail)).collect()
}

#[tokio::test]
async fn first_workspace_is_the_operators() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        workspaces.create(a_workspace(2), at(1)).await.unwrap();
        assert_eq!(operators(home, &[1, 2, 3]).await, [1]);
        workspaces.edit(workspace_id(2), WorkspaceEdit::Operator(true), at(2)).await.unwrap();
        workspaces.edit(workspace_id(1), WorkspaceEdit::Operator(false), at(2)).await.unwrap();
        assert_eq!(operators(home, &[1, 2, 3]).await, [2]);
        workspaces.edit(workspace_id(2), WorkspaceEdit::Delete, at(3)).await.unwrap();
        workspaces.create(a_workspace(3), at(4)).await.unwrap();
        let left = operators(home, &[1, 2, 3]).await;
        assert_eq!(left, Vec::<u64>::new(), "a deletion makes nobody the operator");
    })
    .await;
}

#[tokio::test]
async fn only_the_operator_changes_probes() {
    for_each_engine(async |home| {
        let other = workspace_id(2);
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let probes = home.store.probes();
        let token = KeyHash::new("first");
        let rotation = NewProbeToken { token, previous_until: instant(9) };
        let new = a_probe("ams", Region::FlyAms);
        let refused = probes.create(new.clone(), token, by_key(other, 2)).await;
        assert!(matches!(refused, Err(StoreError::OperatorRequired)), "{refused:?}");
        probes.create(new.clone(), token, by_key(home.workspace, 2)).await.unwrap();
        for refused in [
            probes.rotate(PROBE, rotation, by_key(other, 3)).await,
            probes.delete(PROBE, by_key(other, 3)).await,
        ] {
            assert!(matches!(refused, Err(StoreError::OperatorRequired)), "{refused:?}");
        }
        probes.rotate(PROBE, rotation, by_key(home.workspace, 3)).await.unwrap();
        probes.delete(PROBE, by_key(home.workspace, 4)).await.unwrap();
        let key = "key_0000000000003";
        let expected = ["delete", "rotate_token", "create"];
        let expected = expected.map(|action| format!("{key} probe.{action} ams"));
        assert_eq!(probe_entries(home, home.workspace).await, expected);
        assert_eq!(probe_entries(home, other).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn each_operators_workspace_records_the_change() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        for number in [2, 3] {
            workspaces.create(a_workspace(number), at(1)).await.unwrap();
            let id = workspace_id(number);
            workspaces.edit(id, WorkspaceEdit::Operator(true), at(2)).await.unwrap();
        }
        let deletion = WorkspaceEdit::ScheduleDeletion(instant(99));
        workspaces.edit(workspace_id(3), deletion, at(3)).await.unwrap();
        let probes = home.store.probes();
        let author = OperatorContext::of_server(at(4));
        let token = KeyHash::new("first");
        probes.create(a_probe("ams", Region::FlyAms), token, author).await.unwrap();
        for workspace in [home.workspace, workspace_id(2)] {
            assert_eq!(probe_entries(home, workspace).await, ["command line probe.create ams"]);
        }
        let resting = probe_entries(home, workspace_id(3)).await;
        assert_eq!(resting, Vec::<String>::new(), "a workspace that rests records nothing");
        let refused = probes.delete(PROBE, by_key(workspace_id(3), 5)).await;
        assert!(matches!(refused, Err(StoreError::DeletionScheduled)), "{refused:?}");
    })
    .await;
}

// issue 19, point 1: "A workspace may register private regions"
#[tokio::test]
async fn only_the_owner_changes_private_probes() {
    for_each_engine(async |home| {
        let [operator, owner, other] = [1, 2, 3].map(workspace_id);
        for number in [2, 3] {
            home.store.workspaces().create(a_workspace(number), at(1)).await.unwrap();
        }
        let probes = home.store.probes();
        let [first, second] = ["first", "second"].map(KeyHash::new);
        let rotation = NewProbeToken { token: second, previous_until: instant(9) };
        let new =
            NewProbe { owner: ProbeOwner::Workspace(owner), ..a_probe("office", Region::Private1) };
        for stranger in [operator, other] {
            let refused = probes.create(new.clone(), first, by_key(stranger, 2)).await;
            assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        }
        probes.create(new.clone(), first, by_key(owner, 2)).await.unwrap();
        for stranger in [operator, other] {
            for refused in [
                probes.rotate(PROBE, rotation, by_key(stranger, 3)).await,
                probes.delete(PROBE, by_key(stranger, 3)).await,
            ] {
                assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
            }
        }
        let same = NewProbe {
            id: ProbeId::from_bits(8),
            owner: ProbeOwner::Workspace(other),
            ..new.clone()
        };
        probes.create(same, KeyHash::new("third"), by_key(other, 3)).await.unwrap();
        let again = NewProbe { id: ProbeId::from_bits(9), name: "again".to_owned(), ..new };
        let refused = probes.create(again, KeyHash::new("fourth"), by_key(owner, 3)).await;
        assert!(matches!(refused, Err(StoreError::RegionServed { .. })), "{refused:?}");
        probes.rotate(PROBE, rotation, by_key(owner, 3)).await.unwrap();
        probes.delete(PROBE, by_key(owner, 4)).await.unwrap();
        let expected = ["delete", "rotate_token", "create"];
        let expected = expected.map(|action| format!("key_0000000000003 probe.{action} office"));
        assert_eq!(probe_entries(home, owner).await, expected);
        assert_eq!(probe_entries(home, operator).await, Vec::<String>::new());
        let left = probes.list().await.unwrap();
        let owners: Vec<ProbeOwner> = left.iter().map(|probe| probe.owner).collect();
        assert_eq!(owners, [ProbeOwner::Workspace(other)], "names and regions repeat");
    })
    .await;
}
