//! Migrations: embedded, forward only, each applied once. All pending migrations are one
//! transaction, which `Store::open` commits. A SQLite file is copied before an existing database
//! changes. For PostgreSQL, the operator makes a backup.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use sha2::{Digest, Sha256};
use sqlx::AssertSqlSafe;

use crate::db::{self, Connection, query};
use crate::{StoreError, data_dir, engine};

/// Migration of the schema.
pub(crate) struct Migration {
    pub(crate) version: i64,
    pub(crate) sqlite: &'static str,
    pub(crate) postgres: &'static str,
}

/// Creates a migration from the files with its name, one for each engine.
macro_rules! migration {
    ($version:literal, $file:literal) => {
        Migration {
            version: $version,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file)),
            postgres: include_str!(concat!("../migrations/postgres/", $file)),
        }
    };
}

/// All migrations in order. A released migration never changes, because databases hold its
/// checksum.
pub(crate) const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001_first.sql"),
    migration!(2, "0002_history.sql"),
    migration!(3, "0003_channels.sql"),
    migration!(4, "0004_status_pages.sql"),
    migration!(5, "0005_outbox.sql"),
    migration!(6, "0006_incidents.sql"),
    migration!(7, "0007_maintenance.sql"),
    migration!(8, "0008_channel_wishes.sql"),
    migration!(9, "0009_reports.sql"),
    migration!(10, "0010_subscribers.sql"),
    migration!(11, "0011_certificates.sql"),
    migration!(12, "0012_page_indexing.sql"),
    migration!(13, "0013_subscriber_access.sql"),
    migration!(14, "0014_recent_results.sql"),
    migration!(25, "0025_idempotent_requests.sql"),
    migration!(26, "0026_unreadable_rows.sql"),
    migration!(27, "0027_deleted_workspaces.sql"),
    migration!(28, "0028_this_server.sql"),
    migration!(29, "0029_missed_and_audit.sql"),
    migration!(30, "0030_field_terms.sql"),
    migration!(31, "0031_probe_suspect.sql"),
    migration!(32, "0032_recipients.sql"),
    migration!(33, "0033_users.sql"),
    migration!(34, "0034_monitor_tags.sql"),
    migration!(35, "0035_sign_in.sql"),
    migration!(36, "0036_members.sql"),
    migration!(37, "0037_uptime_reports.sql"),
    migration!(38, "0038_verified_addresses.sql"),
    migration!(39, "0039_probes.sql"),
    migration!(40, "0040_uptime_targets.sql"),
    migration!(41, "0041_operators.sql"),
    migration!(42, "0042_probe_suspicions.sql"),
    migration!(43, "0043_private_regions.sql"),
    migration!(44, "0044_result_days.sql"),
    migration!(45, "0045_replicas.sql"),
    migration!(46, "0046_configurations.sql"),
    migration!(47, "0047_heartbeats.sql"),
];

impl Migration {
    const fn sql(&self, db: &Connection) -> &'static str {
        if db.is_embedded() { self.sqlite } else { self.postgres }
    }
}

/// Applies the pending migrations in a transaction that it begins and leaves open. The caller
/// commits it together with its own changes, or drops the connection to roll back.
pub(crate) async fn migrate(
    db: &mut Connection,
    folder: &Path,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let applied = applied(db).await?;
    refuse_foreign(db, &applied, migrations)?;
    let at = applied.last().map_or(0, |(version, _)| *version);
    let known = newest(migrations);
    if 0 < at && at < known {
        copy_before(db, folder, known).await?;
    }
    let begin = engine::begin_statement(db);
    db::run(db, begin).await?;
    if at == known {
        return Ok(());
    }
    run(db, migrations.iter().filter(|migration| migration.version > at)).await
}

/// Rejects a database that a newer or another program migrated.
pub(crate) async fn check(db: &mut Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    let applied = applied(db).await?;
    refuse_foreign(db, &applied, migrations)
}

/// Returns whether no migration was ever applied. Such a database counts as missing.
pub(crate) async fn is_new(db: &mut Connection) -> Result<bool, StoreError> {
    Ok(applied(db).await?.is_empty())
}

fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

/// Returns the versions and checksums of the applied migrations, in order.
async fn applied(db: &mut Connection) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
    let table = if db.is_embedded() {
        "SELECT 1 FROM sqlite_schema WHERE name = 'migrations'"
    } else {
        "SELECT 1 FROM pg_tables WHERE schemaname = 'aloft' AND tablename = 'migrations'"
    };
    if query(table).fetch_optional(db).await?.is_none() {
        return Ok(Vec::new());
    }
    let rows =
        query("SELECT version, checksum FROM migrations ORDER BY version").fetch_all(db).await?;
    rows.iter().map(|row| Ok((row.try_get("version")?, row.try_get("checksum")?))).collect()
}

fn refuse_foreign(
    db: &Connection,
    applied: &[(i64, Vec<u8>)],
    known: &[Migration],
) -> Result<(), StoreError> {
    if let Some((found, _)) = applied.last()
        && *found > newest(known)
    {
        return Err(StoreError::NewerDatabase { found: *found, known: newest(known) });
    }
    for (version, checksum) in applied {
        let same = known
            .iter()
            .find(|migration| migration.version == *version)
            .is_some_and(|migration| checksum_of(migration.sql(db)) == *checksum);
        if !same {
            return Err(StoreError::ChangedMigration { version: *version });
        }
    }
    Ok(())
}

async fn run(
    db: &mut Connection,
    pending: impl Iterator<Item = &Migration>,
) -> Result<(), StoreError> {
    let table = if db.is_embedded() {
        "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, \
         checksum BLOB NOT NULL) STRICT"
    } else {
        "CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, \
         checksum BYTEA NOT NULL)"
    };
    db::run(db, table).await?;
    for migration in pending {
        let sql = migration.sql(db);
        db::run(db, AssertSqlSafe(sql)).await?;
        query("INSERT INTO migrations (version, checksum) VALUES ($1, $2)")
            .bind(migration.version)
            .bind(checksum_of(sql))
            .execute(db)
            .await?;
    }
    Ok(())
}

/// Copies the database to a file beside it, so that the operator can go back. Replaces the copy of
/// an earlier attempt.
async fn copy_before(db: &mut Connection, folder: &Path, version: i64) -> Result<(), StoreError> {
    if !db.is_embedded() {
        tracing::warn!(
            "migrating PostgreSQL to version {version} without a copy; use your latest pg_dump to go back"
        );
        return Ok(());
    }
    let copy = folder.join(format!("{}.before-{version}", engine::DATABASE_FILE));
    if copy.exists() {
        fs::remove_file(&copy).map_err(data_dir::at(&copy))?;
    }
    query("VACUUM INTO $1").bind(copy.to_string_lossy().into_owned()).execute(db).await?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o600)).map_err(data_dir::at(&copy))
}

fn checksum_of(sql: &str) -> Vec<u8> {
    Sha256::digest(sql).to_vec()
}

#[cfg(test)]
mod tests {
    use rules::{MonitorId, Secret, Timestamp, WorkspaceId};

    use super::*;
    use crate::engine::Engine;
    use crate::{Database, MasterKeySource, Settings, Store, vault};

    const FIRST: Migration = step(1, "CREATE TABLE a (x INTEGER)");
    const SECOND: Migration = step(2, "ALTER TABLE a ADD COLUMN y INTEGER");
    const BROKEN: Migration = step(2, "CREATE TABLE b (x INTEGER); NONSENSE");

    const fn step(version: i64, sql: &'static str) -> Migration {
        Migration { version, sqlite: sql, postgres: sql }
    }

    async fn database(folder: &Path) -> Connection {
        Engine::Sqlite(folder.to_owned()).writer().await.unwrap()
    }

    /// As in `Store::open`: the transaction is committed, or its connection dropped.
    async fn migrated(
        db: &mut Connection,
        folder: &Path,
        migrations: &[Migration],
    ) -> Result<(), StoreError> {
        migrate(db, folder, migrations).await?;
        Ok(db::run(db, "COMMIT").await?)
    }

    #[tokio::test]
    async fn migrating_an_existing_database_copies_it_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = database(folder.path()).await;
        migrated(&mut db, folder.path(), &[FIRST]).await.unwrap();
        let copy = folder.path().join("aloft.db.before-2");
        assert!(!copy.exists());
        db::run(&mut db, "INSERT INTO a VALUES (7)").await.unwrap();
        migrated(&mut db, folder.path(), &[FIRST, SECOND]).await.unwrap();
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);

        let beside = tempfile::tempdir().unwrap();
        fs::copy(&copy, engine::database_path(beside.path())).unwrap();
        let mut old = database(beside.path()).await;
        migrated(&mut old, beside.path(), &[FIRST]).await.unwrap();
        let kept: Option<i64> = query("SELECT x FROM a").scalar(&mut old).await.unwrap();
        assert_eq!(kept, Some(7));
    }

    #[test]
    fn versions_have_no_gap() {
        // The numbers 15 to 24 are not used.
        let expected = (1..=14).chain(25..);
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, expected.take(MIGRATIONS.len()).collect::<Vec<_>>());
    }

    // issue 4: "A test upgrades a database written by the release tag before"
    #[tokio::test]
    async fn database_of_first_schema_is_readable() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            folder: folder.path().to_owned(),
            database: Database::Embedded,
            master_key: MasterKeySource::Bytes(Secret::new([7; 32])),
        };
        let mut db = database(folder.path()).await;
        migrate(&mut db, folder.path(), &MIGRATIONS[..1]).await.unwrap();
        vault::unlock_vault(&settings.master_key, &settings.folder, &mut db).await.unwrap();
        let id = MonitorId::from_bits(1);
        let rows = format!(
            "INSERT INTO workspaces VALUES ('{0}', 'acme', 'Acme', 'free', 5); \
             INSERT INTO monitors VALUES (1, '{id}', '{0}', 1, 'tcp', 'db', '1m', 45000, NULL, 3, \
             0, 0, NULL, '', NULL, 5, 5, 9); \
             INSERT INTO probes VALUES (1, 'embedded'); \
             INSERT INTO results VALUES (60000, 1, 0, 0, 1, 0, 12, 9000, 200, 1, 1, NULL); COMMIT",
            WorkspaceId::from_bits(1)
        );
        db::run(&mut db, AssertSqlSafe(rows)).await.unwrap();
        db.close().await.unwrap();

        let store = Store::open(settings).await.unwrap();
        let copy = format!("aloft.db.before-{}", newest(MIGRATIONS));
        assert!(folder.path().join(copy).exists());
        let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
        let since = Timestamp::from_millis(0);
        let results = store.results().newest(workspace, id, since, 10).await.unwrap();
        assert_eq!(results.len(), 1);
        assert_eq!((results[0].latency_us, results[0].status), (9_000, Some(200)));
        assert_eq!(results[0].probe.0.as_ref(), "this server");
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn failed_migration_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = database(folder.path()).await;
        migrated(&mut db, folder.path(), &[FIRST]).await.unwrap();
        migrated(&mut db, folder.path(), &[FIRST, BROKEN]).await.unwrap_err();
        db.close().await.unwrap();
        let mut db = database(folder.path()).await;
        migrated(&mut db, folder.path(), &[FIRST, SECOND]).await.unwrap();
    }

    #[tokio::test]
    async fn newer_or_different_database_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let mut db = database(folder.path()).await;
        migrated(&mut db, folder.path(), &[FIRST, SECOND]).await.unwrap();
        let newer = migrate(&mut db, folder.path(), &[FIRST]).await;
        assert!(matches!(newer, Err(StoreError::NewerDatabase { found: 2, known: 1 })));
        let other = migrate(&mut db, folder.path(), &[FIRST, BROKEN]).await;
        assert!(matches!(other, Err(StoreError::ChangedMigration { version: 2 })));
    }
}
