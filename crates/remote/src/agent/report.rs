//! Reports results to the server. Results that end while a report is under way share the next one. Results
//! that the server does not accept within a second go to the spool, and from there to the server once it
//! answers again. New results go first, because verdicts depend on them.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::counted;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::AgentSettings;
use super::clock::ServerClock;
use super::link::{Answer, Link, LinkError};
use super::spool::{Entry, Spool};
use super::work::Load;
use crate::{BACKOFF, REPORT_BYTES_MAX, wire};

/// Maximum number of results in a report.
const RESULTS_PER_REPORT: usize = 512;
/// Size from which a report takes no further result, in bytes. One more fits in any case. Proxies often
/// limit bodies to 1 MiB.
const REPORT_BYTES: usize = 512 * 1024;
const _: () = assert!(REPORT_BYTES + crate::RESULT_BYTES_MAX <= REPORT_BYTES_MAX);
/// Interval of reports without results, which show that the probe lives.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Interval in which results go to the disk until the server answers.
const SPOOL_EVERY: Duration = Duration::from_secs(1);
/// Time limit of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Time limit of an answer during a stop.
const LAST_ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The content of the latest welcome. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Welcomed(Arc<Mutex<Option<WelcomeState>>>);

/// The state of [`Welcomed`].
#[derive(Clone, Copy, Debug)]
pub(super) struct WelcomeState {
    /// Key of the spool.
    pub(super) spool_key: [u8; 32],
    /// Number of the latest stream.
    pub(super) session: u64,
}

/// Delivers results.
pub(super) struct Reporter {
    link: Arc<Link>,
    spool: Option<Spool>,
    welcomed: Welcomed,
    clock: ServerClock,
    version: &'static str,
    /// Results that no report contains yet.
    pending: VecDeque<wire::JobResult>,
    /// Number of dropped results that the server does not know of.
    dropped: usize,
    answer_within: Duration,
    /// Maximum number of results in the next report: fewer after one was refused.
    results_max: usize,
    /// While the server does not answer: the time of the next attempt, and the number of failures.
    waiting: Option<(Instant, u32)>,
}

impl Welcomed {
    pub(super) fn set(&self, state: WelcomeState) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }

    fn get(&self) -> Option<WelcomeState> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spool_key(&self) -> Option<[u8; 32]> {
        self.get().map(|it| it.spool_key)
    }
}

impl Reporter {
    pub(super) fn new(
        settings: &AgentSettings,
        link: Arc<Link>,
        spool: Spool,
        clock: ServerClock,
    ) -> Self {
        Self {
            link,
            spool: Some(spool),
            welcomed: Welcomed::default(),
            clock,
            version: settings.version,
            pending: VecDeque::new(),
            dropped: 0,
            answer_within: ANSWER_WITHIN,
            results_max: RESULTS_PER_REPORT,
            waiting: None,
        }
    }

    pub(super) fn welcomed(&self) -> Welcomed {
        self.welcomed.clone()
    }

    /// Delivers results until `stop`, and then those that remain.
    pub(super) async fn run(
        mut self,
        mut results: mpsc::Receiver<wire::JobResult>,
        load: Load,
        stop: CancellationToken,
    ) {
        let mut received = Vec::with_capacity(RESULTS_PER_REPORT);
        loop {
            let now = Instant::now();
            let next = self.waiting.map_or(now + HEARTBEAT, |(at, _)| at.min(now + SPOOL_EVERY));
            let is_known = self.welcomed.spool_key().is_some();
            let has_backlog = is_known && self.waiting.is_none() && !self.spool_is_empty();
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                count = results.recv_many(&mut received, RESULTS_PER_REPORT) => {
                    if count == 0 {
                        break;
                    }
                }
                () = sleep_until(next), if !has_backlog => {}
                () = std::future::ready(()), if has_backlog => {}
            }
            self.pending.extend(received.drain(..));
            if self.waiting.is_some_and(|(at, _)| Instant::now() < at) {
                self.store_pending().await;
            } else if self.welcomed.spool_key().is_some() {
                self.report(&mut results, &load).await;
            }
        }
        self.receive_ended(&mut results);
        self.answer_within = LAST_ANSWER_WITHIN;
        while !self.pending.is_empty() && self.waiting.is_none() {
            self.report(&mut results, &load).await;
        }
        self.store_pending().await;
    }

    /// Reports pending results, or that there are none, and then some of the spool.
    async fn report(&mut self, ended: &mut mpsc::Receiver<wire::JobResult>, load: &Load) {
        let results = self.take_batch();
        if !self.send(results, (ended, load), false).await {
            return;
        }
        if let Some(key) = self.welcomed.spool_key()
            && let Some((entry, read)) = self.with_spool(move |spool| spool.oldest(&key)).await
        {
            match read {
                Ok(results) => {
                    if !self.send(results, (ended, load), true).await {
                        return;
                    }
                }
                Err(why) if !is_lost(&why) => {
                    warn!("results on disk cannot be read now: {why}");
                    self.waiting = Some((Instant::now() + BACKOFF.max, u32::MAX));
                    return;
                }
                Err(why) => {
                    warn!("lost {} on disk: {why}", counted(entry.count(), "result"));
                    self.dropped += entry.count();
                }
            }
            self.with_spool(move |spool| spool.remove(&entry)).await;
        }
    }

    /// Sends a report. Returns whether the server, or NATS for it, has answered. Otherwise its results are kept: those of
    /// the spool are still there, and others go to it.
    async fn send(
        &mut self,
        results: Vec<wire::JobResult>,
        (ended, load): (&mut mpsc::Receiver<wire::JobResult>, &Load),
        is_spooled: bool,
    ) -> bool {
        let (running, waiting) = load.counts();
        let number = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
        let dropped = self.dropped;
        let mut request = wire::ReportRequest {
            sent_at_ms: system_millis(),
            version: self.version.to_owned(),
            results,
            running: number(running),
            waiting: number(waiting),
            dropped: number(dropped),
            session: self.welcomed.get().map_or(0, |it| it.session),
        };
        let mut kept = None;
        match self.wait_for_answer(&request, ended, (!is_spooled).then_some(&mut kept)).await {
            Ok(answer) => {
                if let Some(sample) = answer.sample {
                    self.clock.record(sample);
                    self.dropped -= dropped;
                }
                self.results_max = (self.results_max * 2).min(RESULTS_PER_REPORT);
                if self.waiting.take().is_some() {
                    info!("the server takes results again");
                }
                for refusal in answer.refusals {
                    warn!("the server refused a result: {}", refusal.reason);
                }
                self.forget(kept).await;
                true
            }
            Err(LinkError::Refused { reason, is_request: true }) => {
                let count = request.results.len();
                if count > 1 {
                    // One of them is too large, or all together are for a proxy.
                    self.results_max = count / 2;
                    self.pending.extend(request.results);
                } else {
                    warn!("the server refused a report of {}: {reason}", counted(count, "result"));
                    self.dropped += count;
                }
                self.forget(kept).await;
                true
            }
            Err(error) => {
                if self.waiting.is_none() {
                    warn!("the server takes no results: {error}; they wait on disk");
                }
                let failures = self.waiting.map_or(0, |(_, failures)| failures).saturating_add(1);
                let pause = BACKOFF.jittered_pause_after(failures, rand::random());
                self.waiting = Some((Instant::now() + pause, failures));
                if !is_spooled && kept.is_none() {
                    for result in std::mem::take(&mut request.results).into_iter().rev() {
                        self.pending.push_front(result);
                    }
                }
                self.store_pending().await;
                false
            }
        }
    }

    /// Sends a report and waits for the answer. Meanwhile, results go to the disk every second, because
    /// the probe may be killed: those of ended checks, and those of the report, whose entry is `kept`.
    async fn wait_for_answer(
        &mut self,
        request: &wire::ReportRequest,
        ended: &mut mpsc::Receiver<wire::JobResult>,
        mut kept: Option<&mut Option<Entry>>,
    ) -> Result<Answer, LinkError> {
        let link = Arc::clone(&self.link);
        let mut answer = pin!(link.report(request, self.answer_within));
        loop {
            tokio::select! {
                biased;
                answer = &mut answer => return answer,
                () = tokio::time::sleep(SPOOL_EVERY) => {}
            }
            if let Some(kept) = kept.take().filter(|_| !request.results.is_empty()) {
                *kept = self.store(request.results.clone()).await;
            }
            self.receive_ended(ended);
            self.store_pending().await;
        }
    }

    /// Takes the results of checks that have ended.
    fn receive_ended(&mut self, ended: &mut mpsc::Receiver<wire::JobResult>) {
        while let Ok(result) = ended.try_recv() {
            self.pending.push_back(result);
        }
    }

    /// Takes pending results for one report.
    fn take_batch(&mut self) -> Vec<wire::JobResult> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < self.results_max && bytes < REPORT_BYTES {
            let Some(result) = self.pending.pop_front() else { break };
            bytes += contract::rpc::encoded_bytes(&result);
            batch.push(result);
        }
        batch
    }

    /// Moves pending results to the spool, so that a crash of the probe loses at most those of a second.
    async fn store_pending(&mut self) {
        while !self.pending.is_empty() && self.welcomed.spool_key().is_some() {
            let batch = self.take_batch();
            self.store(batch).await;
        }
    }

    /// Stores results in the spool. Returns their entry.
    async fn store(&mut self, batch: Vec<wire::JobResult>) -> Option<Entry> {
        let (key, now) = (self.welcomed.spool_key()?, self.clock.now());
        let (entry, dropped) = self.with_spool(move |spool| spool.store(&key, batch, now)).await;
        self.dropped += dropped;
        Some(entry)
    }

    /// Removes results from the spool that the server has answered.
    async fn forget(&mut self, kept: Option<Entry>) {
        if let Some(entry) = kept {
            self.with_spool(move |spool| spool.remove(&entry)).await;
        }
    }

    fn spool_is_empty(&self) -> bool {
        self.spool.as_ref().is_none_or(Spool::is_empty)
    }

    /// Works on the spool in a thread for blocking calls, because a disk may hang.
    async fn with_spool<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Spool) -> T + Send + 'static,
    ) -> T {
        let mut spool = self.spool.take().expect("it is only absent within this function");
        let (spool, done) = tokio::task::spawn_blocking(move || {
            let done = work(&mut spool);
            (spool, done)
        })
        .await
        .expect("the work does not panic");
        self.spool = Some(spool);
        done
    }
}

/// Returns whether a file can never be read.
fn is_lost(why: &std::io::Error) -> bool {
    matches!(why.kind(), std::io::ErrorKind::InvalidData | std::io::ErrorKind::NotFound)
}

/// Returns the time of this machine's own clock, for the server's lists.
#[expect(clippy::disallowed_methods, reason = "the server shows how far this clock is off")]
fn system_millis() -> i64 {
    let since_1970 =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}
