//! `aloft workspaces` and `aloft keys`: what an operator does on the server's own database, also
//! while the server runs. The operations themselves belong to `server::control`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use rules::{KeyId, Scope, Timestamp};
use serde_json::json;
use server::boot;
use server::context::Context;
use server::control::{self, Admin, CreateKey, CreateWorkspace, KeyRow};

use crate::flags::Flags;

/// Which database, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Folder of the server's database [default: ./aloft-data] [env: `ALOFT_DATA`]
    #[arg(long, value_name = "DIR", global = true)]
    data: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

/// What to do with workspaces.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceAction {
    /// Make a workspace
    Create {
        /// Its name in commands and addresses: lower-case words joined by single hyphens
        #[arg(long)]
        slug: String,
        /// Its name for people
        #[arg(long)]
        name: String,
    },
    /// List all workspaces
    List,
}

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Make a key and print it, once
    Create {
        /// Slug of its workspace
        #[arg(long)]
        workspace: String,
        /// What it is for
        #[arg(long)]
        name: String,
        /// What it may do: read or write
        #[arg(long)]
        scope: Scope,
        /// When it ends by itself, from now: such as 30d, 12h or 45m; else never
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<Duration>,
    },
    /// List keys; the keys themselves are not stored
    List {
        /// Only those of the workspace with this slug
        #[arg(long)]
        workspace: Option<String>,
    },
    /// Revoke a key; a running server refuses it from its next call on
    Revoke {
        /// Its identifier, such as `key_…`
        id: KeyId,
    },
}

pub(crate) async fn workspaces(action: WorkspaceAction, place: Place) -> Result<ExitCode> {
    let admin = place.open().await?;
    match action {
        WorkspaceAction::Create { slug, name } => {
            let made = admin.create_workspace(CreateWorkspace { slug, name }).await?;
            match place.json {
                true => crate::print(&serde_json::to_value(&made)?),
                false => crate::say(&format!("made workspace `{}` ({})", made.slug, made.id)),
            }
        }
        WorkspaceAction::List => {
            let all = admin.list_workspaces().await?;
            if place.json {
                crate::print(&serde_json::to_value(&all)?);
            }
            for row in all.iter().filter(|_| !place.json) {
                crate::say(&format!("{}  {:<24} {:<32} {}", row.id, row.slug, row.name, row.plan));
            }
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn keys(action: KeyAction, place: Place) -> Result<ExitCode> {
    let admin = place.open().await?;
    match action {
        KeyAction::Create { workspace, name, scope, expires } => {
            let expires_in_seconds = expires.map(|time| time.as_secs());
            let new = CreateKey { workspace, name, scope, expires_in_seconds };
            let made = admin.create_key(new).await?;
            match place.json {
                true => crate::print(&json!({ "id": made.id, "key": made.key.expose() })),
                false => crate::say(&format!(
                    "{}\n\nThis is key `{}`. It is shown this once; send it in the header `x-service-key`.",
                    made.key.expose(),
                    made.id
                )),
            }
        }
        KeyAction::List { workspace } => {
            let rows = admin.list_keys(workspace.as_deref()).await?;
            if place.json {
                crate::print(&serde_json::to_value(&rows)?);
            }
            for row in rows.iter().filter(|_| !place.json) {
                crate::say(&line(row, Context::system().now()));
            }
        }
        KeyAction::Revoke { id } => {
            admin.revoke_key(id).await?;
            match place.json {
                true => crate::print(&json!({ "id": id, "revoked": true })),
                false => crate::say(&format!("revoked key `{id}`")),
            }
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

impl Place {
    async fn open(&self) -> Result<Admin> {
        let mut flags = Flags::default();
        if let Some(data) = &self.data {
            flags.values.insert("data".to_owned(), data.clone());
        }
        let (_, settings) = boot::load(flags.values, flags.file)?;
        control::connect(&Context::system(), &settings.data, boot::master_key(&settings))
            .await
            .with_context(|| format!("opening `{}`", settings.data.display()))
    }
}

fn line(row: &KeyRow, now: Timestamp) -> String {
    let state = match (row.revoked_at, row.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("holds until {at}"),
        (None, None) => "holds".to_owned(),
    };
    let used = row.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("used {at}"));
    let scope = row.scope.map_or("write (made before scopes)", Scope::as_str);
    format!("{}  {:<20} {:<24} {scope:<6} {state}, {used}", row.id, row.workspace, row.name)
}

/// Reads a time such as `30d`, `12h`, `45m` or `90s`.
fn lifetime(text: &str) -> Result<Duration> {
    let (count, unit) =
        text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "d" => 86_400,
        "h" => 3_600,
        "m" => 60,
        "s" => 1,
        _ => bail!("`{text}` has no unit; write it as 30d, 12h, 45m or 90s"),
    };
    let count: u32 =
        count.parse().with_context(|| format!("`{text}` is no time; write it as 30d"))?;
    if count == 0 {
        bail!("a key that ends at once is of no use; write a time such as 30d");
    }
    Ok(Duration::from_secs(u64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_read_with_their_unit_and_refused_without() {
        assert_eq!(lifetime("30d").unwrap(), Duration::from_secs(30 * 86_400));
        assert_eq!(lifetime("45m").unwrap(), Duration::from_secs(2_700));
        for wrong in ["", "30", "d", "0d", "-1d", "1.5h", "30é"] {
            assert!(lifetime(wrong).is_err(), "{wrong}");
        }
    }
}
