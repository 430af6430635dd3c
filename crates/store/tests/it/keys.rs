//! API keys: found by their hash, scopes read back equal, revoked keys stay visible.

use rules::Scope;
use store::{ApiKey, KeyHash, Revoked, StoreError};

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, key_id, workspace_id};

fn a_key(home: &Home, number: u64, scope: Option<Scope>) -> ApiKey {
    ApiKey {
        id: key_id(number),
        workspace: home.workspace,
        name: format!("key {number}"),
        scope,
        created_at: instant(5),
        expires_at: Some(instant(1_000)),
        last_used_at: None,
        revoked_at: None,
    }
}

async fn stored(home: &Home, number: u64) -> ApiKey {
    let key = a_key(home, number, Some(Scope::Read));
    let hash = KeyHash::new(&format!("secret {number}"));
    home.store.keys().create(key.clone(), hash, at(5)).await.unwrap();
    key
}

#[tokio::test]
async fn key_is_found_by_hash_with_its_workspace() {
    for_each_engine(async |home| {
        // spec: §5.6, a legacy key has no scope
        for (number, scope) in [(1, Some(Scope::Read)), (2, Some(Scope::Write)), (3, None)] {
            let key = a_key(home, number, scope);
            let hash = KeyHash::new(&format!("secret {number}"));
            home.store.keys().create(key.clone(), hash, at(5)).await.unwrap();
            let found = home.store.keys().find_for_auth(hash).await.unwrap();
            assert_eq!(found, Some((key, a_workspace(1))));
        }
        let unknown = home.store.keys().find_for_auth(KeyHash::new("secret 4")).await.unwrap();
        assert_eq!(unknown, None);
        let names: Vec<String> = home
            .store
            .keys()
            .list(home.workspace)
            .await
            .unwrap()
            .into_iter()
            .map(|key| key.name)
            .collect();
        assert_eq!(names, ["key 3", "key 2", "key 1"]);
    })
    .await;
}

#[tokio::test]
async fn revoked_key_stays_visible_in_its_workspace() {
    for_each_engine(async |home| {
        let key = stored(home, 1).await;
        let keys = home.store.keys();
        assert_eq!(keys.revoke(home.workspace, key.id, at(9)).await.unwrap(), Revoked::Now);
        assert_eq!(keys.revoke(home.workspace, key.id, at(10)).await.unwrap(), Revoked::Before);
        let revoked = ApiKey { revoked_at: Some(instant(9)), ..key };
        assert_eq!(keys.get(home.workspace, revoked.id).await.unwrap(), revoked);
        let (found, _) = keys.find_for_auth(KeyHash::new("secret 1")).await.unwrap().unwrap();
        assert_eq!(found, revoked);
    })
    .await;
}

#[tokio::test]
async fn key_of_other_workspace_is_not_found() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let key = stored(home, 1).await;
        let revocation = home.store.keys().revoke(workspace_id(2), key.id, at(9)).await;
        assert!(matches!(revocation, Err(StoreError::NotFound { what: "key", .. })));
        let looked_up = home.store.keys().get(workspace_id(2), key.id).await;
        assert!(matches!(looked_up, Err(StoreError::NotFound { what: "key", .. })));
        assert_eq!(home.store.keys().get(home.workspace, key.id).await.unwrap().revoked_at, None);
    })
    .await;
}

#[tokio::test]
async fn key_of_unknown_workspace_is_rejected() {
    for_each_engine(async |home| {
        let key = ApiKey { workspace: workspace_id(9), ..a_key(home, 1, None) };
        let refusal = home.store.keys().create(key, KeyHash::new("x"), at(1)).await;
        assert!(matches!(refusal, Err(StoreError::NotFound { what: "workspace", .. })));
    })
    .await;
}

#[tokio::test]
async fn last_use_never_moves_backward() {
    for_each_engine(async |home| {
        let key = stored(home, 1).await;
        home.store.keys().record_use(vec![(key.id, instant(70))]).await.unwrap();
        home.store
            .keys()
            .record_use(vec![(key.id, instant(60)), (key_id(8), instant(60))])
            .await
            .unwrap();
        let used = home.store.keys().get(home.workspace, key.id).await.unwrap().last_used_at;
        assert_eq!(used, Some(instant(70)));
    })
    .await;
}
