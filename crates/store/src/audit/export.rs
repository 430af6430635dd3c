//! Exports an audit log as CSV or as lines of JSON, page by page.

use domain::csv;
use rules::WorkspaceId;
use serde_json::json;

use super::{Actor, Audit, AuditEntry, AuditFilter, FieldChange};
use crate::{Page, StoreError};

/// Number of entries per page.
const ENTRIES_AT_ONCE: u32 = 1_000;
/// First line of a CSV file.
const HEAD: &str = "at,actor,actor_name,action,resource_id,detail,address,changes\r\n";

/// Format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Comma-separated values (RFC 4180) with a header line.
    Csv,
    /// A JSON object per line.
    JsonLines,
}

/// Part of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedPage {
    /// Lines to append to the parts before.
    pub text: String,
    /// Position to continue from. `None` at the end.
    pub next: Option<i64>,
}

impl Audit<'_> {
    /// Exports the entries that match, newest first. `after` is [`ExportedPage::next`] of the part
    /// before, `None` for the first.
    pub async fn export(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        format: ExportFormat,
        after: Option<i64>,
    ) -> Result<ExportedPage, StoreError> {
        let page = Page { limit: ENTRIES_AT_ONCE, offset: 0, after };
        let found = self.list(workspace, filter, page).await?;
        let omitted = found.omitted.iter().filter_map(|key| key.parse().ok());
        let last = found.rows.iter().map(|entry| entry.number).chain(omitted).min();
        let is_full = found.rows.len() + found.omitted.len() >= ENTRIES_AT_ONCE as usize;
        let mut text = String::new();
        if after.is_none() && format == ExportFormat::Csv {
            text.push_str(HEAD);
        }
        for entry in &found.rows {
            match format {
                ExportFormat::Csv => push_csv(&mut text, entry),
                ExportFormat::JsonLines => push_json(&mut text, entry),
            }
        }
        Ok(ExportedPage { text, next: last.filter(|_| is_full) })
    }
}

fn push_csv(text: &mut String, entry: &AuditEntry) {
    let changes = entry.changes.as_slice().iter().map(describe).collect::<Vec<_>>().join("; ");
    let fields = [
        entry.at.to_string(),
        actor(entry),
        entry.actor_name.clone().unwrap_or_default(),
        entry.action.clone(),
        entry.resource_id.clone(),
        entry.detail.clone(),
        entry.address.clone().unwrap_or_default(),
        changes,
    ];
    text.push_str(&fields.map(|field| csv::cell(&field)).join(","));
    text.push_str("\r\n");
}

fn push_json(text: &mut String, entry: &AuditEntry) {
    let line = json!({
        "at": entry.at.to_string(),
        "actor": actor(entry),
        "actor_name": entry.actor_name,
        "action": entry.action,
        "resource_id": entry.resource_id,
        "detail": entry.detail,
        "address": entry.address,
        "changes": entry.changes.as_slice(),
    });
    text.push_str(&line.to_string());
    text.push('\n');
}

fn describe(change: &FieldChange) -> String {
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    format!("{}: {} to {}", change.field, value(&change.before), value(&change.after))
}

/// Returns the actor as the API names it.
fn actor(entry: &AuditEntry) -> String {
    if entry.actor == Actor::CommandLine.to_string() {
        return "command_line".to_owned();
    }
    entry.actor.clone()
}
