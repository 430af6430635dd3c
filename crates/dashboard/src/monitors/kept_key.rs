//! Keeps the private key of a stored monitor out of its form: the form shows a text in its place, and
//! the key goes into requests from what is stored.

use super::stored::StoredMonitor;
use crate::form::Values;

/// Name of the field.
const FIELD: &str = "client_key";
/// Text in the place of a stored key.
const KEPT: &str = "(unchanged)";
/// Text in the place of a key that a person entered.
const ENTERED: &str = "(another key)";

/// Replaces the stored key by its text.
pub(super) fn hide(values: &mut Values) {
    replace(values, KEPT);
}

/// Replaces a key by this text.
pub(super) fn replace(values: &mut Values, text: &str) {
    if values.first(FIELD).is_some_and(|key| !key.is_empty()) {
        values.set(FIELD, text);
    }
}

/// Replaces a key that a person entered by its text.
pub(super) fn hide_entered(values: &mut Values) {
    if values.first(FIELD) != Some(KEPT) {
        replace(values, ENTERED);
    }
}

/// Returns the values with the stored key, if the person kept it.
pub(super) fn restored(values: &Values, stored: &StoredMonitor) -> Values {
    let mut restored = values.clone();
    if values.first(FIELD).is_some_and(|text| text.trim() == KEPT) {
        let key = stored.values().first(FIELD).unwrap_or_default().to_owned();
        restored.set(FIELD, key);
    }
    restored
}

#[cfg(test)]
mod tests {
    use rules::MonitorKind;
    use rules::field::Shape;
    use rules::tables::HTTP_MONITOR;
    use serde_json::json;

    use super::*;

    fn stored() -> StoredMonitor {
        let json = json!({ "clientCertificate": "certificate", "clientKey": "hunter2" });
        StoredMonitor { kind: MonitorKind::Http, json }
    }

    #[test]
    fn kept_key_returns_and_another_replaces_it() {
        let mut values = stored().values();
        hide(&mut values);
        assert_eq!(values.first(FIELD), Some(KEPT));
        assert_eq!(restored(&values, &stored()).first(FIELD), Some("hunter2"));
        values.set(FIELD, "another");
        assert_eq!(restored(&values, &stored()).first(FIELD), Some("another"));
        values.set(FIELD, "");
        assert_eq!(restored(&values, &stored()).first(FIELD), Some(""), "the person removed it");
    }

    #[test]
    fn every_private_key_of_a_monitor_is_kept() {
        let keys = HTTP_MONITOR
            .fields
            .iter()
            .filter(|field| matches!(field.shape, Shape::PrivateKey { .. }));
        assert_eq!(keys.map(|field| field.name).collect::<Vec<_>>(), [FIELD]);
    }
}
