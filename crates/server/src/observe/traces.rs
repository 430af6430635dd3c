//! Traces of checks and requests for OpenTelemetry. Stages hand over what ended; spans are built and sent
//! elsewhere, so that a slow or missing receiver costs them nothing. A full queue drops more of them, and
//! counts those.
//!
//! `span` turns results and requests into spans, `otlp` encodes them, and `export` sends them.

mod export;
mod otlp;
mod route;
mod span;

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use domain::check::{AttemptEvidence, CheckResult, Outcome, Phases, ProbeName, ResultKey};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use rules::Timestamp;
use tokio::sync::mpsc;
use tokio::time::Instant;
use web::context::Context;

pub(crate) use self::export::FINISHED_WITHIN;
pub use self::export::{Exporter, RunningExporter, TraceReceiver};
use self::route::route_of;
use self::span::{Parent, SpanId, TraceId};

/// Checks and requests that wait to be sent. Each takes less than a kilobyte.
const QUEUE: usize = 16_384;
/// Places that only checks may take, so that many requests push out no failed check.
const QUEUE_FOR_CHECKS: usize = QUEUE / 2;
/// Characters of the reason that a failed check keeps.
const REASON_CHARS_MAX: usize = 256;
/// Paths that machines ask for all the time.
const UNTRACED: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Header of gRPC with the status of a call.
const GRPC_STATUS: &str = "grpc-status";
/// Statuses of gRPC that mean a failure of the server: unknown, deadline, internal, unavailable, data loss.
const GRPC_FAILURES: [&[u8]; 5] = [b"2", b"4", b"13", b"14", b"15"];
/// Header with the caller's trace. Format: <https://www.w3.org/TR/trace-context/>
const TRACEPARENT: &str = "traceparent";

/// Traces of one server. Cheap to clone; the default records nothing.
#[derive(Clone, Debug, Default)]
pub struct Traces(Arc<TraceParts>);

#[derive(Debug, Default)]
struct TraceParts {
    counters: TraceCounters,
    /// `None` without a receiver.
    recorder: Option<Recorder>,
}

#[derive(Debug)]
struct Recorder {
    ctx: Context,
    queue: mpsc::Sender<Ended>,
    share: Share,
    /// Hides from callers which of the traces that they name are kept.
    sampler: RandomState,
}

/// Share of traces to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    percent: u8,
}

/// Counters of traces.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceCounters {
    /// Spans that the receiver accepted.
    exported: Counter,
    /// Checks, requests and spans that were not sent, because the receiver was slow, missing or refused them.
    dropped: Counter,
}

/// A check or a request that ended.
#[derive(Debug)]
pub(super) enum Ended {
    Check(CheckTrace),
    Request(RequestTrace),
}

/// The parts of a result that its spans show. Evidence may be large.
#[derive(Clone, Debug)]
pub(super) struct CheckTrace {
    identity: ResultKey,
    finished_at: Timestamp,
    outcome: Outcome,
    latency_us: u32,
    phases: Phases,
    /// Duration of the hops before the last one.
    earlier_hops_us: u64,
    status: Option<u16>,
    attempts: u8,
    probe: ProbeName,
    /// Reasons of a failure.
    reason: Option<String>,
}

/// Request in progress.
#[derive(Debug)]
pub(crate) struct OpenRequest {
    trace: TraceId,
    span: SpanId,
    parent: Option<Parent>,
    method: &'static str,
    route: String,
    at: Timestamp,
    begun: Instant,
}

/// Request that was answered.
#[derive(Debug)]
pub(super) struct RequestTrace {
    open: OpenRequest,
    id: String,
    status: StatusCode,
    is_failed: bool,
    micros: u64,
}

impl Share {
    /// Returns whether a trace with this random number or hash is kept.
    fn keeps(self, number: impl FnOnce() -> u64) -> bool {
        match self.percent {
            0 => false,
            100 => true,
            percent => number() % 100 < u64::from(percent),
        }
    }
}

impl CheckTrace {
    fn new(result: &CheckResult) -> Self {
        let last = result.evidence.as_ref().and_then(|evidence| evidence.attempts.last());
        let reason = |attempt: &AttemptEvidence| {
            attempt.reasons.join("; ").chars().take(REASON_CHARS_MAX).collect()
        };
        let earlier = last.and_then(|attempt| attempt.hops.split_last());
        let earlier = earlier.map_or(&[][..], |(_, earlier)| earlier);
        Self {
            identity: result.identity,
            finished_at: result.finished_at,
            outcome: result.outcome,
            latency_us: result.latency_us,
            phases: result.phases,
            earlier_hops_us: earlier.iter().map(|hop| span::duration_us(&hop.phases)).sum(),
            status: result.status,
            attempts: result.attempts,
            probe: result.probe.clone(),
            reason: last.filter(|_| result.outcome == Outcome::Failure).map(reason),
        }
    }
}

impl Traces {
    /// Creates traces to send to a receiver, and the exporter that sends them.
    pub fn to(receiver: TraceReceiver, ctx: &Context) -> (Self, Exporter) {
        let (queue, ended) = mpsc::channel(QUEUE);
        let share = Share { percent: receiver.sample_percent };
        let counters = TraceCounters::default();
        let exporter = Exporter::new(receiver, ended, counters.clone());
        let recorder = Recorder { ctx: ctx.clone(), queue, share, sampler: RandomState::new() };
        (Self(Arc::new(TraceParts { counters, recorder: Some(recorder) })), exporter)
    }

    /// Shows the counters on the page of metrics.
    pub(super) fn register(&self, registry: &mut Registry) {
        let TraceCounters { exported, dropped } = self.0.counters.clone();
        let help = "Spans that the OpenTelemetry receiver accepted";
        registry.register("spans_exported", help, exported);
        let help = "Checks, requests and spans that did not reach the OpenTelemetry receiver";
        registry.register("spans_dropped", help, dropped);
    }

    /// Records stored results. Those that failed or are degraded are always kept.
    pub(crate) fn record_checks(&self, results: &[CheckResult]) {
        let Some(recorder) = &self.0.recorder else { return };
        // An evaluation of a heartbeat monitor sends nothing, and a call without a duration has no span.
        for result in results.iter().filter(|result| result.attempts > 0) {
            let is_kept = match result.outcome {
                Outcome::Skipped => false,
                Outcome::Degraded | Outcome::Failure => true,
                Outcome::Success => {
                    recorder.share.keeps(|| TraceId::of_check(&result.identity).number())
                }
            };
            if is_kept {
                self.record(recorder, Ended::Check(CheckTrace::new(result)));
            }
        }
    }

    /// Begins the trace of a request, as a part of the caller's trace if it names one.
    pub(crate) fn begin<B>(&self, request: &Request<B>) -> Option<OpenRequest> {
        let recorder = self.0.recorder.as_ref()?;
        let path = request.uri().path();
        if UNTRACED.contains(&path) {
            return None;
        }
        let parent = parent(request.headers());
        let trace = parent.map_or_else(|| TraceId::random(&recorder.ctx), |parent| parent.trace);
        Some(OpenRequest {
            trace,
            span: SpanId::random(&recorder.ctx),
            parent,
            method: method_of(request.method()),
            route: route_of(path),
            at: recorder.ctx.now(),
            begun: Instant::now(),
        })
    }

    /// Records an answered request. Those that failed on the server are always kept.
    pub(crate) fn end<B>(&self, open: Option<OpenRequest>, id: &str, response: &Response<B>) {
        let (Some(recorder), Some(open)) = (&self.0.recorder, open) else { return };
        let is_failed = is_failed(response);
        let is_wanted = open.parent.is_none_or(|parent| parent.is_sampled);
        let number = || recorder.sampler.hash_one(open.trace);
        let is_kept = is_failed || (is_wanted && recorder.share.keeps(number));
        if !is_kept {
            return;
        }
        if recorder.queue.capacity() <= QUEUE_FOR_CHECKS {
            self.0.counters.dropped.inc();
            return;
        }
        let micros = u64::try_from(open.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (id, status) = (id.to_owned(), response.status());
        self.record(recorder, Ended::Request(RequestTrace { open, id, status, is_failed, micros }));
    }

    fn record(&self, recorder: &Recorder, ended: Ended) {
        if recorder.queue.try_send(ended).is_err() {
            self.0.counters.dropped.inc();
        }
    }
}

/// Returns the caller's span. A malformed or a repeated header counts as none.
fn parent(headers: &HeaderMap) -> Option<Parent> {
    let mut given = headers.get_all(TRACEPARENT).iter();
    let (first, None) = (given.next()?, given.next()) else { return None };
    Parent::parse(first.to_str().ok()?)
}

/// Returns the name of a method. Callers may invent others, of any length.
fn method_of(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    known.into_iter().find(|known| method.as_str() == *known).unwrap_or("_OTHER")
}

fn is_failed<B>(response: &Response<B>) -> bool {
    let grpc = response.headers().get(GRPC_STATUS).map(http::HeaderValue::as_bytes);
    response.status().is_server_error() || grpc.is_some_and(|it| GRPC_FAILURES.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invented_method_has_a_short_name() {
        let invented = Method::from_bytes("A".repeat(1_000).as_bytes()).unwrap();
        assert_eq!((method_of(&invented), method_of(&Method::PATCH)), ("_OTHER", "PATCH"));
    }

    #[test]
    fn failed_grpc_call_counts_as_failed() {
        let answer = |status: u16, grpc: Option<&'static str>| {
            let mut response = Response::builder().status(status);
            if let Some(grpc) = grpc {
                response = response.header(GRPC_STATUS, grpc);
            }
            is_failed(&response.body(()).unwrap())
        };
        assert!(answer(200, Some("13")) && answer(500, None));
        assert!(!answer(200, Some("0")) && !answer(200, Some("5")) && !answer(404, None));
    }

    #[test]
    fn requests_leave_places_for_checks() {
        let (ctx, _clock) = Context::manual(Timestamp::from_millis(0));
        let (queue, _ended) = mpsc::channel(QUEUE);
        let share = Share { percent: 100 };
        let recorder = Recorder { ctx, queue, share, sampler: RandomState::new() };
        let traces =
            Traces(Arc::new(TraceParts { recorder: Some(recorder), ..TraceParts::default() }));
        let request = Request::get("/v1/whoami").body(()).unwrap();
        for _ in 0..QUEUE {
            traces.end(traces.begin(&request), "req", &Response::new(()));
        }
        assert_eq!(traces.0.counters.dropped.get(), (QUEUE - QUEUE_FOR_CHECKS) as u64);
        let health = Request::get("/healthz").body(()).unwrap();
        assert!(traces.begin(&health).is_none());
    }
}
