//! Test fixture: a home (an engine, a data folder, an open store with one workspace), and builders
//! for monitors, results and judge states.

use std::sync::Arc;
use std::time::Duration;

use domain::check::{
    AttemptEvidence, CheckResult, Evidence, Outcome, Phases, ProbeName, ResultKey, Trigger,
};
use domain::judge::{JudgeState, RegionState};
use rules::monitor::{Check, ClientKey, Header, HttpCheck, Monitor, MonitorSettings, TcpCheck};
use rules::{
    KeyId, MonitorId, MonitorStatus, Periodicity, Region, Secret, Tag, Timestamp, WorkspaceId,
};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use store::{
    Actor, AuditContext, Batch, Committed, Created, Database, FREE_PLAN, MasterKeySource,
    NewMonitor, Settings, Store, StoreError, Workspace,
};
use tempfile::TempDir;

use crate::migrated;
use crate::server::{self, DatabaseGuard};

/// Engine that the store runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    pub(crate) const ALL: &[Self] = &[Self::Sqlite, Self::Postgres];

    /// Creates a new database on this engine.
    pub(crate) fn database(self) -> Database {
        match self {
            Self::Sqlite => Database::Embedded,
            Self::Postgres => Database::Postgres(Secret::new(server::database())),
        }
    }
}

/// Open store with one workspace.
pub(crate) struct Home {
    pub(crate) engine: Engine,
    pub(crate) store: Store,
    pub(crate) folder: TempDir,
    pub(crate) database: Database,
    pub(crate) workspace: WorkspaceId,
    /// Deletes a database of PostgreSQL after the test.
    guard: Option<DatabaseGuard>,
}

/// Runs a test on each engine, each time in a new home.
pub(crate) async fn for_each_engine(test: impl AsyncFn(&Home)) {
    for engine in Engine::ALL {
        test(&Home::new(*engine).await).await;
    }
}

impl Drop for Home {
    /// Prints the engine of a failed test.
    #[expect(clippy::print_stderr, reason = "libtest shows it beside the failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed on {:?}", self.engine);
        }
    }
}

impl Home {
    pub(crate) async fn new(engine: Engine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (database, guard) = match engine {
            Engine::Sqlite => {
                migrated::create_folder(folder.path());
                (Database::Embedded, None)
            }
            Engine::Postgres => {
                let (address, guard) = server::migrated_database();
                (Database::Postgres(Secret::new(address)), Some(guard))
            }
        };
        let mut home = Self::at(engine, folder, database).await;
        home.guard = guard;
        home.store.workspaces().create(a_workspace(1), at(0)).await.unwrap();
        home
    }

    /// Opens a home on an existing database.
    pub(crate) async fn at(engine: Engine, folder: TempDir, database: Database) -> Self {
        let store = open(settings_of(&folder, &database)).await;
        Self { engine, store, folder, database, workspace: workspace_id(1), guard: None }
    }

    pub(crate) async fn commit(&self, batch: Batch) -> Result<Committed, StoreError> {
        self.store.commit(Arc::new(batch)).await
    }

    /// Returns whether the database is the embedded one.
    pub(crate) fn is_embedded(&self) -> bool {
        matches!(self.database, Database::Embedded)
    }

    /// Returns settings that open the same store again.
    pub(crate) fn settings(&self) -> Settings {
        settings_of(&self.folder, &self.database)
    }

    /// Executes a statement on the database, bypassing the store.
    pub(crate) async fn execute(&self, statement: &'static str) {
        self.execute_owned(statement.to_owned()).await;
    }

    /// Like [`Self::execute`], for a generated statement.
    pub(crate) async fn execute_owned(&self, statement: String) {
        let statement = AssertSqlSafe(statement);
        match &self.database {
            Database::Embedded => {
                let path = self.folder.path().join("aloft.db");
                let mut db = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
                sqlx::raw_sql(statement).execute(&mut db).await.unwrap();
            }
            Database::Postgres(_) => {
                let mut db = self.beside().await;
                sqlx::raw_sql(statement).execute(&mut db).await.unwrap();
            }
        }
    }

    /// Counts the rows of a table that match a condition.
    pub(crate) async fn count(&self, table_and_condition: &str) -> i64 {
        let statement = AssertSqlSafe(format!("SELECT COUNT(*) FROM {table_and_condition}"));
        match &self.database {
            Database::Embedded => {
                let path = self.folder.path().join("aloft.db");
                let mut db = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
                sqlx::query_scalar(statement).fetch_one(&mut db).await.unwrap()
            }
            Database::Postgres(_) => {
                let mut db = self.beside().await;
                sqlx::query_scalar(statement).fetch_one(&mut db).await.unwrap()
            }
        }
    }

    /// Opens a second connection to PostgreSQL.
    pub(crate) async fn beside(&self) -> PgConnection {
        let Database::Postgres(address) = &self.database else {
            panic!("this test needs PostgreSQL")
        };
        let options: PgConnectOptions = address.expose().parse().unwrap();
        options.options([("search_path", "aloft")]).connect().await.unwrap()
    }

    /// Creates a monitor with a period of 30 seconds.
    pub(crate) async fn monitor(&self, number: u64) -> Monitor {
        self.monitor_with(number, settings()).await
    }

    pub(crate) async fn monitor_with(&self, number: u64, settings: MonitorSettings) -> Monitor {
        let new = NewMonitor {
            id: monitor_id(number),
            workspace: self.workspace,
            settings,
            idempotency: None,
        };
        match self.store.monitors().create(new, at(number as i64)).await.unwrap() {
            Created::Now(monitor) => monitor,
            Created::Before(monitor) => panic!("{} was created before", monitor.id),
        }
    }
}

pub(crate) async fn open(settings: Settings) -> Store {
    Store::open(settings).await.unwrap()
}

pub(crate) fn settings_of(folder: &TempDir, database: &Database) -> Settings {
    Settings {
        folder: folder.path().to_owned(),
        database: database.clone(),
        master_key: MasterKeySource::File,
    }
}

pub(crate) const fn instant(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

/// Returns a change at this time, made at the command line.
pub(crate) const fn at(millis: i64) -> AuditContext {
    AuditContext::new(Actor::CommandLine, instant(millis))
}

pub(crate) const fn workspace_id(number: u64) -> WorkspaceId {
    WorkspaceId::from_bits(number)
}

pub(crate) const fn monitor_id(number: u64) -> MonitorId {
    MonitorId::from_bits(number)
}

pub(crate) const fn key_id(number: u64) -> KeyId {
    KeyId::from_bits(number)
}

pub(crate) fn a_workspace(number: u64) -> Workspace {
    Workspace {
        id: workspace_id(number),
        slug: format!("team-{number}"),
        name: format!("Team {number}"),
        plan: FREE_PLAN.to_owned(),
        created_at: instant(0),
        deletes_at: None,
    }
}

pub(crate) fn settings() -> MonitorSettings {
    MonitorSettings {
        active: true,
        description: Some("the front door".to_owned()),
        tags: tags(&["Prod", "team web"]),
        regions: vec![Region::FlyAms, Region::KoyebSin],
        ..MonitorSettings::new(
            "API",
            Periodicity::ThirtySeconds,
            Check::Tcp(TcpCheck::new("example.com:443")),
        )
    }
}

/// Returns these tags.
pub(crate) fn tags(texts: &[&str]) -> Vec<Tag> {
    texts.iter().map(|text| Tag::parse(text).unwrap()).collect()
}

/// Returns an HTTP check with a secret in a header, in its URL and as its private key.
pub(crate) fn check_with_secret(secret: &str) -> Check {
    Check::Http(HttpCheck {
        headers: vec![Header { key: "Authorization".to_owned(), value: secret.to_owned() }],
        client_certificate: Some("certificate".to_owned()),
        client_key: Some(ClientKey(Secret::new(secret.to_owned()))),
        ..HttpCheck::new(format!("https://user:{secret}@example.com/health"))
    })
}

/// Returns a successful result that ended half a second after its slot.
pub(crate) fn a_result(monitor: MonitorId, region: Region, slot: i64) -> CheckResult {
    CheckResult {
        identity: ResultKey {
            monitor,
            revision: 1,
            region,
            slot: instant(slot),
            trigger: Trigger::Scheduled,
        },
        finished_at: instant(slot + 500),
        outcome: Outcome::Success,
        latency_us: 123_456,
        phases: Phases {
            dns_us: Some(900),
            connect_us: Some(12_000),
            tls_us: None,
            first_byte_us: Some(80_000),
            transfer_us: Some(0),
        },
        status: Some(200),
        attempts: 1,
        probe: ProbeName(Arc::from("this server")),
        evidence: None,
    }
}

pub(crate) fn with_evidence(result: CheckResult, outcome: Outcome, body: &str) -> CheckResult {
    let evidence = Evidence {
        attempts: vec![AttemptEvidence {
            started_at: result.identity.slot,
            latency_us: result.latency_us,
            failure: None,
            reasons: Vec::new(),
            assertions: Vec::new(),
            hops: Vec::new(),
            body: Some(body.to_owned()),
            body_truncated: false,
            body_cut: false,
            answers: Vec::new(),
        }],
    };
    CheckResult { outcome, evidence: Some(Arc::new(evidence)), ..result }
}

pub(crate) fn a_history(status: MonitorStatus, since: i64) -> JudgeState {
    JudgeState {
        status,
        since: instant(since),
        revision: 1,
        incident: None,
        grace_period: None,
        tie_since: None,
        slow: false,
        asked_at: None,
        regions: Box::new([RegionState { region: Region::FlyAms, latest: None, before: None }]),
    }
}

/// Longer than any step takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// Waits for the effect of another thread, without using the clock.
pub(crate) async fn until<T>(mut ready: impl AsyncFnMut() -> Option<T>) -> T {
    let waiting = async {
        loop {
            if let Some(value) = ready().await {
                return value;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the condition holds in time")
}
