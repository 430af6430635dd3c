//! Calls to the service: each has a deadline, is retried if that is safe, and explains its failure. The
//! meaning of a call belongs to the resources.

mod failure;
mod retry;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use contract::rpc::{self, Call, Whoami};
use rules::{Scope, Timestamp};
use serde_json::Value as Json;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::failure::Failure;
use self::failure::{CallContext, explain};
pub use self::retry::{Policy, RetryDecision, RetrySafety};
use self::retry::{may_have_taken_effect, retry_after};
use crate::settings::Settings;

/// The failure of a call that was never made.
const STOPPED: &str = "Terraform asked the provider to stop before this was called.";

/// Calls the service for one run of the provider. Clones share everything except the signal that stops them.
#[derive(Clone)]
pub struct Client {
    services: rpc::Client,
    settings: Arc<Settings>,
    policy: Policy,
    /// The pause that the service asked for. It holds for all calls, because they share the rate limit.
    pause: Arc<Mutex<Option<RequestedPause>>>,
    /// Whether the key is read-only, once known.
    read_only: Arc<OnceCell<bool>>,
    /// Fires if no further attempt may begin.
    stop: CancellationToken,
}

/// A pause that the service asked for.
#[derive(Clone, Copy)]
struct RequestedPause {
    until: Instant,
    /// Its length. Waiting calls resume at random within as long again, because all at once would exceed
    /// the limit again.
    length: Duration,
}

impl RequestedPause {
    fn new(now: Instant, length: Duration) -> Self {
        Self { until: now + length, length }
    }

    /// Returns the time at which a call that is ready at `now` may start; `None` is at once. `chance` is from
    /// 0 to 1.
    fn resumes_at(self, now: Instant, chance: f64) -> Option<Instant> {
        (self.until > now).then(|| self.until + self.length.mul_f64(chance))
    }

    /// Returns the pause that ends later.
    fn or_longer(self, other: Option<Self>) -> Self {
        other.filter(|other| other.until >= self.until).unwrap_or(self)
    }
}

impl Client {
    /// Creates a client. Connects with the first call.
    pub fn new(settings: Settings) -> Result<Self, rpc::UnusableClient> {
        let policy = Policy::new(settings.max_retries);
        Self::with_policy(settings, policy)
    }

    fn with_policy(settings: Settings, policy: Policy) -> Result<Self, rpc::UnusableClient> {
        let services =
            rpc::Client::with_network(&settings.network, &settings.base_url, &settings.api_token)?;
        let settings = Arc::new(settings);
        let (quiet, reads_only) = (Arc::default(), Arc::default());
        let stop = CancellationToken::new();
        Ok(Self { services, settings, policy, pause: quiet, read_only: reads_only, stop })
    }

    /// Returns the client for calls that Terraform may cancel. Once `stop` fires, pauses end and no further
    /// attempt begins; an attempt in progress completes.
    #[must_use]
    pub fn with_cancellation(&self, stop: &CancellationToken) -> Self {
        Self { stop: stop.clone(), ..self.clone() }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Makes an idempotent call, such as a read. `method` is its path, such as
    /// `/monitor.v1.MonitorService/GetMonitor`.
    pub async fn call(&self, method: &str, request: Json) -> Result<Json, Failure> {
        self.execute(method, request, RetrySafety::Safe, None).await
    }

    /// Makes a call that creates. Its attempts share an idempotency key, so a lost response leaves no orphan.
    /// Other calls have other keys, so equal resources stay separate.
    pub async fn create(&self, method: &str, request: Json) -> Result<Json, Failure> {
        let key = format!("{:032x}", rand::random::<u128>());
        self.execute(method, request, RetrySafety::Creates, Some(&key)).await
    }

    /// Makes a call that has an effect each time. It is retried only if it was rate-limited or never sent.
    pub async fn call_once(&self, method: &str, request: Json) -> Result<Json, Failure> {
        self.execute(method, request, RetrySafety::WhenRefused, None).await
    }

    /// Returns the identity of the key.
    pub async fn whoami(&self) -> Result<Whoami, Failure> {
        let time = self.settings.request_timeout;
        self.with_retries(RetrySafety::Safe, time, || self.services.whoami()).await
    }

    /// Returns whether the key is read-only, in which case responses omit secrets. Asks once. If that fails,
    /// assumes a read-only key, so that a missing secret changes nothing.
    pub async fn is_read_only(&self) -> bool {
        let ask = || async {
            let who = self.whoami().await;
            who.map_or(true, |who| !who.actor.scopes.iter().any(|it| it == Scope::Write.as_str()))
        };
        *self.read_only.get_or_init(ask).await
    }

    async fn execute(
        &self,
        method: &str,
        request: Json,
        repeat: RetrySafety,
        idempotency_key: Option<&str>,
    ) -> Result<Json, Failure> {
        let time = match repeat {
            RetrySafety::Safe | RetrySafety::Creates => self.settings.request_timeout,
            RetrySafety::WhenRefused => rpc::CALL_TIMEOUT,
        };
        let request = &request;
        let response_bytes_max = rpc::RESPONSE_BYTES_MAX;
        let call = Call { method, request, time, idempotency_key, response_bytes_max };
        self.with_retries(repeat, time, || self.services.call(&call)).await
    }

    async fn with_retries<A, F>(
        &self,
        repeat: RetrySafety,
        time: Duration,
        call: impl Fn() -> F,
    ) -> Result<A, Failure>
    where
        F: Future<Output = Result<A, rpc::Error>>,
    {
        let late = |_| Err(rpc::Error::new(rpc::Code::DeadlineExceeded, "no response in time"));
        let mut failure = Failure::Failed(STOPPED.to_owned());
        let mut unclear = false;
        for attempt in 0.. {
            let rested = self.stop.run_until_cancelled(self.wait_for_pause()).await;
            if rested.is_none() || self.stop.is_cancelled() {
                return Err(failure);
            }
            let error = match tokio::time::timeout(time, call()).await.unwrap_or_else(late) {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let now = now();
            let asked = retry_after(&error, now);
            unclear |= may_have_taken_effect(&error);
            let (settings, tries) = (&*self.settings, attempt + 1);
            let circumstances = CallContext {
                settings,
                attempts: tries,
                requested_wait: asked,
                repeat,
                time,
                unclear,
            };
            failure = explain(&error, &circumstances);
            match self.policy.next(attempt, repeat, &error, now, rand::random()) {
                RetryDecision::Retry(pause) => {
                    self.pause_before_retry(attempt, pause, asked.is_some(), &error).await;
                }
                RetryDecision::GiveUp => return Err(failure),
            }
        }
        unreachable!("the policy bounds the number of attempts")
    }

    /// Waits before a retry. If the service requested the pause, all other calls wait too.
    async fn pause_before_retry(
        &self,
        attempt: u32,
        pause: Duration,
        is_requested: bool,
        error: &rpc::Error,
    ) {
        let pause_ms = pause.as_millis() as u64;
        tracing::info!(attempt, pause_ms, "retrying a call: {error}");
        if is_requested {
            self.start_pause(pause);
        } else {
            self.stop.run_until_cancelled(tokio::time::sleep(pause)).await;
        }
    }

    /// Waits for the end of the pause that the service asked for.
    async fn wait_for_pause(&self) {
        loop {
            let quiet = *self.pause.lock().expect("no thread panics while it holds the lock");
            match quiet.and_then(|quiet| quiet.resumes_at(Instant::now(), rand::random())) {
                Some(end) => tokio::time::sleep_until(end).await,
                None => return,
            }
        }
    }

    fn start_pause(&self, length: Duration) {
        let mut quiet = self.pause.lock().expect("no thread panics while it holds the lock");
        *quiet = Some(RequestedPause::new(Instant::now(), length).or_longer(*quiet));
    }
}

#[expect(clippy::disallowed_methods, reason = "Retry-After may be a date")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(since.as_millis() as i64)
}

#[cfg(test)]
mod tests;
