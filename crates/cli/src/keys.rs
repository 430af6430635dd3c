//! `aloft keys`: keys of the server's own database for operators, and of the workspace for people who are
//! logged in. A key never creates a key.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde_json::{Map, json};

use crate::admin::{self, KeyAction, NewKeyArgs};
use crate::dashboard;
use crate::database_args::DatabaseArgs;
use crate::output_args::{OutputArgs, RemoteArgs};
use crate::resources::{self, KEYS, ListArgs};
use crate::session::Session;

/// Subcommands of `aloft keys`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Create a key in the database of the server and print it once
    Create(NewKeyArgs),
    /// List keys, newest first (the secret part is not stored)
    List {
        /// Only keys of the workspace with this slug, in the database
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Revoke a key; a running server rejects it at once
    Revoke {
        /// ID of the key (key_…); of a service also its name or its first characters
        key: String,
    },
}

/// Arguments of `aloft keys`: a database, or a service.
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) async fn run(command: KeyCommand, args: KeyArgs) -> Result<ExitCode> {
    let KeyArgs { database, remote } = args;
    if !remote.is_given() && (database.is_available()? || !remote.has_key()?) {
        let action = match command {
            KeyCommand::Create(new) => KeyAction::Create(new),
            KeyCommand::List { workspace } => KeyAction::List { workspace },
            KeyCommand::Revoke { key } => KeyAction::Revoke { id: key.parse()? },
        };
        return admin::keys(action, database).await;
    }
    let output_args = remote.output_args(database.into_json());
    let session = Session::open(&output_args.service)?;
    match command {
        KeyCommand::Create(_) => {
            let address = dashboard::address(&session, dashboard::KEYS_SCREEN).await?;
            bail!(
                "a key never creates a key, so that a stolen one ends when it is revoked; create it \
                 in the dashboard at {address}, or with `--data DIR` on the machine of the server"
            );
        }
        KeyCommand::List { workspace: Some(_) } => {
            bail!("`--workspace` selects in a database; a key lists the keys of its own workspace");
        }
        KeyCommand::List { workspace: None } => {
            resources::list(&session, &KEYS, Map::new(), &ListArgs::ALL, &output_args).await?;
        }
        KeyCommand::Revoke { key } => revoke(&session, &key, &output_args).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn revoke(session: &Session<'_>, given: &str, output_args: &OutputArgs) -> Result<()> {
    let id = resources::id(session, &KEYS, given).await?;
    let method = KEYS.method("Revoke");
    let answer = session.call("revoking the key", &method, &json!({ "id": id })).await?;
    output_args.print(&answer, &[&id], || format!("{id} was revoked"))
}
