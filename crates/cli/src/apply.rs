//! `aloft apply`: makes a workspace match configuration files. Shows the plan, asks, and applies it in
//! order of dependency. The crate `configuration` reads and plans; this module has the IO.

mod calls;
mod execute;
mod files;
mod record;

use std::collections::HashMap;
use std::io::{IsTerminal as _, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use configuration::{Configuration, Current, Existing, Kind, Plan, PlanOptions, Rename};
use serde_json::{Value as Json, json};

use self::execute::{Executor, Outcome};
use self::record::Record;
use crate::content::{self, Workspace};
use crate::json_args::JsonArgs;
use crate::named;
use crate::output;
use crate::service::{KEY_HELP, Service};
use crate::session::Session;

/// Exit code of `--detailed-exitcode` if there are changes.
const CHANGES: u8 = 2;
const EXIT_CODES: &str = "Exit codes: 0, success; 1, failure, with the reason on standard error; 2, \
invalid command line. With --detailed-exitcode: 0, nothing to do; 1, failure or invalid command line; \
2, there are changes.";

/// Files, permissions and output of `aloft apply`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXIT_CODES} {KEY_HELP}"))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    service: Service,
    /// File or folder with *.yaml files, - for standard input; repeatable
    #[arg(short, long = "file", value_name = "PATH", required_unless_present = "schema")]
    files: Vec<PathBuf>,
    /// Only print the plan
    #[arg(long)]
    plan: bool,
    /// Exit with 2 if there are changes
    #[arg(long)]
    detailed_exitcode: bool,
    /// Delete resources of this configuration that the files no longer have
    #[arg(long)]
    prune: bool,
    /// Take over resources of the same names that no configuration owns
    #[arg(long)]
    adopt: bool,
    /// Key that the file has changed, so that its resource stays; repeatable
    #[arg(long, value_name = "OLD=NEW", value_parser = rename)]
    rename: Vec<Rename>,
    /// Apply without a question
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
    /// Print the JSON Schema of the files, for editors
    #[arg(long, exclusive = true)]
    schema: bool,
}

pub(crate) async fn run(args: ApplyArgs) -> Result<ExitCode> {
    if args.schema {
        output::print_text(&format!("{:#}", configuration::schema()));
        return Ok(ExitCode::SUCCESS);
    }
    let for_programs = args.json.is_wanted();
    if for_programs && !args.plan && !args.yes {
        bail!("nobody can confirm the changes with `--json`; add `--plan` or `--yes`");
    }
    let configuration = files::read(&args.files)?;
    let session = Session::open(&args.service)?;
    let record = Record { session: &session, name: &configuration.name };
    let current = Box::pin(state(&session, &record)).await?;
    if current.reads_only && !args.plan {
        bail!(
            "`aloft apply` needs a key with the scope write; this key has the scope read, which \
             suffices for `--plan`. Nothing was changed"
        );
    }
    let options =
        PlanOptions { prune: args.prune, adopt: args.adopt, renames: args.rename.clone() };
    let plan = configuration::plan(&configuration, &current, &options)?;
    if !for_programs {
        output::print_text(&format!("configuration `{}`:\n{}", configuration.name, plan.text()));
    }
    let done = if args.plan || plan.is_empty() {
        Outcome::default()
    } else {
        confirm(&args)?;
        let mut executor =
            Executor::new(&session, &record, &configuration, &current, !for_programs);
        Box::pin(executor.run(&plan)).await
    };
    if for_programs {
        let json = json(&configuration, &plan, &done, args.plan);
        args.json.print_unchanged(&json, output::try_print)?;
    }
    done.result(&plan)?;
    let has_changes = args.detailed_exitcode && !plan.is_empty();
    Ok(if has_changes { ExitCode::from(CHANGES) } else { ExitCode::SUCCESS })
}

/// Reads `OLD=NEW`.
fn rename(text: &str) -> Result<Rename, String> {
    let (old, new) = text.split_once('=').ok_or("must have the form OLD=NEW")?;
    Ok(Rename { old: old.to_owned(), new: new.to_owned() })
}

/// Reads the resources of the workspace, and the record of their owners.
async fn state(session: &Session<'_>, record: &Record<'_>) -> Result<Current> {
    let recorded = record.entries().await?;
    let foreign = record.foreign().await?;
    let workspace = session.read_content().await?;
    let reads_only = workspace.reads_only;
    Ok(Current { existing: existing(workspace), recorded, foreign, reads_only })
}

/// Returns the names of all configurations by the IDs that they own.
pub(crate) async fn owners(session: &Session<'_>) -> Result<HashMap<String, String>> {
    Record { session, name: "" }.foreign().await
}

/// Returns the resources of a workspace by their kinds.
pub(crate) fn existing(workspace: Workspace) -> Vec<Existing> {
    let found = workspace.found.into_iter();
    found
        .filter_map(|content::Found { table, json }| {
            Some(Existing { kind: Kind::of_table(table)?, json })
        })
        .collect()
}

/// Asks before changes on a terminal, unless `--yes` was given. Fails without an agreement.
fn confirm(args: &ApplyArgs) -> Result<()> {
    if args.yes {
        return Ok(());
    }
    if !stdin().is_terminal() {
        bail!(
            "nobody can confirm the changes without a terminal; add `--yes`, or `--plan` to only see \
             them. Nothing was changed"
        );
    }
    if named::ask("Apply these changes?")? {
        return Ok(());
    }
    bail!("nothing was changed");
}

fn json(configuration: &Configuration, plan: &Plan, done: &Outcome, plan_only: bool) -> Json {
    let outcome = match (&done.failure, plan_only) {
        (Some(_), _) => "failed",
        (None, true) => "planned",
        (None, false) => "applied",
    };
    let steps = |steps: &[configuration::Step]| -> Json {
        steps.iter().map(configuration::Step::json).collect()
    };
    let remaining = if plan_only { &[] } else { plan.steps.get(done.steps..).unwrap_or_default() };
    json!({
        "configuration": configuration.name,
        "plan": plan.json(),
        "outcome": outcome,
        "done": done.json,
        "error": done.failure.as_ref().map(|failure| format!("{failure:#}")),
        "remaining": steps(remaining),
    })
}
