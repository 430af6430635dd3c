//! `aloft probe`: runs the checks of one or more regions from this machine, for a server elsewhere. It
//! connects to the server or to NATS, and needs no open port and no database.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use contract::rpc::Network;
use remote::agent::{self, AgentSettings, ServerAddress};
use remote::nats::{NatsSettings, NatsUrls};
use rules::Secret;
use server::boot::{self, Signals};
use server::observe::log;
use tokio_util::sync::CancellationToken;

use crate::database_args::ConfigArg;
use crate::output;

/// Bytes of a mebibyte.
const MIB: u64 = 1024 * 1024;
/// Variable with the token.
const TOKEN_VARIABLE: &str = "ALOFT_PROBE_TOKEN";

/// Arguments of `aloft probe`.
#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Address of the server, such as <https://aloft.example.com>
    #[arg(long, value_name = "URL", required_unless_present = "nats", conflicts_with = "nats")]
    server: Option<String>,
    /// NATS servers through which the server sends jobs, instead of its address; separated by commas
    #[arg(long, value_name = "URLS")]
    nats: Option<String>,
    /// File with the credentials for NATS: a file of nsc, the seed of a user's key, or user:password
    #[arg(long, value_name = "FILE", requires = "nats")]
    credentials: Option<PathBuf>,
    /// Token that `aloft probes create` printed [env: `ALOFT_PROBE_TOKEN`]
    #[arg(long, value_name = "TOKEN", conflicts_with = "token_file")]
    token: Option<String>,
    /// File with the token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Folder for results that the server has not accepted yet
    #[arg(long, value_name = "DIR", default_value = "aloft-probe")]
    data: PathBuf,
    /// Space for such results in MiB; the oldest are dropped first
    #[arg(long, value_name = "MIB", default_value_t = 256,
        value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    spool_max: u64,
    /// Send the token and the settings of monitors without encryption; only for trusted networks
    #[arg(long)]
    insecure_http: bool,
    /// Allow private and loopback addresses as targets
    #[arg(long)]
    allow_private_networks: bool,
    /// Name servers to use instead of the system's, such as 9.9.9.9:53
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    nameservers: Vec<std::net::SocketAddr>,
    /// PEM file of certificates that checks trust in addition to the public ones
    #[arg(long, value_name = "FILE")]
    extra_ca_file: Option<PathBuf>,
    /// Maximum number of checks at a time [default: as many as the limit of open files allows]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_checks: Option<u32>,
    #[command(flatten)]
    config: ConfigArg,
}

/// Runs a probe until a signal.
pub(crate) async fn run(args: ProbeArgs) -> Result<ExitCode> {
    let token = args.token()?;
    let server = args.server()?;
    let mut settings = args.config.settings()?;
    settings.allow_private_networks |= args.allow_private_networks;
    if !args.nameservers.is_empty() {
        settings.nameservers.clone_from(&args.nameservers);
    }
    if let Some(file) = &args.extra_ca_file {
        settings.extra_ca_file = Some(file.clone());
    }
    log::start(&settings);
    let network = boot::network(&settings, Vec::new())?;
    let data = std::path::absolute(&args.data).context("the folder has no absolute path")?;
    let checks_max = args.max_checks.map_or(network.concurrency, |count| count as usize);
    let agent = AgentSettings {
        server,
        token,
        data,
        spool_bytes_max: args.spool_max * MIB,
        checks_max,
        probe: network,
        version: env!("CARGO_PKG_VERSION"),
    };
    output::print_stderr(&format!("server: {}", agent.server));
    output::print_stderr(&format!("data folder: {}", agent.data.display()));
    let mut signals = Signals::listen().context("failed to listen for signals")?;
    let stop = CancellationToken::new();
    let running = tokio::spawn(agent::run(agent, stop.clone()));
    tokio::pin!(running);
    let ended = tokio::select! {
        ended = &mut running => ended,
        () = signals.wait() => {
            signals.exit_on_next();
            stop.cancel();
            running.await
        }
    };
    ended.context("the probe failed")??;
    Ok(ExitCode::SUCCESS)
}

impl ProbeArgs {
    fn server(&self) -> Result<ServerAddress> {
        let network = Network::from_variables(boot::variable);
        if let Some(nats) = &self.nats {
            let urls = NatsUrls::parse(nats).map_err(|why| anyhow!("--nats {why}"))?;
            let credentials = self.credentials.clone();
            return Ok(ServerAddress::Nats(NatsSettings { urls, credentials, network }));
        }
        let url = self.server.clone().context("give the server with --server or --nats")?;
        check_address(&url, self.insecure_http)?;
        Ok(ServerAddress::Http { url, network })
    }

    fn token(&self) -> Result<Secret<String>> {
        let text = match (&self.token, &self.token_file) {
            (Some(token), _) => token.clone(),
            (None, Some(file)) => fs::read_to_string(file)
                .with_context(|| format!("the token cannot be read from `{}`", file.display()))?,
            (None, None) => boot::variable(TOKEN_VARIABLE).with_context(|| {
                format!("give the token with --token, --token-file or {TOKEN_VARIABLE}")
            })?,
        };
        Ok(Secret::new(text.trim().to_owned()))
    }
}

/// Rejects an address over which anybody could read the token, unless that is wanted.
fn check_address(server: &str, is_insecure: bool) -> Result<()> {
    let url = url::Url::parse(server)
        .with_context(|| format!("`{server}` is not a URL such as https://aloft.example.com"))?;
    let is_loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_loopback || is_insecure => Ok(()),
        "http" => bail!(
            "{server} is not encrypted, and jobs contain the secrets of monitors; use https://, or \
             --insecure-http if the network is trusted"
        ),
        _ => bail!("`{server}` must begin with https://"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unencrypted_address_must_be_wanted() {
        for (server, plain, insecure) in [
            ("https://aloft.example.com", true, true),
            ("http://127.0.0.1:8080", true, true),
            ("http://[::1]:8080", true, true),
            ("http://localhost:8080", true, true),
            ("http://aloft.example.com", false, true),
            ("http://10.0.0.1:8080", false, true),
            ("ftp://aloft.example.com", false, false),
            ("aloft.example.com", false, false),
        ] {
            assert_eq!(check_address(server, false).is_ok(), plain, "{server}");
            assert_eq!(check_address(server, true).is_ok(), insecure, "{server}");
        }
    }
}
