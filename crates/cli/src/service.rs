//! A service that a command calls: where it is, with which key, and what its errors say.

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use contract::rpc::{Client, DEFAULT_BASE_URL, Error};
use rules::Secret;
use server::boot;

/// Variables that hold the key, the first that is set: as the provider names it (spec §5.9), and as
/// the clients do (spec §5.3).
const KEY_VARIABLES: [&str; 2] = ["SERVICE_API_TOKEN", "SERVICE_API_KEY"];
/// The variable that stands in for the address (spec §5.3).
const URL_VARIABLE: &str = "SERVICE_API_URL";
/// What the help of such a command ends with.
pub(crate) const KEY_HELP: &str =
    "The key is SERVICE_API_TOKEN, or SERVICE_API_KEY, of the environment.";

/// Where it is. The key comes from the environment, where no list of processes shows it.
#[derive(Debug, Args)]
pub(crate) struct Service {
    #[arg(
        long,
        value_name = "URL",
        help = "Address of the service [default: http://127.0.0.1:8080/rpc] [env: SERVICE_API_URL]"
    )]
    base_url: Option<String>,
}

impl Service {
    /// Its address, as it was given or as it is by default.
    pub(crate) fn address(&self) -> String {
        let given = self.base_url.clone().or_else(|| variable(URL_VARIABLE));
        given.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned())
    }

    /// A client with the key of the environment.
    pub(crate) fn client(&self) -> Result<Client> {
        let Some(key) = KEY_VARIABLES.into_iter().find_map(variable) else {
            bail!("no key was given; set {} to one of the workspace", KEY_VARIABLES[0]);
        };
        Ok(Client::new(&self.address(), &Secret::new(key))?)
    }

    /// What was answered, or why not: `doing` says what was asked for.
    pub(crate) fn answered<T>(&self, doing: &str, answer: Result<T, Error>) -> Result<T> {
        let address = self.address();
        let answer = answer.map_err(|error| said(&error));
        answer
            .with_context(|| format!("{doing} at {}", crate::check::without_credentials(&address)))
    }
}

/// What an error of the service says.
pub(crate) fn said(error: &Error) -> anyhow::Error {
    let message = error.message.clone().unwrap_or_else(|| format!("{:?}", error.code));
    anyhow!(message)
}

/// What a variable is set to; one that is empty says nothing.
fn variable(name: &str) -> Option<String> {
    boot::variable(name).filter(|value| !value.is_empty())
}
