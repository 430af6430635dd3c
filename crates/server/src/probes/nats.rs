//! The way through NATS: keeps a connection, and runs what depends on it. `streams` creates the work
//! queues, `requests` answers probes, `jobs` publishes the jobs of an open stream, and `results` takes
//! results. NATS may be down at any time: everything else works, and slots of its probes are missed.

mod jobs;
mod requests;
mod results;
mod status;
mod streams;

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State as ConnectionState;
use async_nats::jetstream::{self, Context as JetStream};
use async_nats::{Client, ServerInfo};
use remote::nats::{self, NatsError, NatsSettings};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

pub(crate) use self::status::NatsStatus;
use super::ProbeCalls;
use crate::observe::metrics::ProbeMetrics;

/// Interval in which the state of the connection is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Time limit of an answer of NATS.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// Oldest version that can expire single messages and is maintained.
const VERSION_MIN: (i64, i64, i64) = (2, 12, 0);

/// The lane through NATS. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct NatsLane(Arc<LaneParts>);

#[derive(Debug)]
struct LaneParts {
    calls: ProbeCalls,
    settings: NatsSettings,
    status: NatsStatus,
    /// The current connection.
    jetstream: Mutex<Option<JetStream>>,
    /// Streams of jobs that are open.
    streams: TaskTracker,
    stop: CancellationToken,
}

/// Attempts to connect since the last connection.
#[derive(Default)]
struct Retries {
    failures: u32,
    /// Why the last one failed, which is in the log.
    reason: Option<String>,
}

impl NatsLane {
    /// Creates the lane. It shows its state in `status`, and ends with `stop`.
    pub(crate) fn new(
        calls: ProbeCalls,
        settings: NatsSettings,
        status: NatsStatus,
        stop: CancellationToken,
    ) -> Self {
        let (jetstream, streams) = (Mutex::default(), TaskTracker::new());
        Self(Arc::new(LaneParts { calls, settings, status, jetstream, streams, stop }))
    }

    /// Keeps a connection until the stop.
    pub(crate) async fn run(self) {
        let mut retries = Retries::default();
        let stop = self.0.stop.clone();
        loop {
            let serving = Box::pin(self.serve(&mut retries));
            let Some(Err(why)) = stop.run_until_cancelled(serving).await else { break };
            self.set_connected(false);
            self.metrics().nats_failures.inc();
            let why = why.to_string();
            if retries.reason.as_ref() != Some(&why) {
                warn!("{why}; regions of its probes are not checked until it works; trying again");
                retries.reason = Some(why);
            }
            retries.failures = retries.failures.saturating_add(1);
            let chance = self.0.calls.ctx.random();
            let pause = remote::BACKOFF.jittered_pause_after(retries.failures, chance);
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                break;
            }
        }
        self.0.streams.close();
        self.0.streams.wait().await;
    }

    /// Connects, and serves probes until something fails.
    async fn serve(&self, retries: &mut Retries) -> Result<Infallible, NatsError> {
        let client = nats::connect(&self.0.settings, "aloft server", nats::server_inbox()).await?;
        self.check(&client.server_info())?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(ANSWER_WITHIN);
        let results = streams::results(&jetstream).await.map_err(|why| self.unfit(why))?;
        let requests = client.subscribe(nats::CALLS_SUBJECTS).await;
        let requests = requests.map_err(|error| self.unfit(nats::with_causes(&error)))?;
        *self.0.jetstream.lock().unwrap_or_else(PoisonError::into_inner) = Some(jetstream);
        self.set_connected(true);
        info!("serving probes through NATS at {}", self.0.settings.urls);
        *retries = Retries::default();
        tokio::select! {
            why = self.take_results(results) => Err(self.unfit(why)),
            why = self.answer(client.clone(), requests) => Err(self.unfit(why)),
            () = self.follow(&client) => unreachable!("it has no end"),
            () = self.delete_unused_queues() => unreachable!("it has no end"),
        }
    }

    /// Deletes the queues of deleted probes, now and after each change of probes.
    async fn delete_unused_queues(&self) {
        let tokens = &self.0.calls.tokens;
        let mut changes = tokens.changes();
        loop {
            if let Some(jetstream) = self.jetstream()
                && let Err(why) = streams::delete_unused(&jetstream, tokens).await
            {
                warn!("queues of deleted probes stay in NATS: {why}");
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// Rejects a server that cannot carry jobs.
    fn check(&self, server: &ServerInfo) -> Result<(), NatsError> {
        let version = server.version.split(['.', '-']).map(|it| it.parse().unwrap_or(0));
        let version: Vec<i64> = version.take(3).collect();
        let (major, minor, patch) = VERSION_MIN;
        if version < vec![major, minor, patch] {
            let why =
                format!("it is version {}, and {major}.{minor} or newer is needed", server.version);
            return Err(self.unfit(why));
        }
        if server.jetstream {
            return Ok(());
        }
        Err(self.unfit("JetStream is off; add `jetstream {…}` to its configuration".to_owned()))
    }

    /// Shows whether the connection works.
    async fn follow(&self, client: &Client) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.set_connected(client.connection_state() == ConnectionState::Connected);
        }
    }

    /// Shows whether NATS is connected in `/readyz` and `/metrics`.
    fn set_connected(&self, is_connected: bool) {
        self.0.status.set(is_connected);
        self.metrics().nats_connected.set(i64::from(is_connected));
    }

    fn metrics(&self) -> &ProbeMetrics {
        &self.0.calls.metrics.probes
    }

    fn unfit(&self, why: String) -> NatsError {
        NatsError::Unfit { urls: self.0.settings.urls.clone(), why }
    }

    fn jetstream(&self) -> Option<JetStream> {
        self.0.jetstream.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
