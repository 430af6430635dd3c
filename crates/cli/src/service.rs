//! The service that a command calls: its address, its key, and the messages of its errors.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::OnceLock;

use anyhow::{Result, anyhow, bail};
use clap::Args;
use contract::rpc::{self, Client, Code, Error, Network};
use rules::Secret;
use server::boot;

use crate::contexts::Contexts;
use crate::database_args::ConfigArg;
use crate::network_errors;
use crate::output;

/// Variables of the key, in order of precedence: the provider's (spec §5.9) and the clients' (spec
/// §5.3).
const KEY_VARIABLES: [&str; 2] = ["SERVICE_API_TOKEN", "SERVICE_API_KEY"];
/// Variable of the address (spec §5.3).
const URL_VARIABLE: &str = "SERVICE_API_URL";
/// End of the help of commands that need a key.
pub(crate) const KEY_HELP: &str = "The key comes from the environment variable SERVICE_API_TOKEN or \
    SERVICE_API_KEY, or from the context that `aloft login` stored.";
/// Help of the flag with the address of `aloft login`.
pub(crate) const NETWORK_HELP: &str = "Address of the service [default: that of `listen`, \
    http://127.0.0.1:8080/rpc] [env: SERVICE_API_URL]";

/// URL of the service. The key comes from the environment or a context, where process lists do not
/// show it.
#[derive(Debug, Args)]
pub(crate) struct Service {
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "context",
        help = "Address of the service [default: that of the context, or of `listen`, http://127.0.0.1:8080/rpc] [env: SERVICE_API_URL]"
    )]
    base_url: Option<String>,
    /// Context with the address and the key, before the environment [default: the one in use]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    #[command(flatten)]
    config: ConfigArg,
    /// The endpoint, found once, so that a command uses one even if the contexts change meanwhile.
    #[arg(skip)]
    endpoint: OnceLock<Endpoint>,
}

/// Address and key of the service, each from its first source.
#[derive(Debug)]
struct Endpoint {
    address: String,
    /// Context in use, if the address is its own.
    context: Option<String>,
    key: KeySource,
}

/// Source of the key.
#[derive(Debug)]
enum KeySource {
    Variable(&'static str, Secret<String>),
    /// The context of the endpoint.
    Context(Secret<String>),
    /// None. The context in use may be for another address.
    Missing {
        other_context: Option<String>,
    },
}

impl Service {
    /// Returns the address of the service: from the flags, the environment, the context in use, or
    /// else that of a server on this machine with these settings.
    pub(crate) fn address(&self) -> Result<String> {
        Ok(self.endpoint()?.address.clone())
    }

    /// Creates the service of these flags.
    pub(crate) fn new(base_url: Option<String>, context: Option<String>) -> Self {
        Self { base_url, context, config: ConfigArg::default(), endpoint: OnceLock::new() }
    }

    /// Returns whether a key is known.
    pub(crate) fn has_key(&self) -> Result<bool> {
        Ok(!matches!(self.endpoint()?.key, KeySource::Missing { .. }))
    }

    /// Returns a client with the key. Prints the address.
    pub(crate) fn client(&self) -> Result<Client> {
        let endpoint = self.endpoint()?;
        let shown = crate::check::without_credentials(&endpoint.address);
        let context = endpoint.context.as_ref().map(|name| format!(" (context {name})"));
        output::print_stderr(&format!("service: {shown}{}", context.unwrap_or_default()));
        let key = match &endpoint.key {
            KeySource::Variable(name, key) if !rpc::is_sendable_key(key) => {
                bail!("invalid character in the API key of {name}; copy the key again");
            }
            KeySource::Variable(_, key) | KeySource::Context(key) => key,
            KeySource::Missing { other_context: Some(name) } => bail!(
                "no API key for this address: the context `{name}` is for another one; log in with \
                 `aloft login --base-url {shown}`, or set {}",
                KEY_VARIABLES[0]
            ),
            KeySource::Missing { other_context: None } => bail!(
                "no API key; log in with `aloft login`, or set {} to a key of the workspace",
                KEY_VARIABLES[0]
            ),
        };
        Ok(Client::with_network(&network(), &endpoint.address, key)?)
    }

    /// Returns the response, or its error with context. `doing` names the call.
    pub(crate) fn map_error<T>(&self, doing: &str, answer: Result<T, Error>) -> Result<T> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let why = service_error(&error);
        Err(self.with_place(doing, &error, why))
    }

    /// Adds the call, the address, and the way to a new key if the service rejected a context's.
    pub(crate) fn with_place(
        &self,
        doing: &str,
        error: &Error,
        why: anyhow::Error,
    ) -> anyhow::Error {
        let endpoint = match self.endpoint() {
            Ok(endpoint) => endpoint,
            Err(error) => return error,
        };
        let place = crate::check::without_credentials(&endpoint.address);
        let why = match (&endpoint.context, &endpoint.key) {
            (Some(name), KeySource::Context(_)) if error.code == Code::Unauthenticated => {
                anyhow!("{why}; `aloft login --context {name}` replaces the key of the context")
            }
            _ => why,
        };
        why.context(format!("{doing} at {place}"))
    }

    fn endpoint(&self) -> Result<&Endpoint> {
        if let Some(found) = self.endpoint.get() {
            return Ok(found);
        }
        let found = self.find_endpoint()?;
        Ok(self.endpoint.get_or_init(|| found))
    }

    /// Finds the address and the key. The key of a context belongs to the context's address only, and a
    /// key of the environment is never sent to the address of a context.
    fn find_endpoint(&self) -> Result<Endpoint> {
        if let Some(name) = &self.context {
            let context = Contexts::read()?.get(name)?.clone();
            let key = KeySource::Context(context.key);
            return Ok(Endpoint { address: context.base_url, context: Some(context.name), key });
        }
        let given = match given_address(self.base_url.as_deref()) {
            None if self.config.is_given() => Some(local_address(self.config.settings()?.listen)),
            given => given,
        };
        let key = KEY_VARIABLES
            .into_iter()
            .find_map(|name| Some(KeySource::Variable(name, Secret::new(variable(name)?))));
        let stored = match &key {
            // The contexts do not matter, whatever the state of their file.
            Some(_) => None,
            None => Contexts::read()?.current().cloned(),
        };
        let address = match (given, &stored) {
            (Some(given), _) => given,
            (None, Some(context)) => context.base_url.clone(),
            (None, None) => local_address(self.config.settings()?.listen),
        };
        let (own, other_context) = match stored {
            Some(it) if it.base_url == address => (Some(it), None),
            Some(it) => (None, Some(it.name)),
            None => (None, None),
        };
        let context = own.as_ref().map(|it| it.name.clone());
        let key = key.or_else(|| own.map(|it| KeySource::Context(it.key)));
        let key = key.unwrap_or(KeySource::Missing { other_context });
        Ok(Endpoint { address, context, key })
    }
}

/// Returns the address of the flag, or else of the environment.
pub(crate) fn given_address(flag: Option<&str>) -> Option<String> {
    flag.map(str::to_owned).or_else(|| variable(URL_VARIABLE))
}

/// Returns the proxies and trusted certificates of the environment.
pub(crate) fn network() -> Network {
    Network::from_variables(boot::variable)
}

/// Returns the address of a server on this machine that listens on `listen`.
pub(crate) fn local_address(listen: SocketAddr) -> String {
    let mut own = listen;
    if listen.ip().is_unspecified() {
        own.set_ip(match listen {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    format!("http://{own}/rpc")
}

/// Formats an error of the service, or a failure on the way to it.
pub(crate) fn service_error(error: &Error) -> anyhow::Error {
    if let Some(words) = network_errors::words(error) {
        return anyhow!(words);
    }
    anyhow!(error.message.clone().unwrap_or_else(|| format!("{:?}", error.code)))
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
