//! `--json` and `--jq`: the format of results for programs.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::Value as Json;

use crate::jq::JqExpression;
use crate::output;

/// Fields of secrets that the service shows once.
const SHOWN_ONCE: [&str; 3] = ["key", "token", "secret"];

/// Whether to print JSON.
#[derive(Debug, Args)]
pub(crate) struct JsonArgs {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print the results of this jq expression on the JSON, such as '.[].id': texts as they are, everything
    /// else as JSON
    #[arg(long, global = true, value_name = "EXPRESSION", value_parser = JqExpression::parse)]
    jq: Option<JqExpression>,
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
    /// Fails if the expression does. The command is done then, so a result with a secret that is shown once is
    /// printed as it is. No error quotes a result, because logs keep errors.
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
        let Err(why) = expression.evaluate(json, &mut print) else { return Ok(()) };
        if SHOWN_ONCE.iter().any(|name| json[name].is_string()) {
            let _ = print(&json.to_string());
            return Err(anyhow!(
                "{why}; the command itself succeeded, so its whole result is printed"
            ));
        }
        Err(anyhow!("{why}; the command itself succeeded, and `--json` shows what it prints"))
    }
}
