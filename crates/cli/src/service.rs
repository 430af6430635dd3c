//! A service that a command calls: its address, its key, and the messages of its errors.

use std::error::Error as StdError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use contract::rpc::{self, Client, Error};
use rules::Secret;
use server::boot;

use crate::database_args::ConfigArg;
use crate::output;

/// Variables that hold the key, the first that is set: as the provider names it (spec §5.9), and as
/// the clients do (spec §5.3).
const KEY_VARIABLES: [&str; 2] = ["SERVICE_API_TOKEN", "SERVICE_API_KEY"];
/// The variable that stands in for the address (spec §5.3).
const URL_VARIABLE: &str = "SERVICE_API_URL";
/// Way out if no connection was made.
const UNREACHABLE: &str = "start the server with `aloft serve`, or give the address of a running one \
    with `--base-url` or SERVICE_API_URL";
/// What the help of such a command ends with.
pub(crate) const KEY_HELP: &str =
    "The key is SERVICE_API_TOKEN, or SERVICE_API_KEY, of the environment.";

/// URL of the service. The key is read from the environment, where process lists do not show it.
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

impl Service {
    /// The address: the given one, or else that of a server on this machine with these settings.
    pub(crate) fn address(&self) -> Result<String> {
        let given = self.base_url.clone().or_else(|| variable(URL_VARIABLE));
        if let Some(given) = given {
            return Ok(given);
        }
        Ok(local_address(self.config.settings()?.listen))
    }

    /// A client with the key of the environment. Prints the address.
    pub(crate) fn client(&self) -> Result<Client> {
        let address = self.address()?;
        output::complain(&format!("service: {}", crate::check::without_credentials(&address)));
        let Some(key) = KEY_VARIABLES.into_iter().find_map(variable) else {
            bail!("no key was given; set {} to one of the workspace", KEY_VARIABLES[0]);
        };
        Ok(Client::new(&address, &Secret::new(key))?)
    }

    /// The answer, or why there is none: `doing` names the call.
    pub(crate) fn answered<T>(&self, doing: &str, answer: Result<T, Error>) -> Result<T> {
        let address = self.address()?;
        let answer = answer.map_err(|error| said(&error));
        answer
            .with_context(|| format!("{doing} at {}", crate::check::without_credentials(&address)))
    }
}

/// The address at which a server that listens so is reached from its own machine.
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

/// What an error of the service says.
pub(crate) fn said(error: &Error) -> anyhow::Error {
    let message = error.message.clone().unwrap_or_else(|| format!("{:?}", error.code));
    if rpc::never_sent(error) {
        return anyhow!("cannot connect: {}; {UNREACHABLE}", cause(error));
    }
    anyhow!(message)
}

/// Returns the deepest cause of an error, which says most.
fn cause(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(StdError::source) {
        cause = Some(deeper);
    }
    cause.map(ToString::to_string).unwrap_or_default()
}

/// What a variable is set to; one that is empty says nothing.
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
