//! Signing secrets: a workspace always has one, rotations overlap, and secrets survive restarts and
//! transfers.

use std::time::Duration;

use rules::{SigningSecretId, limits};
use store::{Database, MasterKeySource, Rotated, Store, restore, transfer};

use crate::harness::{Engine, Home, a_workspace, at, for_each_engine, instant, open, workspace_id};

const DAY: Duration = Duration::from_hours(24);
const DAY_MILLIS: i64 = 24 * 3_600_000;

/// Returns the secrets that sign at this time, newest first.
async fn signing(store: &Store, millis: i64) -> Vec<Vec<u8>> {
    let secrets = store.signing_secrets().active(workspace_id(1), instant(millis)).await.unwrap();
    secrets.iter().map(|secret| secret.expose().clone()).collect()
}

async fn rotate(home: &Home, number: u64, overlap: Duration, millis: i64) -> Rotated {
    let new = SigningSecretId::from_bits(number);
    home.store.signing_secrets().rotate(home.workspace, new, overlap, at(millis)).await.unwrap()
}

// issue 6, point 6: "made with the workspace"
#[tokio::test]
async fn new_workspace_has_its_own_secret() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let first = signing(&home.store, 0).await;
        let other = home.store.signing_secrets().active(workspace_id(2), instant(0)).await.unwrap();
        assert_eq!((first.len(), first[0].len(), other.len()), (1, 32, 1));
        assert_ne!(&first[0], other[0].expose());
        let listed = home.store.signing_secrets().list(home.workspace, instant(0)).await.unwrap();
        assert_eq!(listed.len(), 1);
        assert_eq!((listed[0].created_at, listed[0].expires_at), (instant(0), None));
    })
    .await;
}

// issue 6, point 6: "existing ones get theirs by migration"
#[tokio::test]
async fn opening_the_store_creates_missing_secrets() {
    for_each_engine(async |home| {
        home.store.clone().close().await.unwrap();
        home.execute("DELETE FROM signing_secrets").await;
        let store = open(home.settings()).await;
        let secrets = signing(&store, 0).await;
        assert_eq!(secrets.len(), 1);
        store.close().await.unwrap();
        let store = open(home.settings()).await;
        assert_eq!(signing(&store, 0).await, secrets, "only one secret is created");
        store.close().await.unwrap();
    })
    .await;
}

// issue 6, point 6: "shown once when rotated, with an overlap"
#[tokio::test]
async fn previous_secret_signs_until_the_overlap_ends() {
    for_each_engine(async |home| {
        let old = signing(&home.store, 0).await;
        let rotated = rotate(home, 10, DAY, 1_000).await;
        let new = rotated.secret.expose().clone();
        let ends: Vec<_> = rotated.signing.iter().map(|secret| secret.expires_at).collect();
        assert_eq!(ends, [None, Some(instant(1_000) + DAY)]);
        assert_eq!(signing(&home.store, DAY_MILLIS).await, [new.clone(), old[0].clone()]);
        let after = DAY_MILLIS + 1_000;
        assert_eq!(signing(&home.store, after).await, [new]);
        let pruned = home.store.retention().records(instant(after)).await.unwrap();
        assert_eq!(pruned.signing_secrets, 1);
        assert_eq!(home.count("signing_secrets").await, 1);
        let audit = home.store.audit().newest(home.workspace, 1).await.unwrap();
        let note = (audit[0].action.as_str(), audit[0].detail.as_str());
        assert_eq!(note, ("signing_secret.rotate", "the one before signs for 24 h"));
    })
    .await;
}

#[tokio::test]
async fn rotation_without_overlap_ends_previous_secrets() {
    for_each_engine(async |home| {
        rotate(home, 10, DAY, 1_000).await;
        let new = rotate(home, 11, Duration::ZERO, 2_000).await;
        assert_eq!(new.signing.len(), 1);
        assert_eq!(signing(&home.store, 2_000).await, [new.secret.expose().clone()]);
        assert_eq!(home.count("signing_secrets").await, 1);
    })
    .await;
}

#[tokio::test]
async fn second_rotation_does_not_extend_earlier_overlaps() {
    for_each_engine(async |home| {
        rotate(home, 10, DAY, 0).await;
        let again = rotate(home, 11, 7 * DAY, 1_000).await;
        let ends: Vec<_> = again.signing.iter().map(|secret| secret.expires_at).collect();
        assert_eq!(ends, [None, Some(instant(1_000) + 7 * DAY), Some(instant(0) + DAY)]);
    })
    .await;
}

#[tokio::test]
async fn number_of_signing_secrets_is_limited() {
    for_each_engine(async |home| {
        for number in 10..20 {
            let rotated = rotate(home, number, DAY, number as i64).await;
            assert!(rotated.signing.len() <= limits::SIGNING_SECRETS_MAX as usize);
            assert_eq!(rotated.signing[0].id, SigningSecretId::from_bits(number));
        }
        let signing = home.store.signing_secrets().list(home.workspace, instant(20)).await;
        let ids: Vec<_> = signing.unwrap().iter().map(|secret| secret.id.bits()).collect();
        assert_eq!(ids, [19, 18, 17, 16, 15], "those with the earliest expiry are deleted");
    })
    .await;
}

#[tokio::test]
async fn rotation_of_unknown_workspace_fails() {
    for_each_engine(async |home| {
        let new = SigningSecretId::from_bits(10);
        let secrets = home.store.signing_secrets();
        secrets.rotate(workspace_id(9), new, DAY, at(0)).await.unwrap_err();
        assert_eq!(home.count("signing_secrets").await, 1);
    })
    .await;
}

#[tokio::test]
async fn restart_keeps_secrets() {
    for_each_engine(async |home| {
        rotate(home, 10, DAY, 1_000).await;
        let before = signing(&home.store, 2_000).await;
        home.store.clone().close().await.unwrap();
        let store = open(home.settings()).await;
        assert_eq!(signing(&store, 2_000).await, before);
        store.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn backup_and_transfer_keep_secrets() {
    let home = Home::new(Engine::Sqlite).await;
    rotate(&home, 10, DAY, 1_000).await;
    let before = signing(&home.store, 2_000).await;
    let copy = home.folder.path().join("copy.db");
    home.store.back_up(&copy).await.unwrap();
    rotate(&home, 11, Duration::ZERO, 2_000).await;
    home.store.clone().close().await.unwrap();

    restore(&home.settings(), &copy).await.unwrap();
    let store = open(home.settings()).await;
    assert_eq!(signing(&store, 2_000).await, before, "after a restore");
    store.close().await.unwrap();

    let there = Engine::Postgres.database();
    let (folder, key) = (home.folder.path(), &MasterKeySource::File);
    transfer(folder, key, Database::Embedded, there.clone()).await.unwrap();
    let store = open(store::Settings { database: there, ..home.settings() }).await;
    assert_eq!(signing(&store, 2_000).await, before, "after a transfer");
    store.close().await.unwrap();
}
