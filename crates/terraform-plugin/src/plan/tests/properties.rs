//! Properties of plans: an applied configuration plans empty, and no plan contradicts itself.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{schema, settle};
use crate::plan::{check_plan, check_state, propose, replacements};
use crate::value::{IntoValue, Object, Value};

/// Returns a part. Missing arguments are null.
fn part(key: String, weight: Option<i64>) -> Value {
    Value::object([("key", key.into_value()), ("weight", weight.into_value()), ("id", Value::Null)])
}

/// Generates any configuration of the schema: each argument absent or with any value.
fn configurations() -> impl Strategy<Value = Object> {
    let number = || prop::option::of(-2..3_i64);
    let rows = prop::collection::vec(("[ab]", number()), 0..4);
    let keys = prop::collection::btree_set("[a-f]", 0..4);
    let text = || prop::option::of("[xy]{0,2}");
    let rest = (number(), number(), rows, keys, number());
    (("[xy]", "[xy]", text(), text()), rest).prop_map(
        |((name, kind, description, secret), rest)| {
            let (columns, lines, rows, keys, weight): (_, _, Vec<_>, BTreeSet<String>, _) = rest;
            let rows = rows.into_iter().map(|(key, weight)| part(key, weight));
            let parts = keys.into_iter().map(|key| part(key, weight));
            Object::new()
                .with("name", name)
                .with("kind", kind)
                .with("description", description)
                .with("secret", secret)
                .with("columns", columns)
                .with("lines", lines)
                .with("rows", Value::list(rows))
                .with("parts", Value::set(parts))
        },
    )
}

proptest! {
    #[test]
    fn applied_configuration_plans_empty(first in configurations(), second in configurations()) {
        let body = schema().body;
        let mut state: Option<Object> = None;
        for config in [&first, &second] {
            let plan = propose(&body, config, state.as_ref());
            prop_assert_eq!(check_plan(&body, config, state.as_ref(), &plan), []);
            let new = settle(&plan);
            prop_assert_eq!(check_state(&body, &plan, &new), []);
            prop_assert_eq!(&propose(&body, config, Some(&new)), &new);
            prop_assert_eq!(replacements(&body, config, &new, &new), []);
            state = Some(new);
        }
    }
}
