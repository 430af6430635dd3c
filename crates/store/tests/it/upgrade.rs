//! Upgrades of databases that older programs wrote. `upgrade/` has a dump of each engine from the
//! first migration of the main branch. No release exists yet; each future release adds a dump of
//! its tag. Later migrations are tested on rows from before them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use domain::cadence::MissedReason;
use domain::check::{Outcome, Phases, Trigger};
use rules::{ChannelId, MonitorId, PageId, Region, Secret, SubscriberId, WorkspaceId};
use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use store::{Database, MasterKeySource, MissedFilter, Settings, Store};

use crate::harness::{Engine, Home};

const FIRST_ON_SQLITE: &str = include_str!("upgrade/first.sqlite.sql");
const FIRST_ON_POSTGRES: &str = include_str!("upgrade/first.postgres.sql");
/// Key that sealed the dumps.
const KEY: [u8; 32] = [7; 32];

/// Creates a database on this engine by running these statements.
pub(crate) async fn written(engine: Engine, folder: &Path, statements: String) -> Database {
    let database = engine.database();
    let statements = AssertSqlSafe(statements);
    match &database {
        Database::Embedded => {
            let options = SqliteConnectOptions::new()
                .filename(folder.join("aloft.db"))
                .foreign_keys(false)
                .create_if_missing(true);
            let mut db = options.connect().await.unwrap();
            sqlx::raw_sql(statements).execute(&mut db).await.unwrap();
            db.close().await.unwrap();
        }
        Database::Postgres(address) => {
            let options: PgConnectOptions = address.expose().parse().unwrap();
            let mut db = options.connect().await.unwrap();
            sqlx::raw_sql(statements).execute(&mut db).await.unwrap();
            db.close().await.unwrap();
        }
    }
    database
}

/// Returns the statements of a database whose last migration is this one.
pub(crate) fn migrated_to(engine: Engine, last: u32) -> String {
    let (folder, mut statements) = match engine {
        Engine::Sqlite => {
            let table = "CREATE TABLE migrations (version INTEGER PRIMARY KEY, \
                 checksum BLOB NOT NULL) STRICT;";
            ("sqlite", table.to_owned())
        }
        Engine::Postgres => {
            let table = "CREATE SCHEMA aloft; SET search_path TO aloft; \
                 CREATE TABLE migrations (version BIGINT PRIMARY KEY, checksum BYTEA NOT NULL);";
            ("postgres", table.to_owned())
        }
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    // Numbers have gaps, so the name of a file has its version.
    let version = |file: &Path| file.file_name().unwrap().to_str().unwrap()[..4].parse().unwrap();
    let files = files.iter().map(|file| (version(file), file));
    for (version, file) in files.filter(|(version, _): &(u32, _)| *version <= last) {
        let migration = fs::read_to_string(file).unwrap();
        let mut checksum = String::new();
        for byte in Sha256::digest(&migration) {
            write!(checksum, "{byte:02x}").unwrap();
        }
        let checksum = match engine {
            Engine::Sqlite => format!("X'{checksum}'"),
            Engine::Postgres => format!("'\\x{checksum}'"),
        };
        write!(statements, "{migration}; INSERT INTO migrations VALUES ({version}, {checksum});")
            .unwrap();
    }
    statements
}

// issue 4: "A test upgrades a database written by the release tag before"
#[tokio::test]
async fn database_of_first_schema_is_readable() {
    for engine in Engine::ALL {
        let folder = tempfile::tempdir().unwrap();
        let dump = match engine {
            Engine::Sqlite => FIRST_ON_SQLITE,
            Engine::Postgres => FIRST_ON_POSTGRES,
        };
        let database = written(*engine, folder.path(), dump.to_owned()).await;
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
        let all = MissedFilter::default();
        let missed = store.missed().list(workspace, monitor, &all, None, 10).await.unwrap().ranges;
        assert_eq!((missed[0].count, missed[0].reason), (2, MissedReason::Unknown), "{engine:?}");
        assert_eq!(store.audit().newest(workspace, 10).await.unwrap().len(), 1);
        // Created since then: every workspace has a signing secret.
        assert_eq!(store.signing_secrets().active(workspace, since).await.unwrap().len(), 1);
        store.close().await.unwrap();
        // A migrated database opens again unchanged.
        Store::open(settings).await.unwrap().close().await.unwrap();
    }
}

/// Returns subscribers from before their origin was stored: one signed up, others were added by an
/// owner, some of them webhooks.
fn all_kinds(engine: Engine) -> String {
    let (workspace, page) = (WorkspaceId::from_bits(1), PageId::from_bits(1));
    let mut rows = format!(
        "INSERT INTO workspaces (id, slug, name, plan, created_at) \
         VALUES ('{workspace}', 'acme', 'Acme', 'free', 5); \
         INSERT INTO pages VALUES ('{page}', '{workspace}', 'Acme', 'acme', NULL, NULL, NULL, NULL, NULL, \
         NULL, NULL, NULL, '', TRUE, 'system', 5, 5, TRUE);"
    );
    let bytes = match engine {
        Engine::Sqlite => "BLOB",
        Engine::Postgres => "BYTEA",
    };
    for (number, kind, action) in [
        (1, "email", "subscriber.ask"),
        (2, "email", "subscriber.add"),
        (3, "webhook", "subscriber.add"),
        // The audit entry of this one has expired.
        (4, "webhook", "page.update"),
    ] {
        let subscriber = SubscriberId::from_bits(number);
        write!(
            rows,
            "INSERT INTO subscribers VALUES ('{subscriber}', '{workspace}', '{page}', '{kind}', \
             CAST('{number}' AS {bytes}), CAST('{number}' AS {bytes}), 'en', TRUE, TRUE, FALSE, TRUE, \
             5, 5, 5); \
             INSERT INTO audit VALUES ({number}, '{workspace}', 5, 'server', '{action}', \
             '{subscriber}', '');"
        )
        .unwrap();
    }
    rows
}

#[tokio::test]
async fn migration_restores_the_origin_of_subscribers() {
    for engine in Engine::ALL {
        let folder = tempfile::tempdir().unwrap();
        let rows = migrated_to(*engine, 12) + &all_kinds(*engine);
        let database = written(*engine, folder.path(), rows).await;
        let home = Home::at(*engine, folder, database).await;
        let who = async |condition: &str| home.count(&format!("subscribers {condition}")).await;
        assert_eq!(who("").await, 4);
        let visitor = format!("WHERE NOT by_owner AND id = '{}'", SubscriberId::from_bits(1));
        assert_eq!((who(&visitor).await, who("WHERE by_owner").await), (1, 3));
        assert_eq!(who("WHERE password_hash IS NULL AND requester_hash IS NULL").await, 4);
    }
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "old and new values of each renamed column")]
async fn migrations_rename_stored_words() {
    let (workspace, monitor) = (WorkspaceId::from_bits(1), MonitorId::from_bits(1));
    for engine in Engine::ALL {
        let bytes = match engine {
            Engine::Sqlite => "BLOB",
            Engine::Postgres => "BYTEA",
        };
        let mut rows = format!(
            "INSERT INTO workspaces (id, slug, name, plan, created_at) \
             VALUES ('{workspace}', 'acme', 'Acme', 'free', 5); \
             INSERT INTO monitors (number, id, workspace_id, revision, kind, name, periodicity, timeout_ms, \
             retry, active, public, regions, check_sealed, created_at, updated_at) \
             VALUES (1, '{monitor}', '{workspace}', 1, 'http', 'API', '30s', 45000, 3, TRUE, FALSE, \
             'fly-ams', CAST('' AS {bytes}), 5, 5); \
             INSERT INTO incidents (id, workspace_id, monitor, opened_at) VALUES ('inc_1', '{workspace}', 1, 5); \
             INSERT INTO incident_entries (number, incident, at, kind, text) \
             VALUES (1, 'inc_1', 5, 'joined', ''); "
        );
        let kinds = [
            ("page.maintenance.announced", "page.maintenance.scheduled"),
            ("page.maintenance.begun", "page.maintenance.started"),
            ("page.maintenance.over", "page.maintenance.completed"),
            ("subscriber.asked", "subscriber.confirmation_requested"),
            ("subscriber.known", "subscriber.already_subscribed"),
        ];
        let holds = [
            ("lasting", "min_duration"),
            ("maintenance", "maintenance"),
            ("quiet", "quiet_hours"),
            ("storm", "digest"),
        ];
        for (number, (old, _)) in kinds.iter().enumerate() {
            write!(
                rows,
                "INSERT INTO events (number, key, workspace_id, kind, reminder, began_at, at, sealed) \
                 VALUES ({number}, '{number}', '{workspace}', '{old}', 0, 5, 5, CAST('' AS {bytes})); "
            )
            .unwrap();
        }
        for (number, (old, _)) in holds.iter().enumerate() {
            write!(
                rows,
                "INSERT INTO deliveries (number, key, workspace_id, channel, kind, event, state, holds, \
                 open, created_at, due_at, tries) VALUES ({number}, '{number}', '{workspace}', 'chn_1', \
                 'slack', 1, 'waiting', '{old}', FALSE, 5, 5, 0); "
            )
            .unwrap();
        }
        for (number, source) in ["hour_sums", "day_sums"].iter().enumerate() {
            write!(
                rows,
                "INSERT INTO unreadable_rows VALUES ('{source}', {number}, '', CAST('' AS {bytes})); "
            )
            .unwrap();
        }
        for (number, action) in ["probe.doubt", "probe.recover"].iter().enumerate() {
            write!(
                rows,
                "INSERT INTO audit (number, workspace_id, at, actor, action, resource_id, detail) \
                 VALUES ({number}, '{workspace}', 5, 'server', '{action}', 'x', ''); "
            )
            .unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let database = written(*engine, folder.path(), migrated_to(*engine, 29) + &rows).await;
        let home = Home::at(*engine, folder, database).await;
        let expected = [
            ("events WHERE kind", kinds.map(|(_, new)| new).as_slice()),
            ("deliveries WHERE hold_reason", holds.map(|(_, new)| new).as_slice()),
            ("incident_entries WHERE kind", &["region_failed"]),
            ("unreadable_rows WHERE source", &["hour_rollups", "day_rollups"]),
            ("audit WHERE action", &["probe.suspect", "probe.recovered"]),
        ]
        .map(|(column, words)| (column, words.to_vec()));
        for (column, words) in expected {
            for word in words {
                let found = home.count(&format!("{column} = '{word}'")).await;
                assert_eq!(found, 1, "{engine:?}: {column} = {word}");
            }
        }
    }
}

#[tokio::test]
async fn migration_splits_recipients_by_kind() {
    let workspace = WorkspaceId::from_bits(1);
    let recipients = [
        ("channel", ChannelId::from_bits(1).to_string()),
        ("page", PageId::from_bits(1).to_string()),
        ("subscriber", SubscriberId::from_bits(1).to_string()),
        // A word that only resembles the identifier of a page.
        ("channel", "pages".to_owned()),
    ];
    for engine in Engine::ALL {
        let bytes = match engine {
            Engine::Sqlite => "BLOB",
            Engine::Postgres => "BYTEA",
        };
        let mut rows = format!(
            "INSERT INTO workspaces (id, slug, name, plan, created_at) \
             VALUES ('{workspace}', 'acme', 'Acme', 'free', 5); \
             INSERT INTO events (number, key, workspace_id, kind, reminder, began_at, at, sealed) \
             VALUES (1, '1', '{workspace}', 'error', 0, 5, 5, CAST('' AS {bytes})); "
        );
        for (number, (_, recipient)) in recipients.iter().enumerate() {
            write!(
                rows,
                "INSERT INTO deliveries (number, key, workspace_id, recipient, kind, event, state, \
                 is_open, created_at, due_at, attempts) VALUES ({number}, '{number}', '{workspace}', \
                 '{recipient}', 'slack', 1, 'waiting', FALSE, 5, 5, 0); "
            )
            .unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let database = written(*engine, folder.path(), migrated_to(*engine, 31) + &rows).await;
        let home = Home::at(*engine, folder, database).await;
        for (number, (kind, recipient)) in recipients.iter().enumerate() {
            let row = format!(
                "deliveries WHERE number = {number} AND recipient_kind = '{kind}' \
                 AND recipient_id = '{recipient}'"
            );
            assert_eq!(home.count(&row).await, 1, "{engine:?}: {recipient}");
        }
    }
}

#[tokio::test]
async fn migration_moves_result_rows_into_bodies() {
    for engine in Engine::ALL {
        let folder = tempfile::tempdir().unwrap();
        let no_phases = "NULL";
        let (bytes, two_phases) = match engine {
            Engine::Sqlite => ("BLOB", "X'12ac0205'"),
            Engine::Postgres => ("BYTEA", "'\\x12ac0205'"),
        };
        let (workspace, monitor) = (WorkspaceId::from_bits(1), MonitorId::from_bits(1));
        let columns = "slot, monitor, region, trigger, revision, outcome, finished_after, latency_us, \
             status, attempts, probe, phases";
        let rows = format!(
            "INSERT INTO workspaces (id, slug, name, plan, created_at) \
             VALUES ('{workspace}', 'acme', 'Acme', 'free', 5); \
             INSERT INTO monitors (number, id, workspace_id, revision, kind, name, periodicity, timeout_ms, \
             retry, active, public, regions, check_sealed, created_at, updated_at) \
             VALUES (1, '{monitor}', '{workspace}', 1, 'http', 'API', '30s', 45000, 3, TRUE, FALSE, \
             'fly-ams', CAST('' AS {bytes}), 5, 5); \
             INSERT INTO probes (number, name) VALUES (1, 'here'), (2, 'there'); \
             INSERT INTO results ({columns}) VALUES \
             (1200000, 1, 27, 2, 70000, 2, -5, 2147483647, NULL, 255, 2, {no_phases}), \
             (599999, 1, 0, 0, 1, 0, 12, 9000, 200, 1, 1, {two_phases}), \
             (599999, 1, 1, 0, 1, 3, 12, 9000, 404, 1, 1, {no_phases});"
        );
        let database = written(*engine, folder.path(), migrated_to(*engine, 13) + &rows).await;
        let home = Home::at(*engine, folder, database).await;
        let results = home.store.results();
        let since = rules::Timestamp::from_millis(0);
        let read = results.newest(workspace, monitor, since, 10).await.unwrap();
        let words: Vec<_> = read
            .iter()
            .map(|it| {
                let identity = it.identity;
                let when = (identity.slot.as_millis(), it.finished_at.as_millis());
                let which = (identity.region, identity.trigger, identity.revision, it.outcome);
                let what = (it.latency_us, it.status, it.attempts, it.probe.0.as_ref(), it.phases);
                (when, which, what)
            })
            .collect();
        let none = Phases::default();
        let some = Phases { connect_us: Some(300), transfer_us: Some(5), ..none };
        assert_eq!(
            words,
            [
                (
                    (1_200_000, 1_199_995),
                    (Region::RailwayAsiaSoutheast1, Trigger::Manual, 70_000, Outcome::Failure),
                    (i32::MAX as u32, None, 255, "there", none),
                ),
                (
                    (599_999, 600_011),
                    (Region::FlyAms, Trigger::Scheduled, 1, Outcome::Success),
                    (9_000, Some(200), 1, "here", some),
                ),
                (
                    (599_999, 600_011),
                    (Region::FlyArn, Trigger::Scheduled, 1, Outcome::Skipped),
                    (9_000, Some(404), 1, "here", none),
                ),
            ],
            "{engine:?}"
        );
        assert_eq!(home.count("recent_results").await, 2, "one row for each ten minutes");
    }
}
