//! `/heartbeat/<token>`: the URLs that jobs call. Finds the monitor, and gives the call to the pipeline,
//! which stores it before the response. Nothing here says whether a monitor is late.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Path, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use domain::check::Signal;
use http::header::{ALLOW, CACHE_CONTROL, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt as _;
use rules::{MonitorId, limits};
use store::{HeartbeatTarget, Store};
use tracing::warn;
use web::context::Context;
use web::limits::AttemptLimiter;
use web::peer::{Peer, rate_limit_address};
use web::proxies::TrustedProxies;

use crate::edge::{Intake, cut_off_error};
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
const OF_MONITOR_IN: Duration = Duration::from_mins(1);
/// Maximum length of a body. Its beginning is kept.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Length of each token.
const TOKEN_BYTES: usize = 43;

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
        if let Some(intake) = request.extensions().get::<Intake>() {
            intake.set_has_key(target.workspace);
        }
        let (body, has_more) = beginning(request.into_body(), token).await?;
        let call = ReceivedCall { target, signal, body, has_more };
        self.pipeline.receive_call(call).await.map_err(|why| match why {
            PipelineError::NotFound(_) => RefusedCall::unknown(),
            PipelineError::Unplannable(_)
            | PipelineError::Store(_)
            | PipelineError::Threads(_)
            | PipelineError::Busy
            | PipelineError::Disconnected(_)
            | PipelineError::TooManyChecks
            | PipelineError::NotRun(_)
            | PipelineError::Unfinished
            | PipelineError::Stopping => {
                warn!(monitor.id = %target.monitor, "a heartbeat was not recorded: {why}");
                self.pipeline.miss_calls();
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
        let Some(target) = self.look_up(token).await? else {
            let too_many = "too many calls of unknown URLs; retry later\n";
            let counted = network.map_or(Ok(()), |network| self.limits.unknown.acquire(&network));
            counted.map_err(RefusedCall::too_many(too_many))?;
            return Err(RefusedCall::unknown());
        };
        let too_many = "too many calls of this URL: at most 10 in a minute; retry later\n";
        self.limits.of_monitor.acquire(&target.monitor).map_err(RefusedCall::too_many(too_many))?;
        Ok(target)
    }

    /// Returns the monitor of a token. The store is not asked about a text that cannot be one.
    async fn look_up(&self, token: &str) -> Result<Option<HeartbeatTarget>, RefusedCall> {
        if !is_token(token) {
            return Ok(None);
        }
        self.store.heartbeats().find(token).await.map_err(|why| {
            warn!("the monitor of a heartbeat cannot be looked up: {why}");
            self.pipeline.miss_calls();
            RefusedCall::later()
        })
    }
}

/// Returns whether a text has the form of a token.
fn is_token(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() == TOKEN_BYTES && text.bytes().all(is_sign)
}

/// Returns what the last part of a path reports.
fn signal(given: Option<&str>) -> Result<Signal, RefusedCall> {
    match given {
        None => Ok(Signal::Success),
        Some("start") => Ok(Signal::Start),
        Some("fail") => Ok(Signal::Failure { exit_code: None }),
        Some(code) => exit_code(code).map(Signal::from_exit_code).ok_or_else(|| {
            let reason = "the URL may only end with /start, /fail or an exit code, /0 to /255\n";
            RefusedCall::new(StatusCode::NOT_FOUND, reason)
        }),
    }
}

fn exit_code(text: &str) -> Option<u8> {
    text.parse().ok().filter(|code: &u8| code.to_string() == text)
}

/// Reads a body. Returns its beginning without the token, and whether there is more.
async fn beginning(mut body: Body, token: &str) -> Result<(Vec<u8>, bool), RefusedCall> {
    // A token that begins in the kept part is complete.
    let most = limits::EVIDENCE_BODY_BYTES + TOKEN_BYTES - 1;
    let (mut kept, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|why| {
            let status = cut_off_error(&why).http_status();
            RefusedCall::new(status, "the body could not be read; retry\n")
        })?;
        let Some(data) = frame.data_ref() else { continue };
        length += data.len();
        if length > BODY_BYTES_MAX {
            let reason = "the body must have at most 1 MiB; the first 4 KiB are kept\n";
            return Err(RefusedCall::new(StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        kept.extend_from_slice(&data[..data.len().min(most - kept.len())]);
    }
    let is_cut = kept.len() < length;
    let mut text = without_token(&kept, token.as_bytes());
    if is_cut {
        // The end may be a part of a token.
        text.truncate(text.len() - (TOKEN_BYTES - 1));
    }
    let has_more = is_cut || text.len() > limits::EVIDENCE_BODY_BYTES;
    text.truncate(limits::EVIDENCE_BODY_BYTES);
    Ok((text, has_more))
}

/// Replaces the token by `…`. A job may print the URL, and more people see its output than may call it.
fn without_token(mut text: &[u8], token: &[u8]) -> Vec<u8> {
    let mut clean = Vec::with_capacity(text.len());
    while let Some(at) = text.windows(token.len()).position(|part| part == token) {
        clean.extend_from_slice(&text[..at]);
        clean.extend_from_slice("…".as_bytes());
        text = &text[at + token.len()..];
    }
    clean.extend_from_slice(text);
    clean
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
            headers.insert(
                RETRY_AFTER,
                HeaderValue::from(wait.as_millis().div_ceil(1_000).max(1) as u64),
            );
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

    const TOKEN: &str = "abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMN_0";

    async fn kept(body: String) -> (String, bool) {
        let (text, has_more) = beginning(Body::from(body), TOKEN).await.unwrap();
        (String::from_utf8_lossy(&text).into_owned(), has_more)
    }

    #[test]
    fn token_has_a_fixed_form() {
        assert!(is_token(TOKEN));
        assert!(!is_token(&TOKEN[1..]) && !is_token(&TOKEN.replace('_', ".")));
    }

    #[tokio::test]
    async fn body_keeps_no_token() {
        let printed = format!("curl https://aloft.example/heartbeat/{TOKEN}/fail; {TOKEN}");
        let shown = "curl https://aloft.example/heartbeat/…/fail; …".to_owned();
        assert_eq!(kept(printed).await, (shown, false));
    }

    #[tokio::test]
    async fn cut_body_keeps_no_part_of_token() {
        let most = limits::EVIDENCE_BODY_BYTES;
        assert_eq!(kept("x".repeat(most)).await, ("x".repeat(most), false));
        for before in [most - 1, most, most + 20] {
            let (text, has_more) = kept(format!("{}{TOKEN}y", "x".repeat(before))).await;
            assert!(!text.contains("abc") && has_more, "{before}");
            assert!(text.len() <= most, "{before}");
        }
        let twice = format!("{TOKEN}{}{TOKEN}", "x".repeat(most - 50));
        let (text, _) = kept(twice).await;
        assert!(!text.contains("abc"), "{text}");
    }

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
            (Some("+1"), None),
            (Some("007"), None),
            (Some("success"), None),
        ] {
            assert_eq!(signal(given).ok(), expected, "{given:?}");
        }
    }
}
