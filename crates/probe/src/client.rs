//! The client for the server's own requests: messages of channels, and icons. They pass the same
//! egress policy as checks, after DNS resolution. Redirects are not followed but returned like any
//! response. Callers interpret responses and retry.

mod pool;
mod request;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use domain::check::http::ClientAuth;
use domain::check::{Failure, FailureKind};
use http::{HeaderMap, Response, StatusCode, Version};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use rules::IpVersion;
use tokio::time::{Instant, timeout_at};
use url::Host;

pub use self::request::Request;

use self::pool::{Connection, ConnectionPool};
use self::request::Origin;
use crate::connect::{connect, permitted};
use crate::limits::{RESPONSE_BODY, RESPONSE_BODY_DRAINED, RESPONSE_BODY_TIMEOUT};
use crate::memory::Memory;
use crate::progress::Stage;
use crate::resolve::Resolver;
use crate::settings::Settings;
use crate::stream::{Stream, TimedStream};
use crate::transport::Network;
use crate::transport::http::connection::{self, HttpConnection};
use crate::transport::http::header_limit::HeaderLimit;

/// Sends requests. Clones share all state; creating one does no I/O.
#[derive(Clone)]
pub struct Client {
    network: Arc<Network>,
    pool: Arc<ConnectionPool>,
}

/// A response with any status.
#[derive(Clone, Debug)]
pub struct ClientResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Beginning of the body; for messages at most 16 KiB, and what was received within two
    /// seconds.
    pub body: Bytes,
    /// Whether the body is longer, or may be.
    pub truncated: bool,
    /// Whether the body did not end within a megabyte and two seconds, which suggests a broken
    /// receiver.
    pub endless: bool,
}

/// How the reading of a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// All of it is kept.
    Whole,
    /// It was longer than the limit, or the connection broke; the status is known.
    Cut,
    /// It did not end.
    Never,
}

/// Limits for reading a body.
#[derive(Clone, Copy, Debug)]
struct ReadLimit {
    bytes: usize,
    until: Instant,
}

/// Progress of an exchange.
struct ExchangeProgress {
    stage: Stage,
    peer: Option<SocketAddr>,
}

impl Client {
    /// Creates a client with the egress and DNS settings of checks; ignores the limit of concurrent
    /// checks.
    pub fn new(settings: Settings) -> Self {
        let resolver = Resolver::new(settings.nameservers, settings.zones);
        let network = Network::new(
            settings.egress,
            resolver,
            settings.extra_roots,
            Memory::new(settings.body_memory),
        );
        Self { network: Arc::new(network), pool: Arc::default() }
    }

    /// Sends `request` and waits for its response, for at most `limit` from DNS lookup to the
    /// response head. Cuts a body that is long or does not end. Failures contain no part of the URL
    /// except its host.
    pub async fn send(
        &self,
        request: &Request,
        limit: Duration,
    ) -> Result<ClientResponse, Failure> {
        let deadline = Instant::now() + limit;
        let keep = || ReadLimit {
            bytes: RESPONSE_BODY,
            until: deadline.min(Instant::now() + RESPONSE_BODY_TIMEOUT),
        };
        self.exchange(request, (deadline, limit), keep).await
    }

    /// Sends a request and keeps at most `bytes` of the body; `limit` covers the whole exchange.
    pub async fn fetch(
        &self,
        request: &Request,
        limit: Duration,
        bytes: usize,
    ) -> Result<ClientResponse, Failure> {
        let deadline = Instant::now() + limit;
        self.exchange(request, (deadline, limit), || ReadLimit { bytes, until: deadline }).await
    }

    async fn exchange(
        &self,
        request: &Request,
        (deadline, limit): (Instant, Duration),
        keep: impl FnOnce() -> ReadLimit + Send,
    ) -> Result<ClientResponse, Failure> {
        let origin = request.origin()?;
        let mut progress = ExchangeProgress { stage: Stage::LookUp, peer: None };
        let asked = timeout_at(deadline, self.send_request(request, &origin, &mut progress)).await;
        let (mut connection, response) = match asked {
            Ok(asked) => asked?,
            Err(_) => return Err(progress.stage.out_of_time(limit, &origin.host, progress.peer)),
        };
        let (head, body) = response.into_parts();
        let (body, end) = read_body(&mut connection.link, body, keep()).await;
        if end == End::Whole {
            self.pool.store(origin, connection);
        }
        let (truncated, endless) = (end != End::Whole, end == End::Never);
        Ok(ClientResponse { status: head.status, headers: head.headers, body, truncated, endless })
    }

    /// Returns the response head, using an idle connection if there is one. If such a connection
    /// breaks, it is unknown whether the request arrived. Sends it again at once, as the caller's
    /// retry would.
    async fn send_request(
        &self,
        request: &Request,
        origin: &Origin,
        progress: &mut ExchangeProgress,
    ) -> Result<(Connection, Response<Incoming>), Failure> {
        while let Some(mut connection) = self.pool.take(origin) {
            progress.stage = Stage::Answer;
            progress.peer = connection.peer;
            let Connection { link, sender, .. } = &mut connection;
            if link.ready(sender).await.is_err() {
                continue;
            }
            match send_on(&mut connection, request).await {
                Ok(response) => return Ok((connection, response)),
                Err(failure) if failure.kind == FailureKind::ConnectionFailed => {}
                Err(failure) => return Err(failure),
            }
        }
        let mut connection = self.open(request, origin, progress).await?;
        progress.stage = Stage::Answer;
        let response = send_on(&mut connection, request).await?;
        Ok((connection, response))
    }

    /// Resolves the name, connects, and starts TLS if the URL requires it.
    async fn open(
        &self,
        request: &Request,
        origin: &Origin,
        progress: &mut ExchangeProgress,
    ) -> Result<Connection, Failure> {
        let network = &*self.network;
        progress.stage = Stage::LookUp;
        progress.peer = None;
        let addresses = match request.url.host() {
            Some(Host::Ipv4(literal)) => vec![literal.into()],
            Some(Host::Ipv6(literal)) => vec![literal.into()],
            Some(Host::Domain(name)) => network.resolver.addresses(name, IpVersion::Any).await?,
            None => Vec::new(),
        };
        let addresses = permitted(&network.egress, &origin.host, &addresses, origin.port)?;
        progress.stage = Stage::Connect;
        let tcp = connect(&addresses, false, &mut progress.peer).await?;
        let (wire, version) = if origin.is_tls {
            progress.stage = Stage::Tls;
            let name = origin.host.trim_start_matches('[').trim_end_matches([']', '.']);
            let tls =
                network.tls().handshake(name, ClientAuth::Unsupported, tcp, &mut None).await?;
            let version = match tls.get_ref().1.alpn_protocol() {
                Some(b"h2") => Version::HTTP_2,
                _ => Version::HTTP_11,
            };
            (TimedStream::new(Stream::Tls(Box::new(tls))), version)
        } else {
            (TimedStream::new(Stream::Plain(tcp)), Version::HTTP_11)
        };
        let peer = progress.peer;
        let opened = HttpConnection::open(wire, version, HeaderLimit::Large).await;
        let (link, sender) = opened.map_err(|error| connection::broken(&error, peer))?;
        Ok(Connection { link, sender, peer, version, opened: Instant::now() })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Client")
    }
}

async fn send_on(
    connection: &mut Connection,
    request: &Request,
) -> Result<Response<Incoming>, Failure> {
    let Connection { link, sender, peer, version, .. } = connection;
    let written = request.to_http(*version)?;
    link.send(sender, written, || {}).await.map_err(|error| connection::broken(&error, *peer))
}

/// Reads the beginning of the body. Reads and drops what exceeds the limit, to distinguish a long
/// body from an endless one.
async fn read_body(
    link: &mut HttpConnection,
    mut incoming: Incoming,
    keep: ReadLimit,
) -> (Bytes, End) {
    let (mut kept, mut seen) = (BytesMut::new(), 0);
    let reading = async {
        while let Some(frame) = link.drive(incoming.frame(), || {}).await {
            let Ok(frame) = frame else { return End::Cut };
            let Ok(piece) = frame.into_data() else { continue };
            seen += piece.len();
            if seen > RESPONSE_BODY_DRAINED {
                return End::Never;
            }
            let fits = piece.len().min(keep.bytes - kept.len());
            kept.extend_from_slice(&piece[..fits]);
        }
        if seen > keep.bytes { End::Cut } else { End::Whole }
    };
    let end = timeout_at(keep.until, reading).await.unwrap_or(End::Never);
    (kept.freeze(), end)
}
