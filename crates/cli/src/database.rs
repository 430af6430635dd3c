//! `aloft backup`, `aloft restore` and `aloft migrate`: an operator's commands on a whole database.
//! Leaves the work to `server::control` and the store.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use rules::counted;
use serde_json::json;
use server::boot;
use server::control;

use crate::database_args::{ConfigArg, DatabaseArgs};
use crate::output;

pub(crate) async fn back_up(file: &Path, database: DatabaseArgs) -> Result<ExitCode> {
    let file = std::path::absolute(file).context("failed to resolve the path of the file")?;
    let admin = database.open().await?;
    let bytes = admin.back_up(file.clone()).await;
    admin.close().await?;
    let bytes = bytes?;
    database.print_result(json!({ "file": file, "bytes": bytes }), || {
        format!(
            "wrote {bytes} bytes to `{}`\nIt does not contain the master key: keep a copy of `aloft.key` or of ALOFT_MASTER_KEY elsewhere.",
            file.display()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restore(file: &Path, database: &DatabaseArgs) -> Result<ExitCode> {
    let file = std::path::absolute(file).context("failed to resolve the path of the file")?;
    let settings = boot::store_settings(&database.settings()?);
    let restored = control::restore(&settings, &file).await?;
    database.print_result(json!({ "restored": file, "replaced": restored.replaced }), || {
        let replaced = match &restored.replaced {
            Some(path) => format!("the previous database is kept as `{}`", path.display()),
            None => "there was no previous database".to_owned(),
        };
        format!("restored `{}`; {replaced}", file.display())
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn migrate(
    from: control::DatabaseUrl,
    to: control::DatabaseUrl,
    config: &ConfigArg,
) -> Result<ExitCode> {
    let master_key = boot::store_settings(&config.settings()?).master_key;
    let (from, to) = (from.absolute()?, to.absolute()?);
    output::print_stderr(&format!("from: {from}\nto: {to}"));
    let left = match &from {
        control::DatabaseUrl::Folder(_) => "its database was renamed to `aloft.db.moved`",
        control::DatabaseUrl::Postgres(_) => {
            "the PostgreSQL database is unchanged; remove it from your settings"
        }
    };
    let (folder, done) = control::migrate(from, to, &master_key).await?;
    let rows: u64 = done.iter().map(|table| table.rows).sum();
    let tables: Vec<[String; 2]> =
        done.into_iter().map(|it| [it.table, it.rows.to_string()]).collect();
    output::print_text(&output::table(&tables));
    output::print_text(&format!(
        "\ncopied and compared {}. `{}` remains the data folder because it contains the key; {left}.",
        counted(rows, "row"),
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}
