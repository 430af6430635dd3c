//! Sends spans to a receiver by OTLP over HTTP: several in one request, and again if the protocol allows
//! that.

use std::time::Duration;

use bytes::Bytes;
use contract::rpc::{Network, Transport, UnusableClient};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::span::{Span, span_of_request, spans_of_check};
use super::{Ended, TraceCounters, otlp};
use crate::config::TraceSettings;

/// Path of the receiver for spans, below its address.
const PATH: &str = "/v1/traces";
/// Results and requests in one request.
const BATCH: usize = 512;
/// Time for which a batch waits to be filled.
const BATCH_WITHIN: Duration = Duration::from_secs(1);
/// Time of one request.
const SENT_WITHIN: Duration = Duration::from_secs(10);
/// Time of the last requests, when the server stops.
pub(crate) const FINISHED_WITHIN: Duration = Duration::from_secs(3);
/// Times before the next requests with the same spans.
const RETRIES: [Duration; 4] = [
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
    Duration::from_secs(30),
];
/// Maximum of the time that a receiver may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(1);
/// Characters of what a receiver says about refused spans.
const REASON_CHARS_MAX: usize = 200;
const RESPONSE_BYTES_MAX: usize = 64 * 1024;

/// A receiver of OTLP, such as an OpenTelemetry collector.
#[derive(Clone, Debug)]
pub struct TraceReceiver {
    transport: Transport,
    address: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Share of traces to keep.
    pub(super) sample_percent: u8,
}

/// Sends spans until the server stops.
#[derive(Debug)]
pub struct Exporter {
    receiver: TraceReceiver,
    ended: mpsc::Receiver<Ended>,
    counters: TraceCounters,
    /// Whether the last request failed, so that an outage is one line of the log.
    is_failing: bool,
}

/// Exporter that runs.
#[derive(Debug)]
pub struct RunningExporter {
    stop: CancellationToken,
    task: JoinHandle<()>,
}

/// Outcome of one request.
enum Sent {
    Accepted,
    /// To be sent again, at the earliest after this time.
    Again(Option<Duration>, String),
    Refused(String),
}

impl TraceReceiver {
    /// Creates a receiver. Connects with the first request.
    ///
    /// # Errors
    /// Fails if the address cannot be used.
    pub fn new(settings: &TraceSettings) -> Result<Self, UnusableClient> {
        let TraceSettings { endpoint, headers, sample_percent } = settings.clone();
        let address = format!("{}{PATH}", endpoint.trim_end_matches('/'));
        let (transport, address) = Transport::to(&address, &Network::default())?;
        Ok(Self { transport, address, headers, sample_percent })
    }
}

impl Exporter {
    pub(super) const fn new(
        receiver: TraceReceiver,
        ended: mpsc::Receiver<Ended>,
        counters: TraceCounters,
    ) -> Self {
        Self { receiver, ended, counters, is_failing: false }
    }

    /// Starts to send.
    pub fn start(self) -> RunningExporter {
        let stop = CancellationToken::new();
        let task = tokio::spawn(self.run(stop.clone()));
        RunningExporter { stop, task }
    }

    async fn run(mut self, stop: CancellationToken) {
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            let first = stop.run_until_cancelled(self.ended.recv_many(&mut batch, BATCH)).await;
            if first.is_none_or(|count| count == 0) {
                break;
            }
            let full_at = Instant::now() + BATCH_WITHIN;
            while batch.len() < BATCH {
                let room = BATCH - batch.len();
                let more = self.ended.recv_many(&mut batch, room);
                let more = stop.run_until_cancelled(timeout_at(full_at, more)).await;
                if !matches!(more, Some(Ok(1..))) {
                    break;
                }
            }
            let spans = spans(&batch);
            if stop.run_until_cancelled(self.send(&spans)).await.is_none() {
                self.finish(spans).await;
                return;
            }
        }
        self.finish(Vec::new()).await;
    }

    /// Sends what waits, once, because the server stops.
    async fn finish(mut self, mut spans: Vec<Span>) {
        let until = Instant::now() + FINISHED_WITHIN;
        loop {
            let mut batch = Vec::new();
            while batch.len() < BATCH
                && let Ok(ended) = self.ended.try_recv()
            {
                batch.push(ended);
            }
            spans.extend(self::spans(&batch));
            if spans.is_empty() {
                return;
            }
            match timeout_at(until, self.send_once(&encode(&spans), spans.len())).await {
                Ok(Sent::Accepted) => {}
                Ok(Sent::Again(_, why) | Sent::Refused(why)) => self.drop_spans(spans.len(), &why),
                Err(_) => self.drop_spans(spans.len(), "no answer before the server stopped"),
            }
            spans.clear();
        }
    }

    /// Sends spans, with retries.
    async fn send(&mut self, spans: &[Span]) {
        let (mut pauses, body) = (RETRIES.into_iter(), encode(spans));
        loop {
            let why = match self.send_once(&body, spans.len()).await {
                Sent::Accepted => {
                    if std::mem::take(&mut self.is_failing) {
                        tracing::info!("the receiver of traces answers again");
                    }
                    return;
                }
                Sent::Again(after, why) => match pauses.next() {
                    Some(pause) => {
                        self.warn(&why);
                        sleep(after.unwrap_or_default().clamp(pause, RETRY_AFTER_MAX)).await;
                        continue;
                    }
                    None => why,
                },
                Sent::Refused(why) => why,
            };
            self.drop_spans(spans.len(), &why);
            return;
        }
    }

    async fn send_once(&mut self, body: &Bytes, count: usize) -> Sent {
        let body = Full::new(body.clone());
        let mut request = Request::post(self.receiver.address.clone());
        request = request.header(CONTENT_TYPE, "application/json");
        for (name, value) in &self.receiver.headers {
            request = request.header(name, value);
        }
        let request = match request.body(body) {
            Ok(request) => request,
            Err(why) => return Sent::Refused(why.to_string()),
        };
        let answer = async {
            let (parts, body) = self.receiver.transport.send(request).await?.into_parts();
            let body = Limited::new(body, RESPONSE_BYTES_MAX).collect().await;
            Ok((parts, body.map(http_body_util::Collected::to_bytes).unwrap_or_default()))
        };
        let (parts, body) = match timeout(SENT_WITHIN, answer).await {
            Err(_) => return Sent::Again(None, "no answer".to_owned()),
            Ok(Err(why)) => return Sent::Again(None, describe(&why)),
            Ok(Ok(answer)) => answer,
        };
        let response = Response::from_parts(parts, body);
        self.judge(&response, count)
    }

    /// Interprets an answer. Rules: <https://opentelemetry.io/docs/specs/otlp/#otlphttp-response>
    fn judge(&mut self, response: &Response<Bytes>, count: usize) -> Sent {
        let status = response.status();
        if status.is_success() {
            let refused = otlp::refused(response.body());
            let count = count as u64;
            let refused_count = refused.as_ref().map_or(0, |(refused, _)| (*refused).min(count));
            if let Some((refused, why)) = refused {
                let why: String = why.chars().take(REASON_CHARS_MAX).collect();
                self.warn(&format!("{refused} spans were refused: {why:?}"));
            }
            self.counters.dropped.inc_by(refused_count);
            self.counters.exported.inc_by(count - refused_count);
            return Sent::Accepted;
        }
        let why = format!("HTTP {}", status.as_u16());
        match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => {
                let after = response.headers().get(RETRY_AFTER).and_then(|it| it.to_str().ok());
                let seconds = after.and_then(|it| it.trim().parse().ok());
                Sent::Again(seconds.map(Duration::from_secs), why)
            }
            _ => Sent::Refused(why),
        }
    }

    fn drop_spans(&mut self, count: usize, why: &str) {
        self.counters.dropped.inc_by(count as u64);
        self.warn(why);
    }

    fn warn(&mut self, why: &str) {
        if !std::mem::replace(&mut self.is_failing, true) {
            // Some receivers have a token in their path.
            let host = self.receiver.address.host().unwrap_or_default();
            tracing::warn!("failed to send traces to {host}: {why}");
        }
    }
}

impl RunningExporter {
    /// Sends what waits, and ends.
    pub async fn finish(self) {
        self.stop.cancel();
        if let Err(why) = self.task.await {
            tracing::error!("the export of traces ended early: {why}");
        }
    }
}

fn encode(spans: &[Span]) -> Bytes {
    Bytes::from(otlp::encode(spans))
}

fn spans(batch: &[Ended]) -> Vec<Span> {
    let of_one = |ended: &Ended| match ended {
        Ended::Check(check) => spans_of_check(check),
        Ended::Request(request) => vec![span_of_request(request)],
    };
    batch.iter().flat_map(of_one).collect()
}

fn describe(error: &contract::rpc::Error) -> String {
    error.message.clone().unwrap_or_else(|| error.to_string())
}
