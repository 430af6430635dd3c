//! The format of a result: words for people, JSON or what an expression makes of it for programs, or only
//! IDs.

use anyhow::{Result, anyhow};
use clap::Args;
use serde::Serialize;
use serde_json::Value as Json;

use crate::jq::Expression;
use crate::output;
use crate::service::{KEY_HELP, Service};

/// Longest JSON in an error, in bytes.
const QUOTED_BYTES: usize = 4_096;
/// IDs of a result that has none.
pub(crate) const NO_IDS: [&str; 0] = [];

/// Whether to print JSON.
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print the results of this jq expression on the JSON, such as '.[].id': texts as they are, everything
    /// else as JSON
    #[arg(long, global = true, value_name = "EXPRESSION", value_parser = Expression::parse)]
    jq: Option<Expression>,
}

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

impl JsonArgs {
    /// Returns whether the result is for programs.
    pub(crate) const fn is_wanted(&self) -> bool {
        self.json || self.jq.is_some()
    }

    /// Prints JSON with the names of the contract, or the results of the expression on it.
    pub(crate) fn print(&self, json: Json) -> Result<()> {
        self.print_unchanged(&output::contract_json(json), output::try_print)
    }

    /// Like [`Self::print`], without a change of names. `print` returns false if nobody reads on.
    ///
    /// # Errors
    ///
    /// Fails if the expression does. Then a short JSON is in the error: the command is done, and its result,
    /// such as a new key, may be available only once.
    pub(crate) fn print_unchanged(
        &self,
        json: &Json,
        mut print: impl FnMut(&str) -> bool,
    ) -> Result<()> {
        let Some(expression) = &self.jq else {
            // A closed pipe, such as with `head`, is not an error.
            let _ = print(&json.to_string());
            return Ok(());
        };
        expression.evaluate(json, print).map_err(|why| {
            let text = json.to_string();
            if text.len() > QUOTED_BYTES {
                anyhow!("{why}; the command itself succeeded; `--json` shows what it prints")
            } else {
                anyhow!("{why}; the command itself succeeded, with the result {text}")
            }
        })
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
