//! Opens the store of a data folder: finishes an interrupted restore, takes the locks, migrates the
//! database, and decides whether a missing or empty database may be served.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use rules::Secret;
use tokio::sync::watch;

use crate::access_versions::AccessVersions;
use crate::db;
use crate::engine::{Engine, Owner};
use crate::generations::Generations;
use crate::latest_successes::LatestSuccesses;
use crate::marker::Marker;
use crate::migrate::{self, MIGRATIONS};
use crate::outbox_cache::{Listener, OutboxCache};
use crate::quarantine::Quarantine;
use crate::recent_index::RecentIndex;
use crate::store::Inner;
use crate::vault::{Vault, check_master_key, unlock_vault};
use crate::writer::{Session, Writer};
use crate::{
    Settings, Store, StoreError, data_dir, restore, result_rows, signing_secrets, workspaces,
};

/// Treatment of a missing or empty database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// Creates a missing database, unless the folder has held workspaces.
    Create,
    /// Rejects a missing database.
    Existing,
    /// Requires a missing or empty database, even if the folder has held workspaces.
    Fresh,
}

impl Store {
    /// Opens the store for the server that owns it, and creates the parts that are missing. Rejects
    /// a folder that has held workspaces if its database has none: see [`Self::open_fresh`].
    pub async fn open(settings: Settings) -> Result<Self, StoreError> {
        Self::open_as(settings, Opening::Create, None).await
    }

    /// Like [`Self::open`], for one of several servers that share a PostgreSQL database. `address` is
    /// where it takes the connections that the others pass on. They take over if it falls silent.
    pub async fn open_shared(settings: Settings, address: SocketAddr) -> Result<Self, StoreError> {
        Self::open_as(settings, Opening::Create, Some(address)).await
    }

    /// Opens a store that must exist. Creates nothing.
    pub async fn open_existing(settings: Settings) -> Result<Self, StoreError> {
        Self::open_as(settings, Opening::Existing, None).await
    }

    /// Opens an empty store, even in a folder that has held workspaces. Rejects a database with
    /// workspaces.
    pub async fn open_fresh(settings: Settings) -> Result<Self, StoreError> {
        Self::open_as(settings, Opening::Fresh, None).await
    }

    #[expect(clippy::too_many_lines, reason = "opens each part once, in order")]
    async fn open_as(
        settings: Settings,
        opening: Opening,
        shared_at: Option<SocketAddr>,
    ) -> Result<Self, StoreError> {
        let engine = Engine::new(&settings.database, &settings.folder)?;
        let marker = Marker::new(&settings.folder);
        if opening == Opening::Existing {
            check_exists(&settings, &engine).await?;
        }
        data_dir::create(&settings.folder)?;
        let lock = data_dir::lock(&settings.folder)?;
        restore::finish(&settings.folder)?;
        match opening {
            Opening::Create if marker.is_set() => check_not_lost(&settings, &engine).await?,
            Opening::Create | Opening::Existing | Opening::Fresh => {}
        }
        let mut db = match engine.writer().await {
            Err(held @ StoreError::DatabaseInUse { .. }) => {
                return Err(misfit(&settings, &engine).await.unwrap_or(held));
            }
            opened => opened?,
        };
        let heartbeat = match shared_at {
            Some(_) => engine.heartbeat().await,
            None => None,
        };
        if opening == Opening::Existing && migrate::is_new(&mut db).await? {
            return Err(missing(&settings));
        }
        engine.recover(&mut db).await?;
        migrate::migrate(&mut db, &settings.folder, MIGRATIONS).await?;
        let vault = Arc::new(unlock_vault(&settings.master_key, &settings.folder, &mut db).await?);
        match (workspaces::count(&mut db).await?, opening) {
            (0, Opening::Create | Opening::Existing) if marker.is_set() => {
                return Err(StoreError::Emptied { folder: settings.folder });
            }
            (0, Opening::Fresh) => marker.remove()?,
            (0, Opening::Create | Opening::Existing) => {}
            (count, Opening::Fresh) => {
                return Err(StoreError::NotFresh { folder: settings.folder, count });
            }
            (1.., Opening::Create | Opening::Existing) => marker.set()?,
        }
        let quarantine = Arc::<Quarantine>::default();
        signing_secrets::create_missing(&mut db, &vault, &quarantine).await?;
        let readers = engine.readers();
        let left_behind = result_rows::edges(&mut db).await?;
        // The last change, because its lock on the row delays standbys.
        let owner = engine.claim(&mut db, shared_at).await?;
        let number = owner.as_ref().map(Owner::number);
        let tail = RecentIndex::new(left_behind.map(|(_, last)| last), Arc::clone(&quarantine));
        db::run(&mut db, "COMMIT").await?;
        let generations = Arc::<Generations>::default();
        let outbox = Arc::<Listener>::default();
        let memory = OutboxCache::new(Arc::clone(&outbox));
        let shared = (Arc::clone(&vault), Arc::clone(&quarantine));
        let session = Session::new(db, owner, shared, lock, Arc::clone(&generations), memory);
        let writer = Writer::start(session)?;
        if let (Some(heartbeat), Some(number)) = (&heartbeat, number) {
            heartbeat.confirm(number, writer.taken_over(), writer.is_running());
        }
        let (page_changes, probe_changes) = (watch::Sender::new(0), watch::Sender::new(0));
        let accesses = AccessVersions::default();
        Ok(Self::new(Inner {
            writer,
            heartbeat,
            readers,
            reads: AtomicU64::new(0),
            vault,
            recent_index: tail,
            successes: LatestSuccesses::new(&settings.folder),
            generations,
            outbox,
            page_changes,
            probe_changes,
            subject_watches: Arc::default(),
            access_versions: accesses,
            plans: std::sync::OnceLock::new(),
            marker,
            quarantine,
        }))
    }
}

impl Settings {
    /// Returns the key with which servers that share this database recognise each other, derived from the
    /// master key. The master key must exist.
    pub fn replica_key(&self) -> Result<Secret<[u8; 32]>, StoreError> {
        let key = self.master_key.key(&self.folder, true)?;
        Ok(Vault::new(&key).replicas())
    }
}

/// Rejects a database that does not exist, before any part of it is created.
async fn check_exists(settings: &Settings, engine: &Engine) -> Result<(), StoreError> {
    // An interrupted restore may have moved the database away; opening moves it back.
    if restore::is_under_way(&settings.folder) || engine.exists().await? {
        Ok(())
    } else {
        Err(missing(settings))
    }
}

/// Returns why this server could not use a database that another one holds even if that ended: the
/// other one's master key or version differs.
async fn misfit(settings: &Settings, engine: &Engine) -> Option<StoreError> {
    let readers = engine.readers();
    let checked = async {
        let mut db = readers.acquire().await?;
        migrate::check(&mut db, MIGRATIONS).await?;
        check_master_key(&settings.master_key, &settings.folder, &mut db).await
    };
    let checked = checked.await;
    readers.close().await;
    checked.err().filter(|why| {
        matches!(
            why,
            StoreError::WrongMasterKey
                | StoreError::KeyFile { .. }
                | StoreError::NewerDatabase { .. }
                | StoreError::ChangedMigration { .. }
        )
    })
}

/// Rejects a missing database if the folder has held workspaces.
async fn check_not_lost(settings: &Settings, engine: &Engine) -> Result<(), StoreError> {
    if engine.exists().await? {
        Ok(())
    } else {
        Err(StoreError::Emptied { folder: settings.folder.clone() })
    }
}

fn missing(settings: &Settings) -> StoreError {
    StoreError::NoDatabase {
        place: settings.database.location(&settings.folder),
        folder: settings.folder.clone(),
    }
}
