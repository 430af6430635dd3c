//! `aloft members`: the people of a workspace and their invitations. Calls a running service with a key,
//! which may only read them.

use anyhow::Result;
use clap::Subcommand;
use serde_json::Map;

use crate::output_args::OutputArgs;
use crate::resources::{self, INVITATIONS, Kind, ListArgs, MEMBERS};
use crate::session::Session;

/// End of the help: changes need a person.
pub(crate) const HELP: &str = "Only a person may invite and remove members and change their roles: \
    `aloft open members` opens the dashboard. A key never may, so that a stolen one lets nobody in.";

/// Subcommands of `aloft members`.
#[derive(Debug, Subcommand)]
pub(crate) enum MemberCommand {
    /// List members with their roles, the newest accounts first
    List {
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// List the open invitations, newest first
    Invitations {
        #[command(flatten)]
        list: ListArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

pub(crate) async fn run(action: MemberCommand) -> Result<()> {
    match action {
        MemberCommand::List { list, output_args } => run_list(&MEMBERS, &list, &output_args).await,
        MemberCommand::Invitations { list, output_args } => {
            run_list(&INVITATIONS, &list, &output_args).await
        }
    }
}

async fn run_list(kind: &'static Kind, list: &ListArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    resources::list(&session, kind, Map::new(), list, output_args).await
}
