//! A whole server in the test's own process, on a port and in a folder of its own, with a clock
//! that the test holds; callers with keys of every sort; and answers in a form that snapshots show.

mod caller;

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use rules::{KeyId, RecordKind, Region, Scope, Secret, Timestamp, WorkspaceId};
use server::boot::{Running, Zones};
use server::config::{PageHost, Settings};
use server::context::{Context, ManualClock};
use server::control::{CreateKey, CreateWorkspace, CreatedKey};
use store::Database;
use tempfile::TempDir;

pub(crate) use self::caller::read;
pub use self::caller::{Caller, Reply};
use crate::postgres;
use crate::target::DnsTarget;

/// Where the held clock stands at first: 2026-11-21T00:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_795_219_200_000);
/// The service that [`Caller::rpc`] calls.
pub const MONITORS: &str = "monitor.v1.MonitorService";
/// The service of incidents.
pub const INCIDENTS: &str = "incident.v1.IncidentService";
/// The service of notification channels.
pub const NOTIFICATIONS: &str = "notification.v1.NotificationService";
/// The service of maintenance.
pub const MAINTENANCES: &str = "maintenance.v1.MaintenanceService";
/// The service of status pages.
pub const STATUS_PAGES: &str = "status_page.v1.StatusPageService";
/// The service of status reports.
pub const STATUS_REPORTS: &str = "status_report.v1.StatusReportService";
/// Custom domains that lead to every server of a test.
const DOMAINS: [&str; 3] =
    ["status.acme.example", "status.example.com", "status.xn--bcher-kva.example"];
/// Slugs of pages that may have these domains.
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
/// More calls than any test makes.
const PLENTY: NonZeroU32 = NonZeroU32::new(1_000_000).expect("it is not 0");

/// A running server. It ends with the test.
#[derive(Debug)]
pub struct TestServer {
    running: Running,
    clock: Option<ManualClock>,
    settings: Settings,
    read: CreatedKey,
    write: CreatedKey,
    stranger: CreatedKey,
    workspaces: [WorkspaceId; 2],
    /// Of the domains that tests write without minding where they lead.
    names: DnsTarget,
    folder: TempDir,
}

impl TestServer {
    /// A server whose clock stands at [`START`] until it is advanced. It has the workspaces `acme`
    /// and `other`, may reach private networks, and has no limit of calls that a test would meet.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Like [`TestServer::start`], with other settings.
    pub async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let (ctx, clock) = Context::manual(START);
        Self::start_in(ctx, Some(clock), change).await
    }

    /// Like [`TestServer::start`], on the machine's clock: for what really waits.
    pub async fn start_on_system_clock() -> Self {
        Self::start_in(Context::system(), None, |_| {}).await
    }

    async fn start_in(
        ctx: Context,
        clock: Option<ManualClock>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let folder = tempfile::tempdir().expect("the machine has room for a folder");
        let mut settings = Settings {
            listen: ([127, 0, 0, 1], 0).into(),
            data: folder.path().join("data"),
            database: database(),
            allow_private_networks: true,
            // More than the default, so that tests see several regions without naming them.
            default_regions: vec![Region::FlyAms, Region::FlyIad, Region::FlySin],
            calls_per_second: PLENTY,
            calls_burst: PLENTY,
            failed_calls_per_minute: PLENTY,
            ..Settings::defaults()
        };
        settings.domains.hosts = vec![PageHost::Address(Ipv4Addr::LOCALHOST.into())];
        change(&mut settings);
        let names = DnsTarget::start().await;
        for domain in DOMAINS {
            names.address_of(domain, "127.0.0.1");
        }
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones(&names))).await;
        let running = running.expect("the server starts");
        let desk = running.desk();
        let workspace = async |slug: &str, name: &str| {
            let new = CreateWorkspace { slug: slug.to_owned(), name: name.to_owned(), plan: None };
            desk.create_workspace(new).await.expect("the workspace is new").id
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
            desk.create_key(new).await.expect("the workspace is there")
        };
        Self {
            read: key("acme", Scope::Read).await,
            write: key("acme", Scope::Write).await,
            stranger: key("other", Scope::Write).await,
            workspaces,
            running,
            clock,
            settings,
            names,
            folder,
        }
    }

    /// The address it answers on.
    pub const fn address(&self) -> SocketAddr {
        self.running.address()
    }

    /// The running server itself.
    pub const fn running(&self) -> &Running {
        &self.running
    }

    /// The settings it was started with.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Moves the clock forward. Panics on the machine's clock, which nobody moves.
    pub fn advance(&self, by: Duration) {
        self.clock.as_ref().expect("the server was started with a held clock").advance(by);
    }

    /// A caller of the workspace `acme` with a key of this scope.
    pub fn caller(&self, scope: Scope) -> Caller {
        let key = match scope {
            Scope::Read => &self.read,
            Scope::Write => &self.write,
        };
        self.with_key(key.key.expose())
    }

    /// The id of that caller's key.
    pub const fn key_id(&self, scope: Scope) -> KeyId {
        match scope {
            Scope::Read => self.read.id,
            Scope::Write => self.write.id,
        }
    }

    /// A caller of another workspace, who may write there.
    pub fn stranger(&self) -> Caller {
        self.with_key(self.stranger.key.expose())
    }

    /// What the TXT record of a domain says that belongs to this page of the workspace `acme`.
    pub fn ownership(&self, slug: &str) -> String {
        ownership(self.workspaces[0], slug)
    }

    /// Like [`TestServer::ownership`], of the stranger's workspace.
    pub fn stranger_ownership(&self, slug: &str) -> String {
        ownership(self.workspaces[1], slug)
    }

    /// The id of the stranger's key.
    pub const fn stranger_key_id(&self) -> KeyId {
        self.stranger.id
    }

    /// A caller without a key.
    pub const fn nobody(&self) -> Caller {
        Caller { address: self.running.address(), key: None }
    }

    /// A caller with this text as its key.
    pub fn with_key(&self, key: &str) -> Caller {
        Caller { address: self.address(), key: Some(key.to_owned()) }
    }

    /// A new key of the workspace `acme`.
    pub async fn new_key(&self, scope: Scope, expires_in: Option<Duration>) -> CreatedKey {
        let new = new_key("acme", scope, expires_in);
        self.running.desk().create_key(new).await.expect("the workspace is there")
    }

    /// Stops the server in the middle of what it does, and starts it again on the same folder, so much
    /// later, with the same keys. Its addresses are others.
    pub async fn start_again(self, later: Duration) -> Self {
        self.start_again_with(later, |_| {}).await
    }

    /// Like [`TestServer::start_again`], with other settings.
    pub async fn start_again_with(
        self,
        later: Duration,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let Self {
            running, mut settings, read, write, stranger, workspaces, names, folder, ..
        } = self;
        change(&mut settings);
        let now = running.app().ctx.now();
        running.stop().await.expect("the server stops in order");
        let (ctx, clock) = Context::manual(now + later);
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones(&names))).await;
        let running = running.expect("the server starts");
        let clock = Some(clock);
        Self { running, clock, settings, read, write, stranger, workspaces, names, folder }
    }

    /// Stops the server in order.
    pub async fn stop(self) {
        self.running.stop().await.expect("the server stops in order");
    }
}

/// The database of a new server: embedded, or where `ALOFT_TEST_ENGINE` says so one of PostgreSQL.
#[expect(
    clippy::disallowed_methods,
    reason = "the same tests are run once more on the other engine"
)]
fn database() -> Database {
    match std::env::var("ALOFT_TEST_ENGINE").as_deref() {
        Ok("postgres") => Database::Postgres(Secret::new(postgres::database())),
        Ok("sqlite") | Err(_) => Database::Embedded,
        Ok(other) => panic!("ALOFT_TEST_ENGINE is sqlite or postgres, not `{other}`"),
    }
}

fn ownership(workspace: WorkspaceId, slug: &str) -> String {
    format!("aloft-page={workspace}/{slug}")
}

/// Where the names of [`DOMAINS`] are asked for.
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
