//! The format of a result: words for people, JSON or what an expression makes of it for programs, or only
//! IDs.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use serde_json::Value as Json;

use crate::json_args::JsonArgs;
use crate::output;
use crate::service::{KEY_HELP, Service};

/// IDs of a result that has none.
pub(crate) const NO_IDS: [&str; 0] = [];

/// The service to call, and the format of the result.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) service: Service,
    #[command(flatten)]
    json: JsonArgs,
    /// Print only IDs, one per line; nothing if the result has none
    #[arg(long, short, conflicts_with_all = ["json", "jq"])]
    quiet: bool,
}

/// The service to call by a command that also works on a database.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// Address of a service to call with the key of its context, instead of a database
    #[arg(long, value_name = "URL", global = true, conflicts_with_all = ["context", "data", "database"])]
    base_url: Option<String>,
    /// Context with the address and the key of a service to call, instead of a database
    #[arg(long, value_name = "NAME", global = true, conflicts_with_all = ["data", "database"])]
    context: Option<String>,
}

impl RemoteArgs {
    /// Returns whether the flags name a service.
    pub(crate) const fn is_given(&self) -> bool {
        self.base_url.is_some() || self.context.is_some()
    }

    /// Returns whether a key is known, from the environment or the context in use.
    pub(crate) fn has_key(&self) -> Result<bool> {
        self.service().has_key()
    }

    /// Returns the service and the format of the result.
    pub(crate) fn output_args(&self, json: JsonArgs) -> OutputArgs {
        OutputArgs { service: self.service(), json, quiet: false }
    }

    fn service(&self) -> Service {
        Service::new(self.base_url.clone(), self.context.clone())
    }
}

impl OutputArgs {
    /// Returns whether the result is JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json.is_wanted()
    }

    /// Returns whether people read the result.
    pub(crate) const fn is_for_people(&self) -> bool {
        !self.is_json() && !self.quiet
    }

    /// Prints a result as JSON, as IDs, or in words.
    pub(crate) fn print(
        &self,
        json: &Json,
        ids: &[&str],
        words: impl FnOnce() -> String,
    ) -> Result<()> {
        if !self.prints_data(json, ids)? {
            output::print_text(&words());
        }
        Ok(())
    }

    /// Prints a result if it is for programs: as JSON or as IDs. Returns false if people read it.
    pub(crate) fn prints_data<T: AsRef<str>>(
        &self,
        message: &impl Serialize,
        ids: impl IntoIterator<Item = T>,
    ) -> Result<bool> {
        if self.is_json() {
            self.json.print(serde_json::to_value(message)?)?;
        } else if self.quiet {
            for id in ids {
                output::print_text(id.as_ref());
            }
        }
        Ok(!self.is_for_people())
    }
}
