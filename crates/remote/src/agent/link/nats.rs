//! The connection to the server through NATS. Jobs come from the work queues of the probe's regions, and
//! results go into another one, so both wait in NATS while the other side is away. Requests to the server
//! itself open the stream, show that the probe lives, and sample the server's clock.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::connection::State as ConnectionState;
use async_nats::jetstream::consumer::pull::{Config as PullConfig, MessagesError};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context, Message as StreamMessage};
use async_nats::{Client, Request, RequestErrorKind};
use buffa::Message as _;
use futures_util::future::try_join_all;
use futures_util::stream::{SelectAll, Stream, StreamExt as _};
use http::StatusCode;
use rules::{ProbeId, Region, Secret, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tracing::warn;

use super::super::AgentError;
use super::super::clock::Sample;
use super::{Answer, LinkError, refused};
use crate::nats::{self, NatsCall, NatsError, NatsSettings, with_causes};
use crate::ticket::result_message_id;
use crate::{TOKEN_PREFIX, wire};

/// Time limit of an answer of the server.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Time limit of the answer to a sign of life.
const ALIVE_WITHIN: Duration = Duration::from_secs(3);
/// Interval of signs of life: some before the server takes the probe for gone.
const ALIVE_EVERY: Duration = Duration::from_millis(2_500);
/// Jobs that NATS sends in advance. The probe queues them itself.
const JOBS_AHEAD: usize = 256;

type Jobs = Pin<Box<dyn Stream<Item = Result<StreamMessage, MessagesError>> + Send>>;

/// The way to the server through NATS.
pub(in crate::agent) struct NatsLink {
    settings: NatsSettings,
    probe: ProbeId,
    token: Secret<String>,
    state: Mutex<State>,
    ended: Notify,
}

#[derive(Default)]
struct State {
    /// Connection; `None` before the first one.
    connection: Option<Connection>,
    /// Number of the open stream; 0 without one.
    session: u64,
    /// Reason why the server ended that stream.
    end: Option<LinkError>,
    /// Time of the last sign of life.
    alive_at: Option<Instant>,
    /// Whether the server did not answer the last one.
    is_server_silent: bool,
    /// Number of dropped results that the server knows of, but the reporter still counts.
    dropped_told: i32,
}

#[derive(Clone)]
struct Connection {
    client: Client,
    jetstream: Context,
}

/// The frames of a stream of jobs: the first one, and then each job.
pub(in crate::agent) struct NatsFrames<'l> {
    link: &'l NatsLink,
    first: Option<wire::Frame>,
    jobs: SelectAll<Jobs>,
}

impl NatsLink {
    pub(super) fn new(settings: NatsSettings, token: &Secret<String>) -> Result<Self, AgentError> {
        let probe = probe_of(token.expose()).ok_or(AgentError::MalformedToken)?;
        let (token, state, ended) = (token.clone(), Mutex::default(), Notify::new());
        Ok(Self { settings, probe, token, state, ended })
    }

    /// Opens a stream of jobs.
    pub(super) async fn open(
        &self,
        request: &wire::OpenRequest,
    ) -> Result<NatsFrames<'_>, LinkError> {
        let connection = self.connect().await?;
        // The server would send jobs of both streams.
        self.close().await;
        let asked = self.call(&connection, NatsCall::Open, request.encode_to_vec(), ANSWER_WITHIN);
        let answer = asked.await?;
        let first = wire::Frame::decode_from_slice(&answer)
            .map_err(|_| LinkError::Malformed("not the begin of a stream"))?;
        let (regions, session) = match first.welcome.as_option() {
            Some(welcome) => (welcome.regions.clone(), welcome.session),
            None => return Err(LinkError::Malformed("no welcome")),
        };
        {
            let mut state = self.state();
            state.session = session;
            state.end = None;
            state.alive_at = None;
        }
        let subscribing = regions.iter().map(|region| self.jobs_of(&connection, region));
        let jobs = match try_join_all(subscribing).await {
            Ok(jobs) => jobs.into_iter().collect(),
            Err(error) => {
                self.close().await;
                return Err(error);
            }
        };
        Ok(NatsFrames { link: self, first: Some(first), jobs })
    }

    /// Publishes results, and shows the server that the probe lives.
    pub(super) async fn report(
        &self,
        request: &wire::ReportRequest,
        within: Duration,
    ) -> Result<Answer, LinkError> {
        let connection = self.connected()?;
        let (published, sample) = tokio::join!(
            self.publish(&connection, &request.results, within),
            self.show_alive(&connection, request)
        );
        published?;
        if sample.is_some() {
            // The reporter no longer counts them.
            self.state().dropped_told = 0;
        }
        Ok(Answer { refusals: Vec::new(), sample })
    }

    /// Tells the server that the stream ends, if one is open.
    pub(super) async fn close(&self) {
        let session = std::mem::take(&mut self.state().session);
        let Ok(connection) = self.connected() else { return };
        if session == 0 {
            return;
        }
        let last = wire::ReportRequest { session, ..wire::ReportRequest::default() };
        // Without an answer, the server notices the silence.
        let _ = self.call(&connection, NatsCall::Close, last.encode_to_vec(), ALIVE_WITHIN).await;
    }

    /// Returns the connection, which the first call opens.
    async fn connect(&self) -> Result<Connection, LinkError> {
        if self.state().connection.is_some() {
            return self.connected();
        }
        let (name, inbox) = (format!("aloft probe {}", self.probe), nats::probe_inbox(self.probe));
        let client = nats::connect(&self.settings, &name, &inbox).await.map_err(|error| {
            let reason = error.to_string();
            match error {
                NatsError::Unavailable { .. } => LinkError::Unavailable(reason),
                NatsError::Unusable(_) | NatsError::Refused { .. } | NatsError::Unfit { .. } => {
                    LinkError::UnusableNats(reason)
                }
            }
        })?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER_WITHIN);
        let connection = Connection { client, jetstream };
        self.state().connection = Some(connection.clone());
        Ok(connection)
    }

    fn connected(&self) -> Result<Connection, LinkError> {
        let connection = self.state().connection.clone();
        let is_up = |it: &Connection| it.client.connection_state() == ConnectionState::Connected;
        let urls = &self.settings.urls;
        connection
            .filter(is_up)
            .ok_or_else(|| LinkError::Unavailable(format!("NATS at {urls} is not connected")))
    }

    /// Subscribes to the jobs of a region.
    async fn jobs_of(&self, connection: &Connection, region: &str) -> Result<Jobs, LinkError> {
        let cannot = |why: String| {
            let text = "NATS gives no access to the jobs of region";
            LinkError::Unavailable(format!("{text} {region}: {why}; do the credentials allow it?"))
        };
        let known = region.parse::<Region>().map_err(|_| LinkError::Malformed("unknown region"))?;
        let stream = nats::jobs_stream(self.probe, known);
        let consumer = connection.jetstream.get_consumer_from_stream(nats::CONSUMER, stream);
        let consumer: jetstream::consumer::Consumer<PullConfig> =
            consumer.await.map_err(|error| cannot(with_causes(&error)))?;
        let jobs = consumer
            .stream()
            .max_messages_per_batch(JOBS_AHEAD)
            .expires(nats::PULL_EXPIRES)
            .heartbeat(nats::IDLE_HEARTBEAT)
            .messages();
        Ok(Box::pin(jobs.await.map_err(|error| cannot(with_causes(&error)))?))
    }

    /// Publishes results, and waits until NATS has stored them. NATS drops those that it has already.
    async fn publish(
        &self,
        connection: &Connection,
        results: &[wire::JobResult],
        within: Duration,
    ) -> Result<(), LinkError> {
        let subject = nats::results_subject(self.probe);
        let publishing = async {
            let mut pending = Vec::with_capacity(results.len());
            for result in results {
                let mut message = PublishMessage::build().payload(result.encode_to_vec().into());
                if let Some(id) = result_message_id(&result.ticket) {
                    message = message.message_id(id);
                }
                pending.push(connection.jetstream.send_publish(subject.clone(), message).await?);
            }
            try_join_all(pending.into_iter().map(IntoFuture::into_future)).await
        };
        let stored = timeout(within, publishing).await.map_err(|_| LinkError::Silent(within))?;
        stored.map(|_| ()).map_err(|error| unpublished(&error))
    }

    /// Shows the server that this probe lives, if it is time. Returns a sample of the server's clock if it
    /// answers.
    async fn show_alive(
        &self,
        connection: &Connection,
        request: &wire::ReportRequest,
    ) -> Option<Sample> {
        let asked = Instant::now();
        let (session, told) = {
            let mut state = self.state();
            let is_early = state.alive_at.is_some_and(|at| asked - at < ALIVE_EVERY);
            if state.session == 0 || state.end.is_some() || is_early {
                return None;
            }
            state.alive_at = Some(asked);
            (state.session, state.dropped_told)
        };
        let head = wire::ReportRequest {
            sent_at_ms: request.sent_at_ms,
            version: request.version.clone(),
            results: Vec::new(),
            running: request.running,
            waiting: request.waiting,
            dropped: request.dropped.saturating_sub(told),
            session,
        };
        let answer =
            self.call(connection, NatsCall::Report, head.encode_to_vec(), ALIVE_WITHIN).await;
        let answered = Instant::now();
        let mut state = self.state();
        match answer {
            Ok(answer) => {
                state.is_server_silent = false;
                state.dropped_told = request.dropped;
                let answer = wire::ReportResponse::decode_from_slice(&answer).ok()?;
                let server = Timestamp::from_millis(answer.sent_at_ms);
                return Some(Sample { asked, answered, server });
            }
            Err(why @ (LinkError::Refused { .. } | LinkError::Broken(_))) => {
                // Another stream may have been opened meanwhile.
                if state.session == session {
                    state.end = Some(why);
                    self.ended.notify_one();
                }
            }
            Err(why) => {
                if !std::mem::replace(&mut state.is_server_silent, true) {
                    warn!("the server does not answer: {why}; NATS keeps the results for it");
                }
            }
        }
        None
    }

    /// Sends a request to the server and returns its answer.
    async fn call(
        &self,
        connection: &Connection,
        call: NatsCall,
        payload: Vec<u8>,
        within: Duration,
    ) -> Result<bytes::Bytes, LinkError> {
        let request = Request::new()
            .headers(nats::authorized(self.token.expose()))
            .payload(payload.into())
            .timeout(Some(within));
        // The limit of the request does not include the wait for a place in the queue of the client.
        let sent = connection.client.send_request(call.subject(self.probe), request);
        let sent = timeout(within, sent).await.map_err(|_| LinkError::Silent(within))?;
        let answer = sent.map_err(|error| match error.kind() {
            RequestErrorKind::NoResponders => {
                LinkError::Unavailable("no server is connected to NATS".to_owned())
            }
            RequestErrorKind::TimedOut => LinkError::Silent(within),
            RequestErrorKind::InvalidSubject
            | RequestErrorKind::MaxPayloadExceeded
            | RequestErrorKind::Other => LinkError::Unavailable(with_causes(&error)),
        })?;
        match nats::refused_status(answer.headers.as_ref()) {
            Some(status) => {
                let reason = String::from_utf8_lossy(&answer.payload).trim().to_owned();
                let status = StatusCode::from_u16(status)
                    .map_err(|_| LinkError::Malformed("unknown status"))?;
                Err(refused(status, reason))
            }
            None => Ok(answer.payload),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl NatsFrames<'_> {
    /// Waits for the next frame.
    pub(super) async fn next(&mut self) -> Result<wire::Frame, LinkError> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        let message = tokio::select! {
            biased;
            why = self.link.wait_for_end() => return Err(why),
            message = self.jobs.next() => message,
        };
        let message = match message {
            Some(Ok(message)) => message,
            Some(Err(error)) => return Err(LinkError::Broken(with_causes(&error))),
            None => return Err(LinkError::Broken("NATS ended it".to_owned())),
        };
        // An unconfirmed job comes again, and its second result is dropped.
        if let Err(error) = message.ack().await {
            return Err(LinkError::Broken(error.to_string()));
        }
        let job = wire::Job::decode_from_slice(&message.payload)
            .map_err(|_| LinkError::Malformed("a job is not a message"))?;
        Ok(wire::Frame { sent_at_ms: job.sent_at_ms, jobs: vec![job], ..wire::Frame::default() })
    }
}

impl NatsLink {
    /// Waits until the server ends the stream, and returns the reason.
    async fn wait_for_end(&self) -> LinkError {
        loop {
            if let Some(why) = self.state().end.clone() {
                return why;
            }
            self.ended.notified().await;
        }
    }
}

/// Returns the error of results that NATS did not store.
fn unpublished(error: &PublishError) -> LinkError {
    let reason = with_causes(error);
    match error.kind() {
        PublishErrorKind::MaxPayloadExceeded => LinkError::Refused { reason, is_request: true },
        PublishErrorKind::StreamNotFound
        | PublishErrorKind::WrongLastMessageId
        | PublishErrorKind::WrongLastSequence
        | PublishErrorKind::TimedOut
        | PublishErrorKind::BrokenPipe
        | PublishErrorKind::MaxAckPending
        | PublishErrorKind::Other => {
            LinkError::Unavailable(format!("NATS stores no results: {reason}"))
        }
    }
}

/// Returns the ID of the probe that a token is for.
fn probe_of(token: &str) -> Option<ProbeId> {
    let (digits, _) = token.strip_prefix(TOKEN_PREFIX)?.split_once('_')?;
    ProbeId::parse(&format!("{}{digits}", ProbeId::PREFIX)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_names_its_probe() {
        let probe = probe_of("aloftprobe_028t5cy4tqkff_mpjtb9d5").unwrap();
        assert_eq!(probe.to_string(), "prb_028t5cy4tqkff");
        for other in ["aloft_028t5cy4tqkff_mpjt", "aloftprobe_028t5cy4tqkff", "aloftprobe_x_y", ""]
        {
            assert_eq!(probe_of(other), None, "{other}");
        }
    }
}
