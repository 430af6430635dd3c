//! The service that a command calls: its address, its key, and the messages of its errors.

use std::error::Error as StdError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use contract::rpc::{self, Client, Error, Network};
use rules::Secret;
use server::boot;

use crate::database_args::ConfigArg;
use crate::output;

/// Variables of the key, in order of precedence: the provider's (spec §5.9) and the clients' (spec
/// §5.3).
const KEY_VARIABLES: [&str; 2] = ["SERVICE_API_TOKEN", "SERVICE_API_KEY"];
/// Variable of the address (spec §5.3).
const URL_VARIABLE: &str = "SERVICE_API_URL";
/// Fix if no connection could be made.
const UNREACHABLE: &str = "start the server with `aloft serve`, or give the address of a running one \
    with `--base-url` or SERVICE_API_URL";
/// End of the help of commands that need a key.
pub(crate) const KEY_HELP: &str =
    "The environment variable SERVICE_API_TOKEN or SERVICE_API_KEY provides the key.";

/// URL of the service. The key comes from the environment, where process lists do not show it.
#[derive(Debug, Args)]
pub(crate) struct Service {
    #[arg(
        long,
        value_name = "URL",
        help = "Address of the service [default: that of `listen`, http://127.0.0.1:8080/rpc] [env: SERVICE_API_URL]"
    )]
    base_url: Option<String>,
    #[command(flatten)]
    config: ConfigArg,
}

/// The service to call, and the format of the output.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) service: Service,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Service {
    /// Returns the given address, or else that of a server on this machine with these settings.
    pub(crate) fn address(&self) -> Result<String> {
        let given = self.base_url.clone().or_else(|| variable(URL_VARIABLE));
        if let Some(given) = given {
            return Ok(given);
        }
        Ok(local_address(self.config.settings()?.listen))
    }

    /// Returns a client with the key of the environment. Prints the address.
    pub(crate) fn client(&self) -> Result<Client> {
        let address = self.address()?;
        output::print_stderr(&format!("service: {}", crate::check::without_credentials(&address)));
        let given = |name| Some((name, Secret::new(variable(name)?)));
        let Some((name, key)) = KEY_VARIABLES.into_iter().find_map(given) else {
            bail!("no API key; set {} to a key of the workspace", KEY_VARIABLES[0]);
        };
        if !rpc::is_sendable_key(&key) {
            bail!("invalid character in the API key of {name}; copy the key again");
        }
        let network = Network::from_variables(boot::variable);
        Ok(Client::with_network(&network, &address, &key)?)
    }

    /// Returns the response, or its error with context. `doing` names the call.
    pub(crate) fn map_error<T>(&self, doing: &str, answer: Result<T, Error>) -> Result<T> {
        let address = self.address()?;
        let answer = answer.map_err(|error| service_error(&error));
        answer
            .with_context(|| format!("{doing} at {}", crate::check::without_credentials(&address)))
    }
}

/// Returns the address of a server on this machine that listens on `listen`.
fn local_address(listen: SocketAddr) -> String {
    let mut own = listen;
    if listen.ip().is_unspecified() {
        own.set_ip(match listen {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    format!("http://{own}/rpc")
}

/// Formats an error of the service.
pub(crate) fn service_error(error: &Error) -> anyhow::Error {
    let message = error.message.clone().unwrap_or_else(|| format!("{:?}", error.code));
    if let Some(failure) = rpc::proxy_failure(error) {
        let variable = failure.variable;
        return anyhow!(
            "cannot connect: {failure}; correct {variable}, or add the host to NO_PROXY"
        );
    }
    if rpc::is_self_signed(error) {
        return anyhow!(
            "cannot connect: the certificate of the service is self-signed and not trusted; if the \
             address is right, set SSL_CERT_FILE to a file with this certificate"
        );
    }
    if rpc::is_unsent(error) {
        return anyhow!("cannot connect: {}; {UNREACHABLE}", cause(error));
    }
    anyhow!(message)
}

/// Returns the deepest cause of an error, which is the most specific one.
fn cause(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(StdError::source) {
        cause = Some(deeper);
    }
    cause.map(ToString::to_string).unwrap_or_default()
}

/// Returns the value of a variable. An empty variable counts as unset.
fn variable(name: &str) -> Option<String> {
    boot::variable(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use contract::rpc::DEFAULT_BASE_URL;

    use super::*;

    #[test]
    fn listen_address_is_reached_from_its_machine() {
        for (listen, address) in [
            ("127.0.0.1:8080", DEFAULT_BASE_URL),
            ("0.0.0.0:9000", "http://127.0.0.1:9000/rpc"),
            ("[::]:9000", "http://[::1]:9000/rpc"),
            ("192.0.2.7:80", "http://192.0.2.7:80/rpc"),
        ] {
            assert_eq!(local_address(listen.parse().unwrap()), address);
        }
    }
}
