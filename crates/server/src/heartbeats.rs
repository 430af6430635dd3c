//! `/heartbeat/<token>`: the URLs that jobs call. Finds the monitor, and gives the call to the pipeline,
//! which stores it before the response. Nothing here says whether a monitor is late.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use domain::check::Signal;
use http::header::{ALLOW, CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rules::{MonitorId, limits};
use store::{HeartbeatTarget, Store};
use tracing::warn;
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::{Peer, rate_limit_address};
use web::proxies::TrustedProxies;

use crate::edge::cut_off_error;
use crate::pipeline::{Pipeline, PipelineError, ReceivedCall};

/// Paths of the endpoint.
const PATHS: [&str; 2] = ["/heartbeat/{token}", "/heartbeat/{token}/{signal}"];
/// Methods of calls.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST");
/// Calls of one network, /64 for IPv6, at once and in each [`OF_NETWORK_IN`]: hundreds of jobs of a host may
/// run at the full minute.
const OF_NETWORK: NonZeroU32 = NonZeroU32::new(1_000).expect("not zero");
const OF_NETWORK_IN: Duration = Duration::from_secs(10);
/// Unknown tokens of one network.
const UNKNOWN: NonZeroU32 = NonZeroU32::new(60).expect("not zero");
const UNKNOWN_IN: Duration = Duration::from_mins(1);
/// Calls of one monitor, so that a leaked URL cannot fill the disk.
const OF_MONITOR: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
const OF_MONITOR_IN: Duration = Duration::from_secs(10);
/// Maximum length of a body. Its beginning is kept.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Limits of calls.
#[derive(Debug)]
pub(crate) struct CallLimits {
    of_network: AttemptLimiter<std::net::IpAddr>,
    unknown: AttemptLimiter<std::net::IpAddr>,
    of_monitor: AttemptLimiter<MonitorId>,
}

/// Parts that the endpoint needs.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatEndpoint {
    pub(crate) store: Store,
    pub(crate) pipeline: Pipeline,
    pub(crate) proxies: TrustedProxies,
    pub(crate) limits: Arc<CallLimits>,
}

/// Response to a call that was not recorded, with its reason.
#[derive(Debug)]
struct RefusedCall {
    status: StatusCode,
    reason: &'static str,
    retry_after: Option<Duration>,
}

impl CallLimits {
    pub(crate) fn new(ctx: &Context) -> Self {
        Self {
            of_network: AttemptLimiter::new(ctx, OF_NETWORK, OF_NETWORK_IN),
            unknown: AttemptLimiter::new(ctx, UNKNOWN, UNKNOWN_IN),
            of_monitor: AttemptLimiter::new(ctx, OF_MONITOR, OF_MONITOR_IN),
        }
    }

    /// Removes what is no longer needed. Call it now and then.
    pub(crate) fn evict_expired(&self) {
        self.of_network.evict_expired();
        self.unknown.evict_expired();
        self.of_monitor.evict_expired();
    }
}

/// Returns the router of the endpoint.
pub(crate) fn routes(state: HeartbeatEndpoint) -> Router {
    let add = |router: Router<_>, path| router.route(path, any(answer));
    PATHS.into_iter().fold(Router::new(), add).with_state(state)
}

/// Returns all paths, with `{…}` for parameters.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    PATHS.into_iter()
}

async fn answer(
    State(endpoint): State<HeartbeatEndpoint>,
    peer: Option<Extension<Peer>>,
    Path(given): Path<Vec<String>>,
    request: Request,
) -> Response {
    let peer = peer.map(|Extension(peer)| peer);
    let mut response = match endpoint.receive(peer, &given, request).await {
        Ok(()) => "ok\n".into_response(),
        Err(refused) => refused.into_response(),
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl HeartbeatEndpoint {
    async fn receive(
        &self,
        peer: Option<Peer>,
        given: &[String],
        request: Request,
    ) -> Result<(), RefusedCall> {
        if ![Method::GET, Method::HEAD, Method::POST].contains(request.method()) {
            let reason = "call this URL with GET, HEAD or POST\n";
            return Err(RefusedCall::new(StatusCode::METHOD_NOT_ALLOWED, reason));
        }
        let token = given.first().map(String::as_str).unwrap_or_default();
        let signal = signal(given.get(1).map(String::as_str))?;
        let target = self.find(peer, request.headers(), token).await?;
        let (body, has_more) = beginning(request.into_body()).await?;
        let call = ReceivedCall { target, signal, body, has_more };
        self.pipeline.receive_call(call).await.map_err(|why| match why {
            PipelineError::NotFound(_) => RefusedCall::unknown(),
            why => {
                warn!(monitor.id = %target.monitor, "a heartbeat was not recorded: {why}");
                RefusedCall::later()
            }
        })
    }

    async fn find(
        &self,
        peer: Option<Peer>,
        headers: &HeaderMap,
        token: &str,
    ) -> Result<HeartbeatTarget, RefusedCall> {
        let network = peer.map(|peer| rate_limit_address(self.proxies.address(peer.0, headers)));
        if let Some(network) = &network {
            let too_many = "too many calls from this network; retry later\n";
            self.limits.of_network.acquire(network).map_err(RefusedCall::too_many(too_many))?;
        }
        let found = self.store.heartbeats().find(token).await.map_err(|why| {
            warn!("the monitor of a heartbeat cannot be looked up: {why}");
            RefusedCall::later()
        })?;
        let Some(target) = found else {
            let too_many = "too many calls of unknown URLs; retry later\n";
            let counted = network.map_or(Ok(()), |network| self.limits.unknown.acquire(&network));
            counted.map_err(RefusedCall::too_many(too_many))?;
            return Err(RefusedCall::unknown());
        };
        let too_many = "too many calls of this URL: at most 10 in 10 seconds; retry later\n";
        self.limits.of_monitor.acquire(&target.monitor).map_err(RefusedCall::too_many(too_many))?;
        Ok(target)
    }
}

/// Returns what the last part of a path reports.
fn signal(given: Option<&str>) -> Result<Signal, RefusedCall> {
    match given {
        None => Ok(Signal::Success),
        Some("start") => Ok(Signal::Start),
        Some("fail") => Ok(Signal::Failure { exit_code: None }),
        Some(code) => code.parse().map(Signal::from_exit_code).map_err(|_| {
            let reason = "the URL may only end with /start, /fail or an exit code, /0 to /255\n";
            RefusedCall::new(StatusCode::NOT_FOUND, reason)
        }),
    }
}

/// Reads a body. Returns its beginning, and whether there is more.
async fn beginning(body: Body) -> Result<(Vec<u8>, bool), RefusedCall> {
    let read = Limited::new(body, BODY_BYTES_MAX).collect().await;
    let bytes: Bytes = match read {
        Ok(read) => read.to_bytes(),
        Err(why) if why.is::<LengthLimitError>() => {
            let reason = "the body must have at most 1 MiB; the first 4 KiB are kept\n";
            return Err(RefusedCall::new(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        Err(why) => {
            let status = cut_off_error(&*why).http_status();
            return Err(RefusedCall::new(status, "the body could not be read; retry\n"));
        }
    };
    let kept = bytes.len().min(limits::EVIDENCE_BODY_BYTES);
    Ok((bytes[..kept].to_vec(), kept < bytes.len()))
}

impl RefusedCall {
    const fn new(status: StatusCode, reason: &'static str) -> Self {
        Self { status, reason, retry_after: None }
    }

    const fn unknown() -> Self {
        let reason = "no monitor has this URL; copy the current one from the monitor's page\n";
        Self::new(StatusCode::NOT_FOUND, reason)
    }

    fn later() -> Self {
        let reason = "the call cannot be recorded now; retry later\n";
        let retry_after = Some(Duration::from_secs(5));
        Self { retry_after, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, reason) }
    }

    fn too_many(reason: &'static str) -> impl FnOnce(Duration) -> Self {
        move |wait| Self {
            retry_after: Some(wait),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, reason)
        }
    }
}

impl IntoResponse for RefusedCall {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.reason).into_response();
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            headers.insert(ALLOW, METHODS);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_part_of_path_names_the_signal() {
        let failure = |exit_code| Some(Signal::Failure { exit_code });
        for (given, expected) in [
            (None, Some(Signal::Success)),
            (Some("start"), Some(Signal::Start)),
            (Some("fail"), failure(None)),
            (Some("0"), Some(Signal::Success)),
            (Some("255"), failure(Some(255))),
            (Some("256"), None),
            (Some("-1"), None),
            (Some("success"), None),
        ] {
            assert_eq!(signal(given).ok(), expected, "{given:?}");
        }
    }
}
