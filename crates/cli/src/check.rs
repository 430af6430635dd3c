//! `aloft check`: runs one check from this machine and draws its phases. Uses the same engine and
//! rules as monitors. Stores nothing.

mod draft;
mod terminal;
mod waterfall;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use domain::check::{CheckPlan, Evidence, Job, Outcome, Trigger};
use probe::{ClientCertificate, Probe};
use rules::monitor::{Check, Monitor, MonitorDraft};
use rules::{MonitorId, Region, WorkspaceId};
use serde_json::json;
use server::boot;
use web::context::Context;

use self::terminal::Paper;
use crate::database_args::ConfigArg;
use crate::json_args::JsonArgs;
use crate::output;

/// Subcommands of `aloft check`.
#[derive(Debug, Subcommand)]
pub(crate) enum Target {
    /// Send an HTTP request and check the response
    Http(Box<draft::HttpArgs>),
    /// Open a TCP connection
    Tcp(draft::TcpArgs),
    /// Look up a domain name
    Dns(draft::DnsArgs),
}

/// Options of all kinds of checks.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to check")]
pub(crate) struct CheckArgs {
    /// Timeout of one attempt in milliseconds; 0 means the maximum
    #[arg(long, value_name = "MS", global = true)]
    timeout: Option<i32>,
    /// Report a success as degraded above this many milliseconds; 0 means never
    #[arg(long, value_name = "MS", global = true)]
    degraded_at: Option<i32>,
    /// Retries after a failed attempt
    #[arg(long, value_name = "COUNT", default_value_t = 0, global = true)]
    retry: i32,
    /// Allow private and loopback addresses
    #[arg(long, global = true)]
    allow_private_networks: bool,
    /// Name servers to use instead of the system's, such as 9.9.9.9:53
    #[arg(long, value_name = "ADDR", value_delimiter = ',', global = true)]
    nameservers: Vec<std::net::SocketAddr>,
    /// PEM file of certificates to trust in addition to the public ones
    #[arg(long, value_name = "FILE", global = true)]
    extra_ca_file: Option<PathBuf>,
    #[command(flatten)]
    config: ConfigArg,
    #[command(flatten)]
    json: JsonArgs,
}

/// Runs a check and prints it. A completed check is not an error of the program: the exit code is 0
/// for success, 3 for degraded and 1 for failure.
pub(crate) async fn run(target: Target, output_args: CheckArgs) -> Result<ExitCode> {
    let ctx = Context::system();
    let (target, mut draft) = match target {
        Target::Http(http) => (without_credentials(&http.url), http.draft()?),
        Target::Tcp(tcp) => (tcp.uri.clone(), tcp.draft()),
        Target::Dns(dns) => (dns.uri.clone(), dns.draft()?),
    };
    output_args.complete(&mut draft);
    let job = job(&ctx, draft)?;
    let probe = Probe::new(output_args.probe()?);
    let attempts = probe.run(&job, || ctx.now()).await;
    let outcome = attempts.last().map_or(Outcome::Failure, |(_, assessment)| assessment.outcome);
    let evidence = Evidence::new(&job.plan, attempts);
    if output_args.json.is_wanted() {
        let attempts = evidence.attempts;
        output_args.json.print(
            json!({ "target": target, "outcome": outcome.as_str(), "attempts": attempts }),
        )?;
    } else {
        let paper = Paper::of_stdout();
        output::print_text(&waterfall::draw(&target, &evidence.attempts, outcome, paper));
    }
    Ok(ExitCode::from(match outcome {
        Outcome::Success => 0,
        Outcome::Degraded => 3,
        Outcome::Failure | Outcome::Skipped => 1,
    }))
}

impl CheckArgs {
    fn complete(&self, draft: &mut MonitorDraft) {
        draft.name = Some("check".to_owned());
        draft.periodicity = Some(rules::Periodicity::OneHour.to_string());
        draft.timeout = self.timeout;
        draft.degraded_at = self.degraded_at;
        draft.retry = Some(self.retry);
    }

    /// Returns the network settings from the flags, or else from the server's settings.
    fn probe(&self) -> Result<probe::Settings> {
        let mut settings = self.config.settings()?;
        settings.allow_private_networks |= self.allow_private_networks;
        if !self.nameservers.is_empty() {
            settings.nameservers.clone_from(&self.nameservers);
        }
        if let Some(file) = &self.extra_ca_file {
            settings.extra_ca_file = Some(file.clone());
        }
        Ok(boot::network(&settings, Vec::new())?)
    }
}

/// Refuses a client certificate that no check can present, as the service does.
fn check_client_certificate(check: &Check) -> Result<()> {
    let Check::Http(http) = check else { return Ok(()) };
    if let Some((certificate, key)) = http.client_certificate.as_ref().zip(http.client_key.as_ref())
    {
        ClientCertificate::read(certificate, key.0.expose())
            .map_err(|why| anyhow!("`{}` {why}", why.argument()))?;
    }
    Ok(())
}

fn job(ctx: &Context, draft: MonitorDraft) -> Result<Job> {
    let now = ctx.now();
    let settings = draft.parse()?;
    check_client_certificate(&settings.check)?;
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
        plan: Arc::new(CheckPlan::new(&monitor)?),
        region: Region::ALL[0],
        slot: now,
        trigger: Trigger::Manual,
        next_slot: now + period,
        keep_evidence: true,
    })
}

/// Returns the address without the user name and password.
pub(crate) fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_removed_from_the_address() {
        for (given, shown) in [
            ("https://me:pass@example.com/a@b", "https://example.com/a@b"),
            ("http://a@b@example.com?c", "http://example.com?c"),
            ("http://example.com", "http://example.com"),
            ("example.com", "example.com"),
        ] {
            assert_eq!(without_credentials(given), shown);
        }
    }
}
