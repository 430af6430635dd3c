//! Generates the limits of `rules` as nested classes: by resource, block and field.

use rules::limits;

use super::argument;
use crate::codegen::typescript::limits::{Limit, LimitEntry, all};

/// Generates the module.
pub(super) fn module() -> String {
    let waiting = limits::TRIGGER_ANSWERED_WITHIN.as_secs();
    let entries = all();
    let names: Vec<_> = entries.iter().map(|(name, _)| format!("    \"{name}\",\n")).collect();
    let names = names.concat();
    let classes: String =
        entries.iter().map(|entry| "\n\n".to_owned() + &class(entry, 0)).collect();
    format!(
        "\"\"\"Limits of fields, by resource and field: Unicode characters of texts, values of numbers, elements of lists (`max` next\nto the fields of an element, or `each` for the characters of one), minutes of intervals, and defaults (`default`). Both\nbounds are allowed.\"\"\"\n\nfrom typing import Final\n\n__all__ = [\n{names}]\n\nWAITING_CALL_SECONDS: Final = {waiting}\n\"\"\"Time for a call that waits for checks, in seconds.\"\"\"\n{classes}"
    )
}

fn class((name, limit): &LimitEntry, depth: usize) -> String {
    let indent = "    ".repeat(depth);
    let entries = match limit {
        Limit::Value(json) => {
            return format!("{indent}{}: Final = {}\n", argument(name), value(json));
        }
        Limit::Bounds(entries) | Limit::Group(entries) => entries,
    };
    let inner: String = entries.iter().map(|entry| class(entry, depth + 1)).collect();
    let inner = if inner.is_empty() { format!("{indent}    pass\n") } else { inner };
    format!("{indent}class {}:\n{inner}", argument(name))
}

fn value(json: &str) -> &str {
    match json {
        "true" => "True",
        "false" => "False",
        other => other,
    }
}
