//! `aloft backup`, `aloft restore` and `aloft migrate`: what an operator does with a whole database.
//! The work belongs to `server::control` and the store.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use serde_json::json;
use server::boot;
use server::control;

use crate::admin::Place;
use crate::flags::Flags;
use crate::output;

pub(crate) async fn back_up(file: &Path, place: Place) -> Result<ExitCode> {
    let file = std::path::absolute(file).context("the file cannot be named")?;
    let admin = place.open().await?;
    let bytes = admin.back_up(file.clone()).await;
    admin.close().await?;
    let bytes = bytes?;
    place.answer(json!({ "file": file, "bytes": bytes }), || {
        format!(
            "wrote {bytes} bytes to `{}`\nThe key is not in it: keep a copy of `aloft.key`, or of ALOFT_MASTER_KEY, in another place.",
            file.display()
        )
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn restore(file: &Path, place: &Place) -> Result<ExitCode> {
    let settings = boot::store_settings(&place.settings()?);
    control::restore(&settings, file).await?;
    place.answer(json!({ "restored": file }), || {
        format!(
            "`{}` is the database now; what was there is `aloft.db.before-restore` in `{}`",
            file.display(),
            settings.folder.display()
        )
    });
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn migrate(from: control::Place, to: control::Place) -> Result<ExitCode> {
    let flags = Flags::default();
    let (_, settings) = boot::load(flags.values, flags.file)?;
    let master_key = boot::store_settings(&settings).master_key;
    let left = match &from {
        control::Place::Folder(_) => "its database is named `aloft.db.moved` now",
        control::Place::Postgres(_) => "PostgreSQL keeps what it had: name it nowhere any more",
    };
    let (folder, done) = control::migrate(from, to, &master_key).await?;
    let rows: u64 = done.iter().map(|table| table.rows).sum();
    let tables: Vec<[String; 2]> =
        done.into_iter().map(|it| [it.table, it.rows.to_string()]).collect();
    output::say(&output::table(&tables));
    output::say(&format!(
        "\n{rows} rows, each held against its copy. `{}` goes on as the data folder: it has the key; {left}.",
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}
