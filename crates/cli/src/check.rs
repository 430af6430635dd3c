//! `aloft check`: one check from this machine, with its phases drawn. The same engine and the same
//! rules as a monitor's; nothing is stored.

mod draft;
mod waterfall;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use domain::check::{AttemptEvidence, Evidence, Job, Outcome, Plan, Trigger};
use probe::{Egress, Nameservers, Probe};
use rules::monitor::{Monitor, MonitorDraft};
use rules::{MonitorId, Region, WorkspaceId};
use serde_json::json;
use server::context::Context;

/// What to check.
#[derive(Debug, Subcommand)]
pub(crate) enum Target {
    /// An HTTP request and its answer
    Http(draft::HttpArgs),
    /// A TCP connection
    Tcp(draft::TcpArgs),
    /// A DNS look-up
    Dns(draft::DnsArgs),
}

/// How to check, for every kind.
#[derive(Debug, Args)]
pub(crate) struct Manner {
    /// Milliseconds for one attempt; 0 means the most there is
    #[arg(long, value_name = "MS", global = true)]
    timeout: Option<i32>,
    /// Milliseconds above which a success is slow; 0 means never
    #[arg(long, value_name = "MS", global = true)]
    degraded_at: Option<i32>,
    /// Attempts after the first
    #[arg(long, value_name = "COUNT", default_value_t = 0, global = true)]
    retry: i32,
    /// Let the check reach private and loopback addresses
    #[arg(long, global = true)]
    allow_private_networks: bool,
    /// Name servers to ask, such as 9.9.9.9:53, instead of the system's
    #[arg(long, value_name = "ADDR", value_delimiter = ',', global = true)]
    nameservers: Vec<std::net::SocketAddr>,
    /// Certificates in PEM to trust besides the public ones
    #[arg(long, value_name = "FILE", global = true)]
    extra_ca_file: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

/// A check that ended is no error of the program: 0 where it succeeded, 3 where it was slow, 1
/// where it failed.
pub(crate) async fn run(target: Target, manner: Manner) -> Result<ExitCode> {
    let ctx = Context::system();
    let mut draft = match target {
        Target::Http(http) => http.draft()?,
        Target::Tcp(tcp) => tcp.draft(),
        Target::Dns(dns) => dns.draft()?,
    };
    manner.complete(&mut draft);
    let job = job(&ctx, draft)?;
    let probe = Probe::new(manner.probe()?);
    let attempts = probe.run(&job, || ctx.now()).await;
    let outcome = attempts.last().map_or(Outcome::Failure, |(_, assessment)| assessment.outcome);
    let evidence = Evidence::of(attempts);
    if manner.json {
        crate::print(&json!({ "outcome": word(outcome), "attempts": evidence.attempts }));
    } else {
        let colours = std::io::stdout().is_terminal();
        crate::say(&waterfall::draw(&evidence.attempts, word(outcome), colours));
    }
    Ok(ExitCode::from(match outcome {
        Outcome::Success => 0,
        Outcome::Degraded => 3,
        Outcome::Failure | Outcome::Skipped => 1,
    }))
}

impl Manner {
    fn complete(&self, draft: &mut MonitorDraft) {
        draft.name = Some("check".to_owned());
        draft.periodicity = Some(rules::Periodicity::OneHour.to_string());
        draft.timeout = self.timeout;
        draft.degraded_at = self.degraded_at;
        draft.retry = Some(self.retry);
    }

    fn probe(&self) -> Result<probe::Settings> {
        let mut settings = probe::Settings {
            egress: Egress::new(self.allow_private_networks, []),
            ..probe::Settings::default()
        };
        if !self.nameservers.is_empty() {
            settings.nameservers = Nameservers::Given(self.nameservers.clone());
        }
        if let Some(file) = &self.extra_ca_file {
            let pem =
                std::fs::read(file).with_context(|| format!("reading `{}`", file.display()))?;
            settings.extra_roots = probe::read_roots(&pem)?;
        }
        Ok(settings)
    }
}

fn job(ctx: &Context, draft: MonitorDraft) -> Result<Job> {
    let now = ctx.now();
    let settings = draft.parse()?;
    let period = settings.periodicity.period();
    let monitor = Monitor {
        id: MonitorId::from_bits(0),
        workspace: WorkspaceId::from_bits(0),
        revision: 1,
        settings,
        created_at: now,
        updated_at: now,
    };
    Ok(Job {
        plan: Arc::new(Plan::of(&monitor)?),
        region: Region::ALL[0],
        slot: now,
        trigger: Trigger::Manual,
        next_slot: now + period,
        keep_evidence: true,
    })
}

const fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Success => "success",
        Outcome::Degraded => "degraded",
        Outcome::Failure => "failure",
        Outcome::Skipped => "skipped",
    }
}

/// The time that the phases of an attempt begin at, hop after hop.
fn begins(attempt: &AttemptEvidence) -> Vec<u32> {
    attempt
        .hops
        .iter()
        .scan(0_u32, |begin, hop| {
            let this = *begin;
            let spent = [
                hop.phases.dns_us,
                hop.phases.connect_us,
                hop.phases.tls_us,
                hop.phases.first_byte_us,
                hop.phases.transfer_us,
            ];
            *begin = spent.iter().flatten().fold(this, |sum, phase| sum.saturating_add(*phase));
            Some(this)
        })
        .collect()
}
