//! A whole server in the test's own process, on a port and in a folder of its own, with a clock
//! that the test holds; callers with keys of every sort; and answers in a form that snapshots show.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rules::{KeyId, Scope, Secret, Timestamp};
use serde_json::Value;
use server::boot::{Running, Zones};
use server::config::Settings;
use server::context::{Context, ManualClock};
use server::control::{CreateKey, CreateWorkspace, CreatedKey};
use store::Database;
use tempfile::TempDir;
use tokio::net::TcpStream;

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
    /// Of the domains that tests write without minding where they lead.
    names: DnsTarget,
    folder: TempDir,
}

/// Somebody who calls a server, with a key or without one.
#[derive(Clone, Debug)]
pub struct Caller {
    address: SocketAddr,
    key: Option<String>,
}

/// An answer. Shown as its status and its body, without the details of errors, which are base64.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its trailers; those of an answer that is only trailers are headers.
    pub trailers: HeaderMap,
    /// Its body.
    pub body: Bytes,
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
            calls_per_second: PLENTY,
            calls_burst: PLENTY,
            failed_calls_per_minute: PLENTY,
            ..Settings::defaults()
        };
        change(&mut settings);
        let names = DnsTarget::start().await;
        for domain in DOMAINS {
            names.address_of(domain, "127.0.0.1");
        }
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones(&names))).await;
        let running = running.expect("the server starts");
        let desk = running.desk();
        for (slug, name) in [("acme", "Acme"), ("other", "Other")] {
            let new = CreateWorkspace { slug: slug.to_owned(), name: name.to_owned() };
            desk.create_workspace(new).await.expect("the workspace is new");
        }
        let key = async |workspace: &str, scope| {
            let new = new_key(workspace, scope, None);
            desk.create_key(new).await.expect("the workspace is there")
        };
        Self {
            read: key("acme", Scope::Read).await,
            write: key("acme", Scope::Write).await,
            stranger: key("other", Scope::Write).await,
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
        let Self { running, settings, read, write, stranger, names, folder, .. } = self;
        let now = running.app().ctx.now();
        running.stop().await.expect("the server stops in order");
        let (ctx, clock) = Context::manual(now + later);
        let running = Box::pin(server::boot::start_in_zones(&settings, ctx, zones(&names))).await;
        let running = running.expect("the server starts");
        Self { running, clock: Some(clock), settings, read, write, stranger, names, folder }
    }

    /// Stops the server in order.
    pub async fn stop(self) {
        self.running.stop().await.expect("the server stops in order");
    }
}

impl Caller {
    /// A caller of the server at this address.
    pub const fn at(address: SocketAddr, key: Option<String>) -> Self {
        Self { address, key }
    }

    /// The key it calls with.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Calls a method of the monitors' service in Connect's JSON.
    pub async fn rpc(&self, method: &str, request: Value) -> Reply {
        self.call(MONITORS, method, request).await
    }

    /// Calls a method of any service in Connect's JSON.
    pub async fn call(&self, service: &str, method: &str, request: Value) -> Reply {
        let path = format!("/rpc/{service}/{method}");
        self.send(Method::POST, &path, "application/json", request.to_string()).await
    }

    /// Asks for a path.
    pub async fn get(&self, path: &str) -> Reply {
        self.request(self.build(Method::GET, path, None, Bytes::new())).await
    }

    /// Sends a body of a content type.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Reply {
        self.request(self.build(method, path, Some(content_type), body.into())).await
    }

    /// Sends a request over HTTP/1.1, with the caller's key.
    pub async fn request(&self, mut request: Request<Full<Bytes>>) -> Reply {
        self.sign(&mut request);
        let stream = self.connect().await;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(stream).await.expect("the server speaks HTTP/1");
        let connection = tokio::spawn(connection);
        let reply = read(sender.send_request(request).await.expect("the server answers")).await;
        connection.abort();
        reply
    }

    /// Sends a body of a content type over HTTP/2, as gRPC needs it.
    pub async fn send_h2(&self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Reply {
        let uri = format!("http://{}{path}", self.address);
        let mut request = self.build(Method::POST, &uri, Some(content_type), body.into());
        self.sign(&mut request);
        let stream = self.connect().await;
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), stream)
                .await
                .expect("the server speaks HTTP/2");
        let connection = tokio::spawn(connection);
        let reply = read(sender.send_request(request).await.expect("the server answers")).await;
        connection.abort();
        reply
    }

    fn build(
        &self,
        method: Method,
        uri: &str,
        content_type: Option<&str>,
        body: Bytes,
    ) -> Request<Full<Bytes>> {
        let mut request = Request::builder().method(method).uri(uri);
        if !uri.starts_with("http://") {
            request = request.header("host", self.address.to_string());
        }
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type);
        }
        request.body(Full::new(body)).expect("the test wrote a request that can be")
    }

    fn sign(&self, request: &mut Request<Full<Bytes>>) {
        if let Some(key) = &self.key {
            let key = key.parse().expect("the test's key can stand in a header");
            request.headers_mut().insert("x-service-key", key);
        }
    }

    async fn connect(&self) -> TokioIo<TcpStream> {
        TokioIo::new(TcpStream::connect(self.address).await.expect("the server listens"))
    }
}

impl Reply {
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The stable reason of an error, over whatever protocol it came.
    pub fn reason(&self) -> Option<String> {
        let json = self.json();
        if let Some(reason) = json["reason"].as_str() {
            return Some(reason.to_owned());
        }
        contract::rpc::reason(&self.error()?)
    }

    /// The error of a Connect answer.
    pub fn error(&self) -> Option<contract::rpc::Error> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The status that gRPC or gRPC-Web gave, or that Connect gave as gRPC counts it.
    pub fn grpc_status(&self) -> Option<u32> {
        let header = self.trailers.get("grpc-status").or_else(|| self.headers.get("grpc-status"));
        if let Some(status) = header {
            return status.to_str().ok()?.parse().ok();
        }
        let body = String::from_utf8_lossy(&self.body);
        let (_, after) = body.rsplit_once("grpc-status:")?;
        after.trim_start().split(['\r', '\n']).next()?.parse().ok()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.status.as_u16())?;
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(mut json) => {
                if let Some(object) = json.as_object_mut() {
                    object.remove("details");
                }
                write!(f, " {json}")
            }
            Err(_) if self.body.is_empty() => Ok(()),
            Err(_) => write!(f, " {}", String::from_utf8_lossy(&self.body)),
        }
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

pub(crate) async fn read(response: http::Response<hyper::body::Incoming>) -> Reply {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.expect("the answer comes whole");
    let trailers = collected.trailers().cloned().unwrap_or_default();
    let body = collected.to_bytes();
    Reply { status: parts.status, headers: parts.headers, trailers, body }
}
