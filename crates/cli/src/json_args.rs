//! `--json` and `--jq`: the format of results for programs.

use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::Value as Json;

use crate::jq::JqExpression;
use crate::output;

/// Longest JSON in an error, in bytes.
const QUOTED_BYTES: usize = 4_096;

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
