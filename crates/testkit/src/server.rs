//! A whole server in the test's process, with its own port, its own folder, and a clock that the
//! test controls. Also provides callers with keys of every scope, and responses that snapshots can
//! show.

mod caller;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use rules::{KeyId, RecordKind, Region, Scope, Secret, Timestamp, WorkspaceId};
use server::boot::{RunningServer, Zones};
use server::config::{PageHost, Settings};
use server::control::{CreateKey, CreateWorkspace, CreatedKey};
use store::Database;
use tempfile::TempDir;
use web::context::{Context, ManualClock};

pub(crate) use self::caller::read;
pub use self::caller::{Caller, Reply};
use crate::migrated;
use crate::postgres::{self, DatabaseGuard};
use crate::target::DnsTarget;

/// Initial time of the test clock: 2026-11-21T00:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_795_219_200_000);
/// Service that [`Caller::rpc`] calls.
/// Service of API keys.
pub const API_KEYS: &str = "api_key.v1.ApiKeyService";
/// Service of members and invitations.
pub const MEMBERS: &str = "member.v1.MemberService";
/// Service of the caller's workspace.
pub const WORKSPACES: &str = "workspace.v1.WorkspaceService";
pub const MONITORS: &str = "monitor.v1.MonitorService";
pub const INCIDENTS: &str = "incident.v1.IncidentService";
pub const NOTIFICATIONS: &str = "notification.v1.NotificationService";
pub const MAINTENANCES: &str = "maintenance.v1.MaintenanceService";
pub const STATUS_PAGES: &str = "status_page.v1.StatusPageService";
pub const STATUS_REPORTS: &str = "status_report.v1.StatusReportService";
/// Custom domains that resolve to every server under test.
const DOMAINS: [&str; 3] =
    ["status.acme.example", "status.example.com", "status.xn--bcher-kva.example"];
/// Slugs of pages that may use these domains.
const SLUGS: [&str; 9] = [
    "acme",
    "acme-status",
    "example",
    "free",
    "locked",
    "mine",
    "of-custom-domain",
    "other",
    "status",
];
/// Rate limit above the calls of any test.
const PLENTY: NonZeroU32 = NonZeroU32::new(1_000_000).expect("the number is not 0");

/// A running server. It stops with the test.
#[derive(Debug)]
pub struct TestServer {
    running: Box<RunningServer>,
    clock: Option<ManualClock>,
    settings: Settings,
    read: CreatedKey,
    write: CreatedKey,
    stranger: CreatedKey,
    workspaces: [WorkspaceId; 2],
    /// DNS server of the domains whose target does not matter to a test.
    names: DnsTarget,
    /// Deletes the database after the test, if it is one of PostgreSQL.
    database: Option<DatabaseGuard>,
    _folder: TempDir,
}

impl TestServer {
    /// Starts a server whose clock stays at [`START`] until it is advanced. It has the workspaces
    /// `acme` and `other`, may connect to private networks, and has no rate limit that a test would
    /// reach.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts a server like [`TestServer::start`], with other settings.
    pub async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let (ctx, clock) = Context::manual(START);
        Self::start_in(ctx, Some(clock), change).await
    }

    /// Starts a server like [`TestServer::start_with`], whose clock stays at the time of this machine
    /// until it is advanced, for tests with processes that use the machine's clock.
    pub async fn start_now_with(change: impl FnOnce(&mut Settings)) -> Self {
        let (ctx, clock) = Context::manual(Context::system().now());
        Self::start_in(ctx, Some(clock), change).await
    }

    /// Starts a server like [`TestServer::start`] on the system clock, for tests that need real
    /// timers.
    pub async fn start_on_system_clock() -> Self {
        Self::start_in(Context::system(), None, |_| {}).await
    }

    async fn start_in(
        ctx: Context,
        clock: Option<ManualClock>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let (engine, database) = database();
        let mut settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            data: folder.path().join("data"),
            database: engine,
            allow_private_networks: true,
            // More than the default, so that tests get several regions without naming them.
            default_regions: vec![Region::FlyAms, Region::FlyIad, Region::FlySin],
            calls_per_second: PLENTY,
            calls_burst: PLENTY,
            failed_calls_per_minute: PLENTY,
            ..Settings::defaults()
        };
        settings.domains.hosts = vec![PageHost::Address(Ipv4Addr::LOCALHOST.into())];
        change(&mut settings);
        if may_be_copied(&settings) {
            migrated::create_folder(&settings.data);
        }
        let names = DnsTarget::start().await;
        for domain in DOMAINS {
            names.address_of(domain, "127.0.0.1");
        }
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones(&names))).await;
        let running = running.expect("the server can start");
        let control = running.control();
        let workspace = async |slug: &str, name: &str| {
            let new = CreateWorkspace { slug: slug.to_owned(), name: name.to_owned(), plan: None };
            control.create_workspace(new).await.expect("the workspace is new").id
        };
        let workspaces = [workspace("acme", "Acme").await, workspace("other", "Other").await];
        for (domain, slug) in DOMAINS.into_iter().flat_map(|it| SLUGS.map(|slug| (it, slug))) {
            for workspace in workspaces {
                let value = ownership(workspace, slug);
                names.record(&format!("_aloft.{domain}"), RecordKind::Txt, &value);
            }
        }
        let key = async |workspace: &str, scope| {
            let new = new_key(workspace, scope, None);
            control.create_key(new).await.expect("the workspace exists")
        };
        Self {
            read: key("acme", Scope::Read).await,
            write: key("acme", Scope::Write).await,
            stranger: key("other", Scope::Write).await,
            workspaces,
            running: Box::new(running),
            clock,
            settings,
            names,
            database,
            _folder: folder,
        }
    }

    /// Returns its address.
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// Returns the running server itself.
    pub const fn running(&self) -> &RunningServer {
        &self.running
    }

    /// Returns the settings with which it was started.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Advances the clock. Panics if the server uses the system clock.
    pub fn advance(&self, by: Duration) {
        self.clock.as_ref().expect("the server was started with a test clock").advance(by);
    }

    /// Returns a caller of the workspace `acme` with a key of this scope.
    pub fn caller(&self, scope: Scope) -> Caller {
        let key = match scope {
            Scope::Read => &self.read,
            Scope::Write => &self.write,
        };
        self.with_key(key.key.expose())
    }

    /// Returns the id of that caller's key.
    pub const fn key_id(&self, scope: Scope) -> KeyId {
        match scope {
            Scope::Read => self.read.id,
            Scope::Write => self.write.id,
        }
    }

    /// Returns a caller of another workspace with a write key.
    pub fn stranger(&self) -> Caller {
        self.with_key(self.stranger.key.expose())
    }

    /// Creates a workspace. Returns a caller with a write key of it.
    pub async fn new_workspace(&self, slug: &str) -> Caller {
        let control = self.running.control();
        let new = CreateWorkspace { slug: slug.to_owned(), name: slug.to_owned(), plan: None };
        control.create_workspace(new).await.expect("the workspace is new");
        let key = control.create_key(new_key(slug, Scope::Write, None)).await;
        self.with_key(key.expect("the workspace exists").key.expose())
    }

    /// Returns the workspace `acme`.
    pub const fn workspace(&self) -> WorkspaceId {
        self.workspaces[0]
    }

    /// Returns the workspace of [`Self::stranger`].
    pub const fn stranger_workspace(&self) -> WorkspaceId {
        self.workspaces[1]
    }

    /// Returns the TXT record that proves a domain for this page of the workspace `acme`.
    pub fn ownership(&self, slug: &str) -> String {
        ownership(self.workspaces[0], slug)
    }

    /// Returns the record of [`TestServer::ownership`] for the other workspace.
    pub fn stranger_ownership(&self, slug: &str) -> String {
        ownership(self.workspaces[1], slug)
    }

    /// Returns the id of the other workspace's key.
    pub const fn stranger_key_id(&self) -> KeyId {
        self.stranger.id
    }

    /// Returns a caller without a key.
    pub const fn nobody(&self) -> Caller {
        Caller { address: self.running.address(), key: None }
    }

    /// Returns a caller with this text as its key.
    pub fn with_key(&self, key: &str) -> Caller {
        Caller { address: self.address(), key: Some(key.to_owned()) }
    }

    /// Creates a key of the workspace `acme`.
    pub async fn new_key(&self, scope: Scope, expires_in: Option<Duration>) -> CreatedKey {
        let new = new_key("acme", scope, expires_in);
        self.running.control().create_key(new).await.expect("the workspace exists")
    }

    /// Restarts the server with its clock moved forward by `later`, and with the same folder and keys.
    /// Its addresses change.
    pub async fn restart(self, later: Duration) -> Self {
        self.restart_with(later, |_| {}).await
    }

    /// Restarts the server like [`TestServer::restart`], with other settings.
    pub async fn restart_with(self, later: Duration, change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = self.settings;
        change(&mut settings);
        let now = self.running.app().ctx.now();
        self.running.stop().await.expect("the server can stop");
        let (ctx, clock) = Context::manual(now + later);
        let zones = zones(&self.names);
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones)).await;
        let running = running.expect("the server can start");
        Self { running: Box::new(running), clock: Some(clock), settings, ..self }
    }

    /// Shuts the server down. Its database stays, so that another server may start on it.
    pub async fn stop(self) {
        if let Some(database) = self.database {
            database.keep();
        }
        self.running.stop().await.expect("the server can stop");
    }
}

/// Returns the database of a new server: SQLite, or PostgreSQL with a guard if `ALOFT_TEST_ENGINE` says
/// so.
#[expect(clippy::disallowed_methods, reason = "the same tests run again on the other engine")]
fn database() -> (Database, Option<DatabaseGuard>) {
    match std::env::var("ALOFT_TEST_ENGINE").as_deref() {
        Ok("postgres") => {
            let (address, guard) = postgres::migrated_database();
            (Database::Postgres(Secret::new(address)), Some(guard))
        }
        Ok("sqlite") | Err(_) => (Database::Embedded, None),
        Ok(other) => panic!("ALOFT_TEST_ENGINE must be sqlite or postgres, not `{other}`"),
    }
}

/// Returns whether a server with these settings would create an embedded database with a new key.
fn may_be_copied(settings: &Settings) -> bool {
    let is_embedded = matches!(settings.database, Database::Embedded);
    is_embedded && settings.master_key.is_none() && !settings.data.exists()
}

fn ownership(workspace: WorkspaceId, slug: &str) -> String {
    format!("aloft-page={workspace}/{slug}")
}

/// Returns the DNS settings with which the server looks up [`DOMAINS`].
fn zones(names: &DnsTarget) -> Zones {
    DOMAINS.map(|domain| (domain.to_owned(), names.address())).to_vec()
}

fn new_key(workspace: &str, scope: Scope, expires_in: Option<Duration>) -> CreateKey {
    CreateKey {
        workspace: workspace.to_owned(),
        name: format!("test {scope}"),
        scope,
        expires_in_seconds: expires_in.map(|time| time.as_secs()),
    }
}
