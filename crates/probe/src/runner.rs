//! Runs a job: attempts one after the other, as `domain::check` decides, each within its time
//! limit.

use std::future::pending;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;

use domain::check::{
    Assessment, Attempt, CheckPlan, Failure, FailureKind, Job, Observation, Outcome, PlannedCheck,
    Retry, TcpObservation, Undecided, assess, next_attempt,
};
use rules::Timestamp;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use crate::memory::Memory;
use crate::progress::micros_since;
use crate::resolve::Resolver;
use crate::settings::Settings;
use crate::transport::{Network, dns, http, tcp};

/// Assessments with expressions or JSON at once.
const COSTLY_ASSESSMENTS: usize = 2;

/// Runs checks. Clones share all state; creating one does no I/O.
#[derive(Clone)]
pub struct Probe {
    network: Arc<Network>,
    /// Limits the attempts of this probe; the server's `CheckPermits` limit checks.
    running: Arc<Semaphore>,
    /// Limits the assessments that may take long.
    assessing: Arc<Semaphore>,
}

impl Probe {
    /// Creates a probe.
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
            assessing: Arc::new(Semaphore::new(COSTLY_ASSESSMENTS)),
        }
    }

    /// Runs `job` and returns its attempts in order; the last one decides, and there is at least
    /// one. `clock` returns the current time by the clock of the job's slots. Dropping the future
    /// cancels the check and closes its connections.
    pub async fn run(
        &self,
        job: &Job,
        clock: impl Fn() -> Timestamp,
    ) -> Vec<(Attempt, Assessment)> {
        self.run_while(job, clock, || true).await
    }

    /// Works like [`Self::run`], but starts no further attempt once `is_wanted` returns false.
    pub async fn run_while(
        &self,
        job: &Job,
        clock: impl Fn() -> Timestamp,
        is_wanted: impl Fn() -> bool,
    ) -> Vec<(Attempt, Assessment)> {
        let mut attempts = Vec::with_capacity(1);
        loop {
            let attempt = {
                let _permit = self.running.acquire().await.expect("the semaphore is never closed");
                self.attempt(&job.plan, clock()).await
            };
            let (attempt, assessment) = self.assess(&job.plan, attempt).await;
            let failed = assessment.outcome == Outcome::Failure;
            attempts.push((attempt, assessment));
            if !failed {
                return attempts;
            }
            // Another attempt would not find IPv6 either.
            if Undecided::of(&attempts) == Some(Undecided::NoIpv6) {
                return attempts;
            }
            let made = u8::try_from(attempts.len()).unwrap_or(u8::MAX);
            match next_attempt(job, made, clock(), crate::random_bits()) {
                Retry::After(pause) => {
                    release_bodies(&mut attempts);
                    sleep(pause).await;
                }
                Retry::No(_) => return attempts,
            }
            if !is_wanted() {
                return attempts;
            }
        }
    }

    /// Assesses an attempt. If that may take long, it happens beside the threads of other checks, and only a
    /// few at once.
    async fn assess(&self, plan: &Arc<CheckPlan>, attempt: Attempt) -> (Attempt, Assessment) {
        if !plan.check.is_costly_to_assess() {
            let assessment = assess(plan, &attempt);
            return (attempt, assessment);
        }
        let _permit = self.assessing.acquire().await.expect("the semaphore is never closed");
        let plan = Arc::clone(plan);
        let assessed = tokio::task::spawn_blocking(move || {
            let assessment = assess(&plan, &attempt);
            (attempt, assessment)
        });
        match assessed.await {
            Ok(assessed) => assessed,
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime ends, and this task with it.
                Err(_) => pending().await,
            },
        }
    }

    /// Runs one attempt. Its time limit covers everything from DNS to the last byte over all hops;
    /// on a timeout the observations so far are kept.
    async fn attempt(&self, plan: &CheckPlan, started_at: Timestamp) -> Attempt {
        let network = &*self.network;
        let start = Instant::now();
        // Each exchange is pinned in place, because passing it as an argument would copy kilobytes.
        let (seen, failure) = match &plan.check {
            PlannedCheck::Http(http) => {
                let mut progress = http::HttpProgress::new();
                let ended = {
                    let exchange =
                        pin!(http::exchange(network, http, plan.workspace, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(plan.timeout));
                (Observation::Http(progress.into_observation()), failure)
            }
            PlannedCheck::Tcp(tcp) => {
                let mut progress = tcp::TcpProgress::new();
                let ended = {
                    let exchange = pin!(tcp::exchange(network, tcp, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(tcp, plan.timeout));
                (Observation::Tcp(progress.observation), failure)
            }
            PlannedCheck::Dns(dns) => {
                let mut progress = dns::DnsProgress::new();
                let ended = {
                    let exchange = pin!(dns::exchange(network, dns, &mut progress));
                    timeout(plan.timeout, exchange).await
                };
                let failure = ended.map_err(|_| progress.out_of_time(dns, plan.timeout));
                (Observation::Dns(progress.observation), failure)
            }
            // The server evaluates these itself, and sends no probe a job of them.
            PlannedCheck::Heartbeat(_) => {
                let why = "no probe can check a heartbeat monitor, which waits for calls";
                let failure = Failure::new(FailureKind::ProbeExhausted, why);
                (Observation::Tcp(TcpObservation::default()), Ok(Err(failure)))
            }
        };
        let failure = failure.flatten().err();
        Attempt { started_at, latency_us: micros_since(start), observation: seen, failure }
    }
}

/// Keeps the beginnings of bodies, so that those of earlier attempts do not fill the memory of later ones.
fn release_bodies(attempts: &mut [(Attempt, Assessment)]) {
    for (attempt, _) in attempts {
        if let Observation::Http(seen) = &mut attempt.observation {
            seen.body.keep_beginning();
        }
    }
}
