//! HTTP checks: performs hops until the final response, each on a new connection, so that every
//! phase is measured (design §5, "HTTP"). `domain::check::http` decides what to send and where a
//! redirect leads.

mod body;
pub(crate) mod connection;
mod decode;
pub(crate) mod header_limit;
mod sink;

use std::time::Duration;

use ::http::header::LOCATION;
use ::http::{HeaderMap, StatusCode, Version};
use domain::check::http::{ClientAuth, HttpPlan, Redirect, Request, redirect};
use domain::check::{Failure, Hop, HttpObservation, Phases};
use hyper::body::Incoming;
use rules::WorkspaceId;
use tokio::time::Instant;
use url::Host;

use self::body::Collector;
use self::connection::HttpConnection;
use self::header_limit::HeaderLimit;
use super::Network;
use crate::client_certificate::refusal;
use crate::connect::{connect, permitted};
use crate::memory::Reservation;
use crate::progress::{Stage, micros, micros_since};
use crate::resolve::of_version;
use crate::stream::{Received, Stream, TimedStream};

/// Progress of an HTTP check.
pub(crate) struct HttpProgress {
    /// Current stage.
    pub(crate) stage: Stage,
    /// Hops so far; the last one may be incomplete.
    pub(crate) hops: Vec<Hop>,
    body: Option<Collector>,
}

impl HttpProgress {
    pub(crate) fn new() -> Self {
        Self { stage: Stage::LookUp, hops: Vec::with_capacity(1), body: None }
    }

    /// Returns the observations so far.
    pub(crate) fn into_observation(self) -> HttpObservation {
        let body = self.body.map(Collector::into_body).unwrap_or_default();
        HttpObservation { hops: self.hops, body }
    }

    /// Returns the failure for a timeout.
    pub(crate) fn out_of_time(&self, limit: Duration) -> Failure {
        let hop = self.hops.last();
        let name = hop.and_then(|hop| hop.url.host_str()).unwrap_or_default();
        self.stage.out_of_time(limit, name, hop.and_then(|hop| hop.address))
    }

    fn begin(&mut self, request: &Request) {
        self.stage = Stage::LookUp;
        self.hops.push(Hop {
            url: request.url.clone(),
            address: None,
            phases: Phases::default(),
            version: Version::HTTP_11,
            status: None,
            headers: HeaderMap::new(),
            certificate: None,
        });
    }
}

/// Failure of a hop.
struct HopFailure {
    failure: Failure,
    /// Whether the response head exceeded the header limit.
    is_too_long: bool,
}

/// A response whose body is not read yet.
struct ResponseHead {
    connection: HttpConnection,
    status: StatusCode,
    body: Incoming,
    first_byte: Instant,
}

impl From<Failure> for HopFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, is_too_long: false }
    }
}

/// Sends the request of `plan`, follows redirects and reads the final response. Its body takes memory of
/// this workspace's share.
pub(crate) async fn exchange(
    network: &Network,
    plan: &HttpPlan,
    workspace: WorkspaceId,
    progress: &mut HttpProgress,
) -> Result<(), Failure> {
    let mut request = plan.request();
    loop {
        progress.begin(&request);
        let HttpProgress { stage, hops, .. } = progress;
        let is_first = hops.len() == 1;
        let hop = hops.last_mut().expect("a hop was just started");
        let wire = open(network, (plan, &request, is_first), hop, stage).await?;
        let limit = network.large_header_hosts.limit(&request.url);
        let auth = plan.client_auth(&request.url);
        let response = match send_request(wire, (&request, auth), limit, hop, stage).await {
            Ok(response) => response,
            Err(HopFailure { is_too_long: true, failure }) if limit == HeaderLimit::Usual => {
                network.large_header_hosts.insert(&request.url);
                if !request.method.is_safe() {
                    return Err(failure);
                }
                hops.pop();
                continue;
            }
            Err(HopFailure { failure, .. }) => return Err(failure),
        };
        match redirect(plan, &request, response.status, hop.headers.get(LOCATION)) {
            Redirect::Follow(next) => request = *next,
            Redirect::Failed(failure) => return Err(failure),
            Redirect::Final => {
                let held = network.memory.reserve(workspace);
                return read_body(held, response, plan, progress).await;
            }
        }
    }
}

/// Resolves the name, connects, and starts TLS if the URL requires it. The first hop goes to the monitor's
/// own URL.
async fn open(
    network: &Network,
    (plan, request, is_first): (&HttpPlan, &Request, bool),
    hop: &mut Hop,
    stage: &mut Stage,
) -> Result<(TimedStream, Version), Failure> {
    let (url, ip_version) = (&request.url, plan.ip_version);
    let name = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(80);
    let addresses = match url.host() {
        Some(Host::Ipv4(literal)) => of_version(vec![literal.into()], ip_version, name)?,
        Some(Host::Ipv6(literal)) => of_version(vec![literal.into()], ip_version, name)?,
        Some(Host::Domain(name)) => {
            let start = Instant::now();
            let addresses = network.resolver.addresses(name, ip_version).await?;
            hop.phases.dns_us = Some(micros_since(start));
            addresses
        }
        None => Vec::new(),
    };
    let addresses = permitted(&network.egress, name, &addresses, port)?;
    *stage = Stage::Connect;
    let start = Instant::now();
    let requires_ipv6 = plan.requires_ipv6(is_first);
    let tcp = connect(&addresses, requires_ipv6, &mut hop.address).await?;
    hop.phases.connect_us = Some(micros_since(start));
    if url.scheme() != "https" {
        return Ok((TimedStream::new(Stream::Plain(tcp)), Version::HTTP_11));
    }
    *stage = Stage::Tls;
    let start = Instant::now();
    let name = name.trim_start_matches('[').trim_end_matches([']', '.']);
    let auth = plan.client_auth(url);
    let tls = network.tls().handshake(name, auth, tcp, &mut hop.certificate).await?;
    hop.phases.tls_us = Some(micros_since(start));
    let version = match tls.get_ref().1.alpn_protocol() {
        Some(b"h2") => Version::HTTP_2,
        _ => Version::HTTP_11,
    };
    Ok((TimedStream::new(Stream::Tls(Box::new(tls))), version))
}

/// Sends the request and receives the response head.
async fn send_request(
    (wire, version): (TimedStream, Version),
    (request, auth): (&Request, ClientAuth<'_>),
    limit: HeaderLimit,
    hop: &mut Hop,
    stage: &mut Stage,
) -> Result<ResponseHead, HopFailure> {
    *stage = Stage::FirstByte;
    let peer = hop.address;
    let received = wire.received();
    let broken = |error: &hyper::Error| {
        let host = request.url.host_str().unwrap_or_default();
        let refused = received.alert().and_then(|alert| refusal(host, alert, auth));
        refused.unwrap_or_else(|| connection::broken(error, peer))
    };
    let start = Instant::now();
    let opened = HttpConnection::open(wire, version, limit).await;
    let (mut connection, mut sender) = opened.map_err(|error| broken(&error))?;
    let request = connection::request(request, version)?;
    let response = {
        let each = || {
            if let Some(at) = first_byte_at(&received, version)
                && hop.phases.first_byte_us.is_none()
            {
                hop.phases.first_byte_us = Some(micros(at.duration_since(start)));
                *stage = Stage::Head;
            }
        };
        connection.send(&mut sender, request, each).await.map_err(|error| {
            if error.is_parse_too_large() {
                HopFailure { failure: connection::too_long(peer, limit), is_too_long: true }
            } else {
                broken(&error).into()
            }
        })?
    };
    let first_byte = first_byte_at(&received, version).unwrap_or_else(Instant::now);
    hop.phases.first_byte_us = Some(micros(first_byte.duration_since(start)));
    let (head, body) = response.into_parts();
    hop.version = head.version;
    hop.status = Some(head.status.as_u16());
    hop.headers = head.headers;
    Ok(ResponseHead { connection, status: head.status, body, first_byte })
}

/// Returns the time of the response's first byte. Over HTTP/2 the first bytes are settings, so only
/// the time of the head is known.
fn first_byte_at(received: &Received, version: Version) -> Option<Instant> {
    if version == Version::HTTP_2 { None } else { received.first_byte() }
}

async fn read_body(
    held: Reservation,
    response: ResponseHead,
    plan: &HttpPlan,
    progress: &mut HttpProgress,
) -> Result<(), Failure> {
    let HttpProgress { stage, hops, body } = progress;
    let hop = hops.last_mut().expect("a response belongs to a hop");
    *stage = Stage::Body;
    let collector = body.insert(Collector::new(plan, &hop.headers, held)?);
    body::read(response.connection, response.body, collector, hop.address).await?;
    hop.phases.transfer_us = Some(micros_since(response.first_byte));
    Ok(())
}
