//! Several servers that share a database: its owner, and standbys that wait for their turn.

use std::net::SocketAddr;
use std::sync::Arc;

use rules::Secret;
use sqlx::{Connection as _, PgConnection};
use store::{Database, DatabaseOwner, Standby, Store, StoreError};
use tempfile::TempDir;

use super::{CUT_CONNECTIONS, OWN, owners};
use crate::harness::{Engine, Home, a_workspace, at, settings_of, until};
use crate::server::{self, DatabaseGuard};

/// Servers on one database.
struct Replicas {
    address: String,
    /// Folder of each server. The first one has created the key.
    folders: [TempDir; 2],
    _guard: DatabaseGuard,
}

impl Replicas {
    fn new() -> Self {
        let (address, guard) = server::migrated_database();
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        Self { address, folders, _guard: guard }
    }

    /// Opens the database with the folder of this server.
    async fn open(&self, number: usize) -> Result<Store, StoreError> {
        let [first, second] = [0, 1].map(|it| self.folders[it].path().join("aloft.key"));
        if first.exists() && !second.exists() {
            std::fs::copy(first, second).unwrap();
        }
        let database = Database::Postgres(Secret::new(self.address.clone()));
        let settings = settings_of(&self.folders[number], &database);
        Store::open_shared(settings, address_of(number)).await
    }

    fn standby(&self, number: usize) -> Standby {
        Standby::new(&Secret::new(self.address.clone()), address_of(number)).unwrap()
    }

    async fn direct(&self) -> PgConnection {
        PgConnection::connect(&self.address).await.unwrap()
    }
}

fn address_of(number: usize) -> SocketAddr {
    ([192, 0, 2, 1 + number as u8], 9080).into()
}

#[tokio::test]
async fn standby_sees_the_owner_until_it_closes() {
    let replicas = Replicas::new();
    let mut standby = replicas.standby(1);
    assert_eq!(standby.look().await.unwrap(), DatabaseOwner::Nobody);
    let owner = replicas.open(0).await.unwrap();
    let owned = DatabaseOwner::Another { address: Some(address_of(0)) };
    assert_eq!(standby.look().await.unwrap(), owned);
    until(async || (owner.standbys() == 1).then_some(())).await;
    owner.close().await.unwrap();
    assert!(!standby.was_released());
    until(async || (standby.look().await.unwrap() == DatabaseOwner::Nobody).then_some(())).await;
}

// issue 19, point 4: a slow server cannot write once another one owns the database
#[tokio::test]
async fn silent_owner_is_replaced_and_writes_nothing_more() {
    let replicas = Replicas::new();
    let slow = replicas.open(0).await.unwrap();
    slow.workspaces().create(a_workspace(1), at(0)).await.unwrap();
    let (mut standby, mut direct) = (replicas.standby(1), replicas.direct().await);
    let next = until(async || {
        // As if it showed nothing.
        sqlx::raw_sql("UPDATE aloft.owner SET seen_at = 1").execute(&mut direct).await.unwrap();
        standby.look().await.unwrap();
        replicas.open(1).await.ok()
    })
    .await;
    let refused = slow.workspaces().create(a_workspace(2), at(1)).await;
    refused.unwrap_err();
    slow.wait_for_takeover().await;
    let refused = slow.workspaces().create(a_workspace(2), at(1)).await;
    assert!(matches!(refused, Err(StoreError::TakenOver)), "{refused:?}");
    assert_eq!(next.workspaces().list().await.unwrap(), [a_workspace(1)]);
    next.close().await.unwrap();
}

#[tokio::test]
async fn ending_a_silent_owner_renews_the_time() {
    let replicas = Replicas::new();
    let _owner = replicas.open(0).await.unwrap();
    let mut direct = replicas.direct().await;
    // A number of another owner, so that no heartbeat renews the time.
    let silence = "UPDATE aloft.owner SET number = number + 1, seen_at = 1";
    sqlx::raw_sql(silence).execute(&mut direct).await.unwrap();
    let mut standby = replicas.standby(0);
    until(async || {
        standby.look().await.unwrap();
        (owners(&mut direct).await == 0).then_some(())
    })
    .await;
    let renewed = "SELECT seen_at > 1 FROM aloft.owner";
    let is_renewed: bool = sqlx::query_scalar(renewed).fetch_one(&mut direct).await.unwrap();
    assert!(is_renewed, "another standby would end the session of the next owner");
    assert!(!standby.was_released());
}

// A restart of the database, or a connection that breaks, ends the owner's session for a moment.
#[tokio::test]
async fn owner_that_lost_its_session_stays_the_owner() {
    let replicas = Replicas::new();
    let owner = replicas.open(0).await.unwrap();
    let (mut standby, mut direct) = (replicas.standby(1), replicas.direct().await);
    standby.look().await.unwrap();
    sqlx::raw_sql(CUT_CONNECTIONS).execute(&mut direct).await.unwrap();
    let owned = DatabaseOwner::Another { address: Some(address_of(0)) };
    let create = async || owner.workspaces().create(a_workspace(2), at(1)).await.ok();
    until(async || {
        assert_eq!(until(async || standby.look().await.ok()).await, owned);
        create().await
    })
    .await;
}

#[tokio::test]
async fn owner_without_standbys_is_never_ended() {
    let home = Home::new(Engine::Postgres).await;
    let Database::Postgres(address) = &home.database else { panic!("it is PostgreSQL") };
    let mut standby = Standby::new(address, address_of(1)).unwrap();
    assert_eq!(standby.look().await.unwrap(), DatabaseOwner::Another { address: None });
    home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
    assert_eq!(home.store.standbys(), 0);
}

// issue 19, point 7: rolling upgrades, in which an older version owns the database
#[tokio::test]
async fn standby_waits_for_owner_of_older_version() {
    let (address, database) = (address_of(1), server::database());
    let mut owner = PgConnection::connect(&database).await.unwrap();
    sqlx::raw_sql(OWN).execute(&mut owner).await.unwrap();
    let mut standby = Standby::new(&Secret::new(database), address).unwrap();
    let owned = DatabaseOwner::Another { address: None };
    assert_eq!(standby.look().await.unwrap(), owned, "it has no tables yet");
    let earlier = "CREATE SCHEMA aloft; CREATE TABLE aloft.owner (one BIGINT, number BIGINT); \
        INSERT INTO aloft.owner VALUES (1, 7)";
    sqlx::raw_sql(earlier).execute(&mut owner).await.unwrap();
    assert_eq!(standby.look().await.unwrap(), owned);
    owner.close().await.unwrap();
    until(async || (standby.look().await.unwrap() == DatabaseOwner::Nobody).then_some(())).await;
}

#[tokio::test]
async fn standby_looks_again_after_a_lost_connection() {
    let replicas = Replicas::new();
    let owner = Arc::new(replicas.open(0).await.unwrap());
    let mut standby = replicas.standby(1);
    standby.look().await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name LIKE 'aloft standby %'";
    sqlx::raw_sql(cut).execute(&mut replicas.direct().await).await.unwrap();
    until(async || standby.look().await.ok()).await;
    assert!(owner.ready().await.is_ok());
}
