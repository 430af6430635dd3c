//! `aloft doctor`: handles unreadable rows of the database. The server skips them and runs. Here an
//! operator lists, exports, repairs or removes them. Leaves the work to the store.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use rules::counted;
use serde_json::json;
use server::control::UnreadableRow;

use crate::database_args::DatabaseArgs;
use crate::output;

/// Exit code if the database has unreadable rows.
const FOUND: u8 = 1;

/// Actions on unreadable rows.
#[derive(Debug, Args)]
pub(crate) struct Treatment {
    /// Write the rows with all their columns to this new file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Restore rows that this version can read
    #[arg(long)]
    repair: bool,
    /// Remove one row, such as monitors/mon_…; needs --export
    #[arg(long, value_name = "TABLE/KEY", requires = "export", conflicts_with = "repair")]
    remove: Option<String>,
}

pub(crate) async fn doctor(treatment: Treatment, database: DatabaseArgs) -> Result<ExitCode> {
    let admin = database.open().await?;
    let mut rows = admin.examine().await?;
    if let Some(file) = &treatment.export {
        export(file, &rows)?;
    }
    let mut repaired = 0;
    if treatment.repair {
        repaired = admin.restore_quarantined().await?;
    }
    if let Some(named) = &treatment.remove {
        let Some((table, key)) = named.split_once('/') else {
            bail!("--remove needs a table and a key, such as monitors/mon_1jkm0, not `{named}`");
        };
        admin.remove_row(table.to_owned(), key.to_owned()).await?;
    }
    if treatment.repair || treatment.remove.is_some() {
        rows = admin.examine().await?;
    }
    admin.close().await?;
    let answer = json!({ "unreadable_rows": rows, "repaired": repaired });
    database.print_result(answer, || summary(&rows, repaired, treatment.export.as_deref()))?;
    Ok(if rows.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FOUND) })
}

/// Writes the rows to a file that only its owner may read, because columns may contain sealed
/// secrets.
fn export(file: &Path, rows: &[UnreadableRow]) -> Result<()> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    let mut created = created.with_context(|| format!("cannot create `{}`", file.display()))?;
    for row in rows {
        serde_json::to_writer(&mut created, row)?;
        writeln!(created)?;
    }
    created.sync_all().with_context(|| format!("cannot write `{}`", file.display()))
}

fn summary(rows: &[UnreadableRow], repaired: u64, export: Option<&Path>) -> String {
    let mut text = String::new();
    if repaired > 0 {
        writeln!(text, "restored {}", counted(repaired, "row"))
            .expect("writing to a string cannot fail");
    }
    if let Some(file) = export {
        writeln!(text, "wrote the rows to `{}`", file.display())
            .expect("writing to a string cannot fail");
    }
    if rows.is_empty() {
        text.push_str("all rows are readable");
        return text;
    }
    let cells: Vec<[String; 3]> =
        rows.iter().map(|row| [row.table.clone(), row.key.clone(), row.why.clone()]).collect();
    text.push_str(&output::table(&cells));
    write!(
        text,
        "\n\nfound {}. The server runs without them. Export them with `--export FILE`. \
         `--repair` restores rows that this version can read, and lost statuses that other rows tell. `--export FILE --remove TABLE/KEY` \
         removes one row. A backup from before the damage contains them too.",
        counted(rows.len(), "unreadable row")
    )
    .expect("writing to a string cannot fail");
    text
}
