//! Columns of a monitor: converts rows to `rules::monitor::Monitor` and back.

use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, Periodicity, Region, Tag, WorkspaceId};

use crate::StoreError;
use crate::db::Row;
use crate::row::{id, instant, narrow, optional_narrow};
use crate::vault::{EncryptionContext, Vault};

/// Selects monitors for [`read`], with the judge's state and their heartbeats. The argument is the `WHERE`
/// clause.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT m.id, m.name, m.periodicity, m.timeout_ms, m.degraded_at_ms, m.retry, \
             m.active, ",
            "m.public, m.description, m.tags, m.regions, m.check_sealed, m.workspace_id, ",
            "m.revision, m.created_at, m.updated_at, j.status, j.since, m.number, j.state, ",
            "h.token_sealed, ",
            crate::heartbeats::state_columns!(),
            " FROM monitors m LEFT JOIN judge_states j ON j.monitor = m.number ",
            "LEFT JOIN heartbeats h ON h.monitor = m.number ",
            $which
        )
    };
}
pub(super) use select;

/// Reads the monitor's own columns, in their order.
pub(super) fn read(vault: &Vault, row: &Row) -> Result<Monitor, StoreError> {
    let monitor_id: MonitorId = id(row, "id", MonitorId::parse)?;
    let settings = MonitorSettings {
        name: row.try_get("name")?,
        periodicity: id(row, "periodicity", Periodicity::parse)?,
        timeout_ms: narrow(row, "timeout_ms")?,
        degraded_at_ms: optional_narrow(row, "degraded_at_ms")?,
        retry: narrow(row, "retry")?,
        active: row.try_get("active")?,
        public: row.try_get("public")?,
        description: row.try_get("description")?,
        tags: tags(row.try_get("tags")?)?,
        regions: regions(row.try_get("regions")?)?,
        check: vault.open(check_context(&monitor_id.to_string()), row.try_get("check_sealed")?)?,
    };
    Ok(Monitor {
        id: monitor_id,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        revision: narrow(row, "revision")?,
        settings,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

/// Returns the location for which the check of a monitor is sealed.
pub(crate) const fn check_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "monitors.check_sealed", row: id }
}

/// Joins tags with line breaks, which no tag contains.
pub(crate) fn tags_text(tags: &[Tag]) -> String {
    tags.iter().map(Tag::as_str).collect::<Vec<_>>().join("\n")
}

/// Returns the keys of tags for the column `tag_keys`.
pub(super) fn tag_keys(tags: &[Tag]) -> String {
    sorted_keys(tags).iter().fold(String::new(), |keys, key| keys + "\n" + key + "\n")
}

/// Returns the pattern of `LIKE` for the keys of monitors that have all of these tags. One pattern is
/// enough, because both have their keys in the same order.
pub(super) fn tags_pattern(tags: &[Tag]) -> String {
    let literal = |key: &String| {
        let key = key.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
        format!("\n{key}\n%")
    };
    sorted_keys(tags).iter().map(literal).fold("%".to_owned(), |pattern, key| pattern + &key)
}

fn sorted_keys(tags: &[Tag]) -> Vec<String> {
    let mut keys: Vec<String> = tags.iter().map(Tag::key).collect();
    keys.sort_unstable();
    keys
}

/// Joins regions with spaces.
pub(super) fn regions_text(regions: &[Region]) -> String {
    regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(" ")
}

/// Reads the column `tags`.
pub(crate) fn tags(text: &str) -> Result<Vec<Tag>, StoreError> {
    let read = |tag: &str| {
        Tag::parse(tag).map_err(|why| StoreError::corrupt("monitors.tags", why.to_string()))
    };
    // An empty text has one line.
    text.split('\n').filter(|tag| !tag.is_empty()).map(read).collect()
}

fn regions(text: &str) -> Result<Vec<Region>, StoreError> {
    text.split_whitespace()
        .map(|word| {
            Region::parse(word)
                .map_err(|why| StoreError::corrupt("monitors.regions", why.to_string()))
        })
        .collect()
}
