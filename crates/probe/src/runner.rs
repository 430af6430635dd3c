//! Runs a job: attempt after attempt, as far as `domain::check` says, each within its time.

use std::pin::pin;
use std::sync::Arc;

use domain::check::{
    Assessment, Attempt, Job, Outcome, Plan, PlannedCheck, Retry, Seen, assess, next_attempt,
};
use rules::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::memory::Memory;
use crate::progress::micros_since;
use crate::resolve::Resolver;
use crate::settings::Settings;
use crate::transport::{Network, dns, http, tcp};

/// Runs checks. Clones share everything; making one opens nothing and reads nothing.
#[derive(Clone)]
pub struct Probe {
    network: Arc<Network>,
    running: Arc<Semaphore>,
}

impl Probe {
    /// A probe that is set up so.
    pub fn new(settings: Settings) -> Self {
        let resolver = Resolver::new(settings.nameservers, settings.zones);
        Self {
            network: Arc::new(Network::new(
                settings.egress,
                resolver,
                settings.extra_roots,
                Memory::new(settings.body_memory),
            )),
            running: Arc::new(Semaphore::new(settings.concurrency.max(1))),
        }
    }

    /// Runs `job`: its attempts in order, at least one, the last of which decides. `clock` tells the
    /// time that the job's slots are by. Dropping the future stops the check and closes what it
    /// opened.
    pub async fn run(
        &self,
        job: &Job,
        clock: impl Fn() -> Timestamp,
    ) -> Vec<(Attempt, Assessment)> {
        self.run_while(job, clock, || true).await
    }

    /// Like [`Self::run`]; no further attempt starts once `is_wanted` says no.
    pub async fn run_while(
        &self,
        job: &Job,
        clock: impl Fn() -> Timestamp,
        is_wanted: impl Fn() -> bool,
    ) -> Vec<(Attempt, Assessment)> {
        let mut attempts = Vec::with_capacity(1);
        loop {
            let attempt = {
                let _place =
                    self.running.acquire().await.expect("nobody closes the probe's semaphore");
                self.attempt(&job.plan, clock()).await
            };
            let assessment = assess(&job.plan, &attempt);
            let failed = assessment.outcome == Outcome::Failure;
            attempts.push((attempt, assessment));
            if !failed {
                return attempts;
            }
            let made = u8::try_from(attempts.len()).unwrap_or(u8::MAX);
            match next_attempt(job, made, clock(), crate::chance()) {
                Retry::After(pause) => sleep(pause).await,
                Retry::No(_) => return attempts,
            }
            if !is_wanted() {
                return attempts;
            }
        }
    }

    /// One attempt. Its time holds from the look-up to the last byte over all hops, and what was
    /// seen until then is kept.
    async fn attempt(&self, plan: &Plan, started_at: Timestamp) -> Attempt {
        let network = &*self.network;
        let start = Instant::now();
        // Each exchange is pinned where it stands: as an argument, its kilobytes would be copied.
        let (seen, failure) = match &plan.check {
            PlannedCheck::Http(http) => {
                let mut progress = http::Progress::new();
                let ended = {
                    let exchange = pin!(http::exchange(network, http, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(plan.timeout));
                (Seen::Http(progress.into_seen()), failure)
            }
            PlannedCheck::Tcp(tcp) => {
                let mut progress = tcp::Progress::new();
                let ended = {
                    let exchange = pin!(tcp::exchange(network, tcp, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(tcp, plan.timeout));
                (Seen::Tcp(progress.seen), failure)
            }
            PlannedCheck::Dns(dns) => {
                let mut progress = dns::Progress::new();
                let ended = {
                    let exchange = pin!(dns::exchange(network, dns, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(dns, plan.timeout));
                (Seen::Dns(progress.seen), failure)
            }
        };
        let failure = failure.flatten().err();
        Attempt { started_at, latency_us: micros_since(start), seen, failure }
    }
}
