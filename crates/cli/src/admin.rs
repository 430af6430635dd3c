//! `aloft workspaces`, `aloft keys` and `aloft audit`: an operator's commands on the server's own database, which
//! also work while the server runs. Leaves the operations to `server::control`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use rules::{KeyId, Scope, Timestamp, counted};
use serde_json::json;
use server::control::{
    AuditQuery, AuditRow, CreateKey, CreateWorkspace, KeepResults, KeyRow, RenameWorkspace,
};
use web::context::Context;

use crate::database_args::DatabaseArgs;
use crate::{output, workspaces};

/// Subcommands of `aloft workspaces`.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceAction {
    /// Create a workspace
    Create {
        /// Slug for commands and URLs: lower-case words joined by single hyphens
        #[arg(long)]
        slug: String,
        /// Display name
        #[arg(long)]
        name: String,
        /// Plan, one of the setting `plans` [default: free]
        #[arg(long)]
        plan: Option<String>,
    },
    /// List all workspaces with their plans, limits and usage, newest first
    List,
    /// Show a workspace with its plan, limits and usage
    Show {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
    },
    /// Change the name or the slug of a workspace; addresses of its status pages stay the same
    Rename {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
        /// New slug
        #[arg(long, required_unless_present = "name")]
        new_slug: Option<String>,
        /// New display name
        #[arg(long)]
        name: Option<String>,
    },
    /// Change the plan of a workspace; resources beyond the plan's limits stay
    Plan {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
        /// Plan, one of the setting `plans`, or free
        #[arg(long)]
        plan: String,
    },
    /// Let a workspace manage what all workspaces share, such as probes, by RPC and in the dashboard;
    /// the first workspace may do so from the start
    Operator {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
        /// End it instead
        #[arg(long)]
        revoke: bool,
    },
    /// Delete a workspace with its keys, monitors, channels and status pages
    Delete {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
        /// Delete without confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Set how long a workspace's results are kept
    SetRetention {
        /// Slug of the workspace
        #[arg(long)]
        slug: String,
        /// Days, 1 to 3650 [default: the setting `retention_days` of the server]
        #[arg(long)]
        days: Option<u32>,
    },
}

/// Arguments of `aloft audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Slug of the workspace
    #[arg(long)]
    workspace: String,
    /// Maximum number of changes, 1 to 10000
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Only changes of this resource, such as mon_…
    #[arg(long, value_name = "ID")]
    resource: Option<String>,
    /// Only changes by this actor: `key_…`, `usr_…`, `command_line` or `server`
    #[arg(long, value_name = "ACTOR")]
    actor: Option<String>,
    /// Only changes at this time or later, such as 2026-12-01T22:00:00Z
    #[arg(long, value_name = "TIME", value_parser = crate::time::instant)]
    from: Option<Timestamp>,
    /// Only changes before this time
    #[arg(long, value_name = "TIME", value_parser = crate::time::instant)]
    to: Option<Timestamp>,
}

/// A change of the keys in the database, or the list of them.
#[derive(Debug)]
pub(crate) enum KeyAction {
    Create(NewKeyArgs),
    List { workspace: Option<String> },
    Revoke { id: KeyId },
}

/// A key to create.
#[derive(Debug, Args)]
pub(crate) struct NewKeyArgs {
    /// Slug of the workspace
    #[arg(long)]
    workspace: String,
    /// Name of the key
    #[arg(long)]
    name: String,
    /// Scope: read or write
    #[arg(long)]
    scope: Scope,
    /// Expires after this time, such as 30d, 12h or 45m [default: never]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires: Option<Duration>,
}

pub(crate) async fn workspaces(
    action: WorkspaceAction,
    database: DatabaseArgs,
) -> Result<ExitCode> {
    let admin = database.open().await?;
    match action {
        WorkspaceAction::Create { slug, name, plan } => {
            let made = admin.create_workspace(CreateWorkspace { slug, name, plan }).await?;
            let words = || format!("created workspace `{}` ({})", made.slug, made.id);
            database.print_result(serde_json::to_value(&made)?, words)?;
        }
        WorkspaceAction::Rename { slug, new_slug, name } => {
            let renamed = RenameWorkspace { workspace: slug, slug: new_slug, name };
            let row = admin.rename_workspace(renamed).await?;
            let words = || format!("workspace `{}` now has the name `{}`", row.slug, row.name);
            database.print_result(serde_json::to_value(&row)?, words)?;
        }
        WorkspaceAction::Plan { slug, plan } => {
            let row = admin.set_plan(slug, plan).await?;
            let words = || format!("workspace `{}` now has the plan `{}`", row.slug, row.plan);
            database.print_result(serde_json::to_value(&row)?, words)?;
        }
        WorkspaceAction::Operator { slug, revoke } => {
            let details = admin.set_operator(slug, !revoke).await?;
            let slug = &details.workspace.slug;
            let manages = if details.is_operator { "now manages" } else { "no longer manages" };
            let words = || format!("workspace `{slug}` {manages} the server's probes");
            database.print_result(serde_json::to_value(&details)?, words)?;
        }
        WorkspaceAction::Delete { slug, yes } => {
            if !yes {
                bail!(
                    "this deletes the keys, monitors, channels and status pages of `{slug}` for good; \
                     add --yes to confirm"
                );
            }
            admin.delete_workspace(slug.clone()).await?;
            let words = || format!("deleted workspace `{slug}`");
            database.print_result(json!({ "slug": slug, "deleted": true }), words)?;
        }
        WorkspaceAction::List => {
            let all = admin.list_workspaces().await?;
            database.print_result(serde_json::to_value(&all)?, || workspaces::table(&all))?;
        }
        WorkspaceAction::Show { slug } => {
            let details = admin.show_workspace(slug).await?;
            database
                .print_result(serde_json::to_value(&details)?, || workspaces::details(&details))?;
        }
        WorkspaceAction::SetRetention { slug, days } => {
            admin.set_retention(KeepResults { workspace: slug.clone(), days }).await?;
            let time = days.map_or_else(
                || "for the time of the server's setting `retention_days`".to_owned(),
                |days| format!("for {}", counted(days, "day")),
            );
            let words = || format!("results of workspace `{slug}` are kept {time}");
            database.print_result(json!({ "slug": slug, "retention_days": days }), words)?;
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn keys(action: KeyAction, database: DatabaseArgs) -> Result<ExitCode> {
    let admin = database.open().await?;
    match action {
        KeyAction::Create(NewKeyArgs { workspace, name, scope, expires }) => {
            let expires_in_seconds = expires.map(|time| time.as_secs());
            let new = CreateKey { workspace, name, scope, expires_in_seconds };
            let made = admin.create_key(new).await?;
            let (id, key) = (made.id, made.key.expose());
            let words = || {
                format!(
                    "{key}\n\nKey `{id}` is shown only once. Send it in the header `x-service-key`."
                )
            };
            database.print_result(json!({ "id": id, "key": key }), words)?;
        }
        KeyAction::List { workspace } => {
            let rows = admin.list_keys(workspace.as_deref()).await?;
            let now = Context::system().now();
            database.print_result(serde_json::to_value(&rows)?, || table_of_keys(&rows, now))?;
        }
        KeyAction::Revoke { id } => {
            admin.revoke_key(id).await?;
            let words = || format!("revoked key `{id}`");
            database.print_result(json!({ "id": id, "revoked": true }), words)?;
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the newest changes of a workspace.
pub(crate) async fn audit(args: AuditArgs, database: DatabaseArgs) -> Result<ExitCode> {
    let admin = database.open().await?;
    let AuditArgs { workspace, limit, resource, actor, from, to } = args;
    let query = AuditQuery { workspace, limit, resource_id: resource, actor, from, to };
    let rows = admin.audit(query).await?;
    database.print_result(serde_json::to_value(&rows)?, || table_of_changes(&rows))?;
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

fn table_of_changes(rows: &[AuditRow]) -> String {
    let heads = ["WHEN", "WHO", "FROM", "WHAT", "RESOURCE", "DETAIL"].map(str::to_owned);
    let row = |row: &AuditRow| {
        let AuditRow { at, actor, actor_name, action, resource_id, detail, address, changes } =
            row.clone();
        let who = if actor_name.is_empty() { actor } else { format!("{actor_name} ({actor})") };
        let fields: Vec<_> = changes.into_iter().map(|change| change.field).collect();
        let details = [detail, fields.join(", ")];
        let details: Vec<_> = details.into_iter().filter(|text| !text.is_empty()).collect();
        let from = address.unwrap_or_default();
        [output::moment(at), who, from, action, resource_id, details.join("; ")]
    };
    output::table(&[heads].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>())
}

fn table_of_keys(rows: &[KeyRow], now: Timestamp) -> String {
    let heads = ["ID", "WORKSPACE", "NAME", "SCOPE", "STATE", "LAST USED"].map(str::to_owned);
    let row = |row: &KeyRow| {
        [
            row.id.to_string(),
            row.workspace.clone(),
            row.name.clone(),
            row.scope.map_or("write (legacy)", Scope::as_str).to_owned(),
            state(row, now),
            row.last_used_at.map_or_else(|| "never".to_owned(), output::moment),
        ]
    };
    output::table(&[heads].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>())
}

fn state(row: &KeyRow, now: Timestamp) -> String {
    match (row.revoked_at, row.expires_at) {
        (Some(at), _) => format!("revoked {}", output::moment(at)),
        (None, Some(at)) if at <= now => format!("expired {}", output::moment(at)),
        (None, Some(at)) => format!("valid until {}", output::moment(at)),
        (None, None) => "active".to_owned(),
    }
}

/// Parses a duration such as `30d`, `12h`, `45m` or `90s`.
fn lifetime(text: &str) -> Result<Duration> {
    let (count, unit) =
        text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let seconds = match unit {
        "d" => 86_400,
        "h" => 3_600,
        "m" => 60,
        "s" => 1,
        _ => bail!("`{text}` has no unit; write a duration such as 30d, 12h, 45m or 90s"),
    };
    let count: u32 =
        count.parse().with_context(|| format!("`{text}` is not a duration; write it as 30d"))?;
    if count == 0 {
        bail!("a key cannot expire at once; use a duration such as 30d");
    }
    Ok(Duration::from_secs(u64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetime_requires_a_unit() {
        assert_eq!(lifetime("30d").unwrap(), Duration::from_hours(30 * 24));
        assert_eq!(lifetime("45m").unwrap(), Duration::from_mins(45));
        for wrong in ["", "30", "d", "0d", "-1d", "1.5h", "30é"] {
            assert!(lifetime(wrong).is_err(), "{wrong}");
        }
    }
}
