//! The ways of probes in other places to this server. Over HTTP, here, they open a stream of jobs and
//! report results; through NATS, in `nats`. `calls` does the same for both, with messages of the crate
//! `remote`, and `tokens` verifies who asks. `lane::remote` has the state.

mod calls;
mod nats;
mod refused;
mod tokens;

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, post};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use remote::{Message as _, wire};
use rules::WorkspaceId;
use tokio_util::sync::CancellationToken;
use web::peer::Peer;
use web::proxies::TrustedProxies;

pub(crate) use self::calls::ProbeCalls;
use self::calls::Verification;
pub(crate) use self::nats::{NatsLane, NatsStatus};
use self::refused::RefusedProbe;
pub(crate) use self::tokens::ProbeTokens;
use crate::auth;
use crate::connection::Connection;
use crate::edge::Intake;
use crate::lane::remote::OpenedStream;

/// All paths. The routes are built from this list.
const ROUTES: &[(&str, ProbeRoute)] =
    &[(remote::JOBS_PATH, ProbeRoute::Jobs), (remote::RESULTS_PATH, ProbeRoute::Results)];
/// Maximum size of a request for a stream, in bytes.
const OPEN_BYTES_MAX: usize = 4 * 1024;
/// Maximum number of jobs in a frame.
const JOBS_PER_FRAME: usize = 256;
/// Size of the monitors in a frame from which it takes no further job, in bytes. One more fits.
const FRAME_BYTES: usize = 2 * 1024 * 1024;
/// Interval of frames without jobs. A probe takes a longer silence for a broken connection.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// State of the routes.
#[derive(Clone)]
pub(crate) struct ProbeState {
    pub(crate) calls: ProbeCalls,
    pub(crate) proxies: TrustedProxies,
    /// Ends the streams.
    pub(crate) stop: CancellationToken,
}

#[derive(Clone, Copy, Debug)]
enum ProbeRoute {
    Jobs,
    Results,
}

/// Returns the routes.
pub(crate) fn routes(state: ProbeState) -> Router {
    let all = ROUTES.iter().map(|(path, route)| (path, route.handler()));
    all.fold(Router::new(), |router, (path, route)| router.route(path, route)).with_state(state)
}

/// Returns all paths.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|route| route.0)
}

impl ProbeRoute {
    fn handler(self) -> MethodRouter<ProbeState> {
        match self {
            Self::Jobs => post(jobs),
            Self::Results => post(results),
        }
    }
}

/// Opens a stream of jobs.
async fn jobs(State(state): State<ProbeState>, request: Request) -> Result<Response, RefusedProbe> {
    state.open(request).await.map_err(|refused| state.calls.counted(refused))
}

/// Takes a report of results. Answers when they are stored.
async fn results(
    State(state): State<ProbeState>,
    request: Request,
) -> Result<Response, RefusedProbe> {
    state.report(request).await.map_err(|refused| state.calls.counted(refused))
}

impl ProbeState {
    async fn open(&self, request: Request) -> Result<Response, RefusedProbe> {
        let (parts, body) = request.into_parts();
        let verified = self.verify(&parts).await?;
        let body = read(body, OPEN_BYTES_MAX).await?;
        let (stream, first) = self.calls.open(verified, &body)?;
        let mut response = Response::new(frames(self.clone(), stream, first));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(remote::CONTENT_TYPE));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // Proxies must not collect the frames.
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        Ok(response)
    }

    async fn report(&self, request: Request) -> Result<Response, RefusedProbe> {
        let (parts, body) = request.into_parts();
        let Verification { probe, .. } = self.verify(&parts).await?;
        let body = read(body, remote::REPORT_BYTES_MAX).await?;
        let report =
            wire::ReportRequest::decode_from_slice(&body).map_err(|_| RefusedProbe::malformed())?;
        let answer = self.calls.report(&probe, report).await?;
        let content = [(CONTENT_TYPE, remote::CONTENT_TYPE), (CACHE_CONTROL, "no-store")];
        Ok((content, answer.encode_to_vec()).into_response())
    }

    /// Verifies the token of a request.
    async fn verify(&self, request: &Parts) -> Result<Verification, RefusedProbe> {
        let peer = request.extensions.get::<Peer>();
        let peer = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0);
        let address = self.proxies.address(peer, &request.headers);
        let connection = request.extensions.get::<Connection>();
        let (probe, token) =
            match self.calls.tokens.verify(auth::bearer(&request.headers), address).await {
                Ok(verified) => verified,
                Err(refused) => {
                    if let Some(connection) =
                        connection.filter(|_| refused.0 == StatusCode::UNAUTHORIZED)
                    {
                        connection.set_has_wrong_key();
                    }
                    return Err(refused);
                }
            };
        if let Some(connection) = connection {
            connection.set_has_key();
        }
        if let Some(intake) = request.extensions.get::<Intake>() {
            // The bodies of a probe share a budget of their own.
            intake.set_has_key(WorkspaceId::from_bits(probe.id.bits()));
        }
        Ok(Verification { probe, token, address: Some(address) })
    }
}

impl std::fmt::Debug for ProbeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProbeState").field("lane", &self.calls.lane).finish_non_exhaustive()
    }
}

async fn read(body: Body, max: usize) -> Result<Bytes, RefusedProbe> {
    let too_large = || {
        let reason = format!("the body is larger than {max} bytes");
        RefusedProbe(StatusCode::PAYLOAD_TOO_LARGE, reason)
    };
    if body.size_hint().lower() > max as u64 {
        return Err(too_large());
    }
    to_bytes(body, max).await.map_err(|error| {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(it) = cause {
            if it.is::<http_body_util::LengthLimitError>() {
                return too_large();
            }
            cause = it.source();
        }
        RefusedProbe(StatusCode::BAD_REQUEST, "the body could not be read".to_owned())
    })
}

/// Returns the frames of a stream as a body.
fn frames(state: ProbeState, stream: OpenedStream, first: wire::Frame) -> Body {
    let start = (state, stream, Some(first));
    Body::from_stream(stream::unfold(start, |(state, mut stream, first)| async move {
        let frame = match first {
            Some(first) => first,
            None => next_frame(&state, &mut stream).await?,
        };
        Some((Ok::<Bytes, Infallible>(framed(&frame)), (state, stream, None)))
    }))
}

/// Waits for jobs. Returns a frame without jobs as a heartbeat, and `None` if the stream ends.
async fn next_frame(state: &ProbeState, stream: &mut OpenedStream) -> Option<wire::Frame> {
    let mut jobs = Vec::new();
    tokio::select! {
        biased;
        () = state.stop.cancelled() => return None,
        () = stream.closed.cancelled() => return None,
        job = stream.jobs.recv() => jobs.push(job?),
        () = tokio::time::sleep(HEARTBEAT) => {}
    }
    let mut bytes: usize = jobs.iter().map(|job| job.monitor.len()).sum();
    while !jobs.is_empty()
        && jobs.len() < JOBS_PER_FRAME
        && bytes < FRAME_BYTES
        && let Ok(job) = stream.jobs.try_recv()
    {
        bytes += job.monitor.len();
        jobs.push(job);
    }
    stream.bytes.fetch_sub(bytes, Ordering::Relaxed);
    let sent_at_ms = state.calls.ctx.now().as_millis();
    Some(wire::Frame { sent_at_ms, jobs, ..wire::Frame::default() })
}

/// Returns a frame with its length before it.
fn framed(frame: &wire::Frame) -> Bytes {
    let message = frame.encode_to_vec();
    let length = u32::try_from(message.len()).expect("a frame is far smaller than 4 GiB");
    let mut bytes = Vec::with_capacity(remote::FRAME_HEAD_BYTES + message.len());
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&message);
    bytes.into()
}
