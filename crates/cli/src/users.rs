//! `aloft users`: an operator's commands on the accounts of the server, which also work while it runs.
//! Leaves the operations to `server::control`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::json;
use server::control::UserRow;

use crate::database_args::DatabaseArgs;
use crate::output;

/// Subcommands of `aloft users`.
#[derive(Debug, Subcommand)]
pub(crate) enum UserAction {
    /// List all users with their roles, newest first
    List,
    /// Give a user a new password, print it once, end all sessions and remove all passkeys of the user
    Reset {
        /// Email address of the user
        email: String,
        /// Keep the passkeys, which sign in without the password
        #[arg(long)]
        keep_passkeys: bool,
    },
}

pub(crate) async fn users(action: UserAction, database: DatabaseArgs) -> Result<ExitCode> {
    let admin = database.open().await?;
    match action {
        UserAction::List => {
            let rows = admin.list_users().await?;
            database.print_result(serde_json::to_value(&rows)?, || table(&rows))?;
        }
        UserAction::Reset { email, keep_passkeys } => {
            let new = admin.reset_user(email, keep_passkeys).await?;
            let (id, password, removed) = (new.id, new.password.expose(), new.removed_passkeys);
            let words = || {
                let passkeys = match removed {
                    0 => String::new(),
                    1 => ", and the passkey was removed".to_owned(),
                    count => format!(", and {count} passkeys were removed"),
                };
                format!(
                    "{password}\n\nThis password of `{}` is shown only once. All sessions have ended{passkeys}; \
                     change the password after signing in.",
                    new.email
                )
            };
            let result = json!({
                "id": id, "email": new.email, "password": password, "removed_passkeys": removed,
            });
            database.print_result(result, words)?;
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

fn table(rows: &[UserRow]) -> String {
    let heads = ["EMAIL", "NAME", "ROLES", "ID", "CREATED"].map(str::to_owned);
    let row = |row: &UserRow| {
        let roles = row.roles.iter().map(|(workspace, role)| format!("{workspace} ({role})"));
        let roles = roles.collect::<Vec<_>>().join(", ");
        let created = output::moment(row.created_at);
        [row.email.clone(), row.name.clone(), roles, row.id.to_string(), created]
    };
    output::table(&[heads].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>())
}
