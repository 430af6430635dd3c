//! Changed fields of an update, with their values before and after. The caller redacts secrets; the
//! values are sealed nevertheless, because settings of monitors and channels are.

use std::collections::BTreeSet;

use rules::WorkspaceId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::AuditContext;
use crate::StoreError;
use crate::db::Row;
use crate::vault::{EncryptionContext, Vault};

/// Maximum length of a recorded value, in characters.
const VALUE_CHARS_MAX: usize = 512;
/// Maximum number of recorded fields.
const FIELDS_MAX: usize = 64;
/// End of a value that was cut.
const CUT: char = '…';

/// Changed field of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldChange {
    /// Name of the field in the API.
    pub field: String,
    /// JSON of the value before, without secrets, at most 512 characters. `None` if it was not set.
    pub before: Option<String>,
    /// JSON of the value after the change, likewise.
    pub after: Option<String>,
}

/// Changed fields of an update, in alphabetical order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldChanges(Vec<FieldChange>);

/// Context of an update, with the fields that it changes. A plain [`AuditContext`] records none.
#[derive(Clone, Debug)]
pub struct UpdateContext {
    pub change: AuditContext,
    pub changes: FieldChanges,
}

/// Resource before and after an update, as JSON objects.
#[derive(Debug)]
pub struct ResourceVersions<'v> {
    /// All fields, to find those that differ.
    pub complete: [&'v Value; 2],
    /// The fields without secrets, to record.
    pub redacted: [&'v Value; 2],
}

impl FieldChanges {
    /// Compares two versions of a resource. A changed secret is listed with what its redaction leaves.
    pub fn between(versions: &ResourceVersions<'_>) -> Self {
        let empty = Map::new();
        let fields = |value: &'_ Value| value.as_object().cloned().unwrap_or_default();
        let [before, after] = versions.complete.map(fields);
        let [old, new] = versions.redacted.map(|value| value.as_object().unwrap_or(&empty));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
        let change = |name: &String| FieldChange {
            field: name.clone(),
            before: old.get(name).map(shorten),
            after: new.get(name).map(shorten),
        };
        Self(changed.take(FIELDS_MAX).map(change).collect())
    }

    /// Returns the fields, each on its own.
    pub fn into_vec(self) -> Vec<FieldChange> {
        self.0
    }

    /// Returns the fields.
    pub fn as_slice(&self) -> &[FieldChange] {
        &self.0
    }
}

impl From<AuditContext> for UpdateContext {
    fn from(change: AuditContext) -> Self {
        change.with_changes(FieldChanges::default())
    }
}

/// Seals the fields for an entry of this resource.
pub(super) fn seal(
    vault: &Vault,
    (workspace, resource_id): (WorkspaceId, &str),
    changes: &FieldChanges,
) -> Result<Option<Vec<u8>>, StoreError> {
    if changes.0.is_empty() {
        return Ok(None);
    }
    let row = format!("{workspace}/{resource_id}");
    vault.seal(context(&row), &changes.0).map(Some)
}

/// Reads the fields from a row of the audit log.
pub(super) fn read(vault: &Vault, row: &Row) -> Result<FieldChanges, StoreError> {
    let sealed: Option<&[u8]> = row.try_get("changes_sealed")?;
    let Some(sealed) = sealed else { return Ok(FieldChanges::default()) };
    let (workspace, resource): (&str, &str) =
        (row.try_get("workspace_id")?, row.try_get("resource_id")?);
    vault.open(context(&format!("{workspace}/{resource}")), sealed).map(FieldChanges)
}

const fn context(row: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "audit.changes_sealed", row }
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        None => text,
        Some(_) => text.chars().take(VALUE_CHARS_MAX - 1).chain([CUT]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_fields_show_redacted_values() {
        let complete = [
            json!({ "name": "a", "token": "old", "period": "1m", "retry": 3 }),
            json!({ "name": "a", "token": "new", "period": "5m", "description": "d" }),
        ];
        let redacted = [
            json!({ "name": "a", "period": "1m", "retry": 3 }),
            json!({ "name": "a", "period": "5m", "description": "d" }),
        ];
        let versions =
            ResourceVersions { complete: complete.each_ref(), redacted: redacted.each_ref() };
        let changes = FieldChanges::between(&versions);
        let changes = serde_json::to_value(changes.as_slice()).unwrap();
        assert_eq!(
            changes,
            json!([
                { "field": "description", "before": null, "after": "\"d\"" },
                { "field": "period", "before": "\"1m\"", "after": "\"5m\"" },
                { "field": "retry", "before": "3", "after": null },
                { "field": "token", "before": null, "after": null },
            ])
        );
    }

    #[test]
    fn recorded_changes_are_bounded() {
        let many = |text: &str| -> Value {
            let fields = (0..1_000).map(|number| (format!("f{number:03}"), json!(text)));
            Value::Object(fields.collect())
        };
        let versions = [many(&"ä".repeat(10_000)), many("b")];
        let versions =
            ResourceVersions { complete: versions.each_ref(), redacted: versions.each_ref() };
        let changes = FieldChanges::between(&versions);
        assert_eq!(changes.as_slice().len(), FIELDS_MAX);
        let before = changes.as_slice()[0].before.as_ref().unwrap();
        assert_eq!((before.chars().count(), before.chars().last()), (VALUE_CHARS_MAX, Some(CUT)));
    }
}
