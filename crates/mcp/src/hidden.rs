//! Secrets that an assistant reads as `…`. Written back, the sign would replace the secret.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use contract::rpc;
use serde_json::{Map, Value};

use crate::failure::{Failure, json_name};

/// Sign in the place of a secret.
const SIGN: char = '…';

/// Names of the fields that a read hides, in JSON.
static SECRET_FIELDS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let fields = rpc::redacted_fields().into_iter();
    fields.filter_map(|path| path.rsplit('.').next().map(json_name)).collect()
});

/// Refuses a change that writes the sign of a hidden secret.
pub(crate) fn require_none(request: &Map<String, Value>) -> Result<(), Failure> {
    request.iter().try_for_each(|(name, value)| require_none_in(name, value))
}

fn require_none_in(name: &str, value: &Value) -> Result<(), Failure> {
    match value {
        Value::Object(fields) => require_none(fields),
        Value::Array(items) => items.iter().try_for_each(|item| require_none_in(name, item)),
        Value::String(text) if text.contains(SIGN) && SECRET_FIELDS.contains(name) => {
            let problem = "has a `…`, which stands for a secret that this tool does not show; leave \
                           the field out to keep the secret, or ask the person for the new value";
            Err(Failure::argument(name, problem))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hidden_secret_is_not_written_back() {
        let refused = |request: Value| require_none(request.as_object().unwrap()).is_err();
        assert!(refused(json!({ "monitor": { "id": "mon_1", "body": "…" } })));
        assert!(refused(json!({ "monitor": { "headers": [{ "key": "a", "value": "…" }] } })));
        assert!(refused(json!({ "monitor": { "url": "https://example.com?…" } })));
        assert!(!refused(json!({ "monitor": { "name": "more …", "body": "a" } })));
    }
}
