//! A concurrent edit: what is stored now, beside what the person wanted to store.

use contract::rpc::{self, Error};
use rules::Timestamp;
use rules::field::Resource;
use store::{AuditFilter, Page};

use super::kept_key;
use super::stored::StoredMonitor;
use crate::error::ScreenError;
use crate::form::{Values, label};
use crate::session::Member;
use crate::state::Dashboard;
use crate::time;

/// Reason of an error that means that somebody else changed the monitor.
const REASON: &str = "REVISION_MISMATCH";

/// A concurrent edit.
#[derive(Clone, Debug)]
pub(crate) struct EditConflict {
    /// Name of the person or key. Empty if the audit log does not have it.
    pub(crate) by: String,
    /// Time of the other edit, as HTML.
    pub(crate) at: String,
    pub(crate) differences: Vec<EditDifference>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditDifference {
    pub(crate) label: String,
    pub(crate) stored: String,
    pub(crate) yours: String,
}

/// Returns whether a call failed because somebody else changed the monitor.
pub(super) fn is_conflict(error: &Error) -> bool {
    rpc::reason(error).as_deref() == Some(REASON)
}

/// Returns what happened to the stored monitor.
pub(super) async fn describe(
    state: &Dashboard,
    member: &Member,
    (stored, table): (&StoredMonitor, &'static Resource),
    yours: &Values,
) -> Result<EditConflict, ScreenError> {
    let filter =
        AuditFilter { resource_id: Some(stored.text("id").to_owned()), ..AuditFilter::default() };
    let page = Page { limit: 1, offset: 0, after: None };
    let last = state.store.audit().list(member.workspace(), &filter, page).await?;
    let last = last.rows.into_iter().next();
    let updated_at = stored.text("updatedAt").parse::<jiff::Timestamp>();
    let updated_at = updated_at.map_or(0, jiff::Timestamp::as_millisecond);
    Ok(EditConflict {
        by: last.and_then(|it| it.actor_name).unwrap_or_default(),
        at: time::time(&Timestamp::from_millis(updated_at)),
        differences: differences(table, stored.values(), yours.clone()),
    })
}

/// Returns the fields and blocks in which two forms differ, without private keys.
fn differences(
    table: &'static Resource,
    mut stored: Values,
    mut yours: Values,
) -> Vec<EditDifference> {
    kept_key::hide(&mut stored);
    kept_key::hide_entered(&mut yours);
    let names = table.writable();
    let differing = names.filter_map(|name| {
        let (stored, yours) = (stored.described(table, name), yours.described(table, name));
        (stored != yours).then(|| EditDifference { label: label(name), stored, yours })
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use rules::tables::HTTP_MONITOR;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_differing_fields_are_listed() {
        let stored = json!({
            "name": "API", "url": "https://example.com", "periodicity": "1m", "retry": 3,
            "active": true, "followRedirects": true, "headers": [{ "key": "a", "value": "b" }],
            "clientKey": "hunter2",
        });
        let yours = [
            ("name", "Shop"),
            ("url", "https://example.com"),
            ("periodicity", "1m"),
            ("retry", "3"),
            ("active", "true"),
            ("follow_redirects", "true"),
            ("client_key", "hunter3"),
        ];
        let yours = yours.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let yours = Values::posted(yours.to_vec(), &HTTP_MONITOR);
        let found = differences(&HTTP_MONITOR, Values::stored(&stored, &HTTP_MONITOR), yours);
        let texts: Vec<_> = found.iter().map(|it| [&*it.label, &it.stored, &it.yours]).collect();
        assert_eq!(
            texts,
            [
                ["Name", "API", "Shop"],
                ["Private key of the client certificate (PEM)", "(unchanged)", "(another key)"],
                ["Headers", "a b", ""]
            ]
        );
    }
}
