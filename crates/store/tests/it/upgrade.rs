//! Databases that older programs wrote are read by today's: `upgrade/` has what the first migration of
//! main wrote on each engine, as a dump. There is no release before this one; each release to come adds
//! the dump of its own tag.

use rules::{MonitorId, Secret, WorkspaceId};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use store::{Database, MasterKeySource, Settings, Store};

use crate::harness::Engine;

const FIRST_ON_SQLITE: &str = include_str!("upgrade/first.sqlite.sql");
const FIRST_ON_POSTGRES: &str = include_str!("upgrade/first.postgres.sql");
/// The key that the dumps were sealed with.
const KEY: [u8; 32] = [7; 32];

/// A database on this engine with what stands in its dump.
async fn written_by_the_first(engine: Engine, folder: &std::path::Path) -> Database {
    let database = engine.database();
    match &database {
        Database::Embedded => {
            let options = SqliteConnectOptions::new()
                .filename(folder.join("aloft.db"))
                .foreign_keys(false)
                .create_if_missing(true);
            let mut db = options.connect().await.unwrap();
            sqlx::raw_sql(FIRST_ON_SQLITE).execute(&mut db).await.unwrap();
            db.close().await.unwrap();
        }
        Database::Postgres(address) => {
            let options: PgConnectOptions = address.expose().parse().unwrap();
            let mut db = options.connect().await.unwrap();
            sqlx::raw_sql(FIRST_ON_POSTGRES).execute(&mut db).await.unwrap();
            db.close().await.unwrap();
        }
    }
    database
}

// issue 4: "A test upgrades a database written by the release tag before"
#[tokio::test]
async fn a_database_of_the_first_schema_is_read_by_todays_store_on_each_engine() {
    for engine in Engine::ALL {
        let folder = tempfile::tempdir().unwrap();
        let database = written_by_the_first(*engine, folder.path()).await;
        let settings = Settings {
            folder: folder.path().to_owned(),
            database,
            master_key: MasterKeySource::Bytes(Secret::new(KEY)),
        };
        let store = Store::open(settings.clone()).await.unwrap();
        let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
        assert_eq!(workspace, WorkspaceId::from_bits(1), "{engine:?}");
        let (monitor, since) = (MonitorId::from_bits(1), rules::Timestamp::from_millis(0));
        let results = store.results().newest(workspace, monitor, since, 10).await.unwrap();
        assert_eq!(results.len(), 1, "{engine:?}");
        assert_eq!((results[0].latency_us, results[0].status), (9_000, Some(200)));
        let changes = store.judge_states().changes(workspace, monitor, since, 10).await.unwrap();
        assert_eq!(changes.len(), 1, "{engine:?}");
        assert_eq!(store.missed().since(workspace, monitor, since, 10).await.unwrap()[0].count, 2);
        assert_eq!(store.audit().newest(workspace, 10).await.unwrap().len(), 1);
        // Made since then: every workspace signs what it sends.
        assert_eq!(store.signing_secrets().of(workspace, since).await.unwrap().len(), 1);
        store.close().await.unwrap();
        // What was brought up to date is opened again as it is.
        Store::open(settings).await.unwrap().close().await.unwrap();
    }
}
