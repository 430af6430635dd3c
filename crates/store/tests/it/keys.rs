//! API keys: found by their hash, scopes read back equal, revoked keys stay visible.

use rules::{KeyId, Role, Scope};
use store::{ApiKey, KeyDetails, KeyHash, KeyUsage, Page, Revoked, StoreError};

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, key_id, workspace_id};
use crate::members::{add, by};
use crate::users;

pub(crate) fn used(key: KeyId, at: i64, place: u8) -> KeyUsage {
    KeyUsage { key, at: instant(at), from: [192, 0, 2, place].into() }
}

pub(crate) fn a_key(home: &Home, number: u64, scope: Option<Scope>) -> ApiKey {
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

pub(crate) async fn stored(home: &Home, number: u64) -> ApiKey {
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
        let keys = home.store.keys();
        keys.record_uses(vec![used(key.id, 70, 7)]).await.unwrap();
        keys.record_uses(vec![used(key.id, 60, 6), used(key_id(8), 60, 6)]).await.unwrap();
        let used = home.store.keys().get(home.workspace, key.id).await.unwrap().last_used_at;
        assert_eq!(used, Some(instant(70)));
    })
    .await;
}

// issue 18 point 2: "last use and from where"
#[tokio::test]
async fn listed_key_names_author_and_last_use() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        let key = a_key(home, 1, Some(Scope::Read));
        home.store.keys().create(key.clone(), KeyHash::new("a"), by(1)).await.unwrap();
        home.store.keys().record_uses(vec![used(key.id, 70, 7)]).await.unwrap();
        stored(home, 2).await;
        let page = Page { limit: 1, offset: 1, after: None };
        let listed = home.store.keys().details(home.workspace, page).await.unwrap();
        let expected = KeyDetails {
            key: ApiKey { last_used_at: Some(instant(70)), ..key },
            created_by: Some("usr_0000000000001".to_owned()),
            created_by_name: Some("Jane".to_owned()),
            last_used_from: Some("192.0.2.7".to_owned()),
        };
        assert_eq!((listed.rows, listed.total), (vec![expected], 2));
    })
    .await;
}

#[tokio::test]
async fn key_of_editor_or_key_is_rejected() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        add(home, 2, Role::Editor).await;
        for actor in [by(2), by(9), crate::members::by_key(1)] {
            let refusal =
                home.store.keys().create(a_key(home, 1, None), KeyHash::new("a"), actor).await;
            assert!(matches!(refusal, Err(StoreError::RoleRequired { role: Role::Admin })));
        }
        add(home, 3, Role::Admin).await;
        home.store.keys().create(a_key(home, 1, None), KeyHash::new("a"), by(3)).await.unwrap();
    })
    .await;
}
