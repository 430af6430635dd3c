//! The program of a probe. It opens a stream of jobs from the server, runs them, and reports their
//! results. If the connection breaks, it finishes its checks, keeps the results on disk, and delivers
//! them later with their own times.

mod clock;
mod link;
mod report;
mod spool;
mod work;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::rpc::{Network, UnusableClient};
use domain::backoff::Backoff;
use rules::Secret;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use self::clock::{Sample, ServerClock};
use self::link::{Frames, Link, LinkError};
use self::report::{Reporter, WelcomeState, Welcomed};
use self::spool::{Spool, SpoolLimits};
use self::work::Work;
use crate::messages::{decode_job, encode_missed};
use crate::nats::NatsSettings;
use crate::{BACKOFF, PROTOCOL, wire};

/// Results that wait to be reported. Checks wait with their result if there are more.
const RESULTS_WAITING: usize = 4_096;
/// Pause after the server refused this probe, for example because its token was revoked.
const REFUSED_PAUSE: Duration = Duration::from_secs(30);
const REFUSED_BACKOFF: Backoff = Backoff { first: REFUSED_PAUSE, max: REFUSED_PAUSE };
/// Time that a stop waits for running checks.
const CHECKS_STOP_WITHIN: Duration = Duration::from_secs(10);

/// The way to the server.
#[derive(Clone, Debug)]
pub enum ServerAddress {
    Http {
        /// Such as `https://aloft.example.com`.
        url: String,
        /// Proxies and trusted certificates.
        network: Network,
    },
    Nats(NatsSettings),
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { url, .. } => f.write_str(url),
            Self::Nats(settings) => settings.urls.fmt(f),
        }
    }
}

/// Settings of a probe.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    pub server: ServerAddress,
    pub token: Secret<String>,
    /// Folder for undelivered results.
    pub data: PathBuf,
    /// Maximum size of undelivered results on disk, in bytes.
    pub spool_bytes_max: u64,
    /// Maximum number of checks that run at a time.
    pub checks_max: usize,
    /// Network access of the checks.
    pub probe: probe::Settings,
    /// Version of the program, for the server's lists.
    pub version: &'static str,
}

/// Error that ends a probe.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Unusable(#[from] UnusableClient),
    #[error("the token has characters that no header may have")]
    UnusableToken,
    #[error("the token is not the token of a probe; copy it again")]
    MalformedToken,
    #[error("the folder `{folder}` cannot be used: {why}")]
    Folder { folder: String, why: std::io::Error },
    #[error("another probe uses the folder `{0}`; give each its own with --data")]
    FolderInUse(String),
    #[error("the server refuses this probe: {0}")]
    Refused(String),
    /// NATS, or the access to it, cannot be used.
    #[error("{0}")]
    UnusableNats(String),
}

/// Runs a probe until `stop`. Undelivered results stay on disk for the next start.
///
/// # Errors
///
/// Fails if the settings cannot be used, or if the server refuses the probe at the first connection.
/// Later refusals are logged and retried, because a server may be restored from a backup.
pub async fn run(settings: AgentSettings, stop: CancellationToken) -> Result<(), AgentError> {
    let link = Arc::new(Link::new(&settings)?);
    let limits = SpoolLimits { disk_bytes: settings.spool_bytes_max, ..SpoolLimits::default() };
    let spool = Spool::open(&settings.data, limits)?;
    let clock = ServerClock::default();
    let (results, results_end) = mpsc::channel(RESULTS_WAITING);
    let work = Work::new(&settings, clock.clone(), results.clone());
    let reporter = Reporter::new(&settings, Arc::clone(&link), spool, clock.clone());
    let (welcomed, reported) = (reporter.welcomed(), CancellationToken::new());
    let reporting = tokio::spawn(reporter.run(results_end, work.load(), reported.clone()));
    let closing = Arc::clone(&link);
    let mut agent = Agent { settings, link, clock, work, results, welcomed, was_welcome: false };
    let outcome = agent.serve(&stop).await;
    agent.work.stop(CHECKS_STOP_WITHIN).await;
    reported.cancel();
    drop(agent);
    // A panic of the reporter is already logged.
    let _ = reporting.await;
    closing.close().await;
    outcome
}

/// A running probe.
struct Agent {
    settings: AgentSettings,
    link: Arc<Link>,
    clock: ServerClock,
    work: Arc<Work>,
    results: mpsc::Sender<wire::JobResult>,
    welcomed: Welcomed,
    /// Whether the server accepted this probe before.
    was_welcome: bool,
}

impl Agent {
    /// Keeps a stream of jobs open until `stop`.
    async fn serve(&mut self, stop: &CancellationToken) -> Result<(), AgentError> {
        let mut failures = 0_u32;
        while !stop.is_cancelled() {
            let ended = tokio::select! {
                ended = self.take_jobs(&mut failures) => ended,
                () = stop.cancelled() => return Ok(()),
            };
            let backoff = match ended {
                LinkError::Refused { reason, .. } if !self.was_welcome => {
                    return Err(AgentError::Refused(reason));
                }
                LinkError::UnusableNats(reason) => return Err(AgentError::UnusableNats(reason)),
                LinkError::Refused { reason, .. } => {
                    error!("the server refuses this probe: {reason}");
                    REFUSED_BACKOFF
                }
                broken @ (LinkError::Unavailable(_)
                | LinkError::Broken(_)
                | LinkError::Silent(_)
                | LinkError::Malformed(_)) => {
                    warn!("no connection to the server: {broken}; trying again");
                    BACKOFF
                }
            };
            failures = failures.saturating_add(1);
            let pause = backoff.jittered_pause_after(failures, rand::random());
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Opens a stream and runs its jobs until it breaks. Sets `failures` to zero once it is open.
    async fn take_jobs(&mut self, failures: &mut u32) -> LinkError {
        let asked = Instant::now();
        let request = wire::OpenRequest {
            protocol: PROTOCOL,
            version: self.settings.version.to_owned(),
            checks_max: i32::try_from(self.settings.checks_max).unwrap_or(i32::MAX),
        };
        let link = Arc::clone(&self.link);
        let mut frames = match link.open(&request).await {
            Ok(frames) => frames,
            Err(error) => return error,
        };
        match self.read_welcome(&mut frames, asked).await {
            Ok(()) => *failures = 0,
            Err(error) => return error,
        }
        loop {
            match frames.next().await {
                Ok(frame) => {
                    self.clock.at_least(rules::Timestamp::from_millis(frame.sent_at_ms));
                    self.run_jobs(frame.jobs).await;
                }
                Err(error) => return error,
            }
        }
    }

    async fn read_welcome(
        &mut self,
        frames: &mut Frames<'_>,
        asked: Instant,
    ) -> Result<(), LinkError> {
        let frame = frames.next().await?;
        let server = rules::Timestamp::from_millis(frame.sent_at_ms);
        self.clock.record(Sample { asked, answered: Instant::now(), server });
        let welcome = frame.welcome.into_option().ok_or(LinkError::Malformed("no welcome"))?;
        let spool_key = <[u8; 32]>::try_from(&*welcome.spool_key)
            .map_err(|_| LinkError::Malformed("no key for the disk"))?;
        self.welcomed.set(WelcomeState { spool_key, session: welcome.session });
        if let Ok(seconds) = u64::try_from(welcome.silence_max_seconds) {
            frames.set_silence_max(Duration::from_secs(seconds.max(1)));
        }
        let regions = welcome.regions.join(", ");
        info!(probe = welcome.probe, "probe `{}` serves {regions}", welcome.probe);
        self.was_welcome = true;
        self.run_jobs(frame.jobs).await;
        Ok(())
    }

    async fn run_jobs(&self, jobs: Vec<wire::Job>) {
        for job in jobs {
            let ticket = job.ticket.clone();
            match decode_job(job) {
                Ok(job) => self.work.accept(job).await,
                Err(why) => {
                    error!(
                        "a check cannot run here: {why}; is this program older than the server?"
                    );
                    let missed = encode_missed(ticket, domain::cadence::MissedReason::Fault);
                    // The reporter ends last.
                    let _ = self.results.send(missed).await;
                }
            }
        }
    }
}
