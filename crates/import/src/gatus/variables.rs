//! Environment variables in a file of Gatus. A text that is only a variable stays one, so that no secret
//! enters the configuration.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::assembly::Assembly;
use crate::peer::Environment;
use crate::preview::{Entry, ObjectKind};

/// Characters around the name of a variable between reading and resolving. YAML gives them no meaning.
const BEGIN: char = '\u{e000}';
const END: char = '\u{e001}';
/// Address in the place of a variable that is not set.
const UNSET_ADDRESS: &str = "https://unset.example/";
/// Shortest value that is replaced by its variable. A shorter one could be part of other texts.
const REFERENCE_CHARS_MIN: usize = 4;

/// Marks `$NAME` and `${NAME}`. `$$` is a dollar sign.
pub(super) fn mark(text: &str) -> String {
    let mut marked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        marked.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            marked.push('$');
            rest = after;
            continue;
        }
        let (name, after) = variable(rest);
        match name {
            Some(name) => marked.extend([BEGIN].into_iter().chain(name.chars()).chain([END])),
            None => marked.push('$'),
        }
        rest = after;
    }
    marked.push_str(rest);
    marked
}

/// Returns the name of the variable at the beginning of a text, and what follows.
fn variable(text: &str) -> (Option<&str>, &str) {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    if let Some(inner) = text.strip_prefix('{') {
        return match inner.split_once('}') {
            Some((name, after)) if !name.is_empty() && name.chars().all(is_name) => {
                (Some(name), after)
            }
            Some(_) | None => (None, text),
        };
    }
    let end = text.find(|character| !is_name(character)).unwrap_or(text.len());
    if end == 0 { (None, text) } else { (Some(&text[..end]), &text[end..]) }
}

/// Replaces marks by values. Notes the variables that are not set.
pub(super) fn resolve(value: &mut Value, environment: Environment<'_>, assembly: &mut Assembly) {
    let mut unset = BTreeSet::new();
    resolve_in(value, environment, assembly, &mut unset);
    for name in unset {
        let mut entry = Entry::new(ObjectKind::Setting, &name);
        entry.lose(
            format!("the value of the variable {name}"),
            "set it to the value that Gatus has, and import again; a text that is only this variable \
             stays one",
        );
        assembly.note(entry);
    }
}

fn resolve_in(
    value: &mut Value,
    environment: Environment<'_>,
    assembly: &mut Assembly,
    unset: &mut BTreeSet<String>,
) {
    match value {
        Value::String(text) if text.contains(BEGIN) => {
            *text = resolved(text, environment, assembly, unset);
        }
        Value::Array(items) => {
            for item in items {
                resolve_in(item, environment, assembly, unset);
            }
        }
        Value::Object(fields) => {
            for (_, field) in fields {
                resolve_in(field, environment, assembly, unset);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn resolved(
    text: &str,
    environment: Environment<'_>,
    assembly: &mut Assembly,
    unset: &mut BTreeSet<String>,
) -> String {
    let whole = text.strip_prefix(BEGIN).and_then(|text| text.strip_suffix(END));
    if let Some(name) = whole.filter(|name| !name.contains(BEGIN)) {
        let value = environment(name);
        let is_set = value.is_some();
        if !is_set {
            unset.insert(name.to_owned());
        }
        // An address has the form of most texts, so the resource can be validated all the same.
        let value = value.unwrap_or_else(|| format!("{UNSET_ADDRESS}{name}"));
        if value.len() >= REFERENCE_CHARS_MIN {
            assembly.secrets.refer(name, &value, is_set);
        }
        return value;
    }
    let mut expanded = String::new();
    let mut values = Vec::new();
    for part in text.split(BEGIN) {
        let Some((name, after)) = part.split_once(END) else {
            expanded.push_str(part);
            continue;
        };
        match environment(name) {
            Some(value) => {
                expanded.push_str(&value);
                values.push((name, value));
            }
            None => {
                unset.insert(name.to_owned());
            }
        }
        expanded.push_str(after);
    }
    for (name, value) in values {
        assembly.secrets.refer_in(&expanded, name, &value);
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_marked_as_gatus_expands_them() {
        for (text, expected) in [
            ("a: ${B}", "a: <B>"),
            ("a: $B_1-c", "a: <B_1>-c"),
            ("a: $$B $", "a: $B $"),
            ("a: ${B", "a: ${B"),
            ("a: ${}$ä", "a: ${}$ä"),
        ] {
            assert_eq!(mark(text).replace(BEGIN, "<").replace(END, ">"), expected);
        }
    }
}
