//! Converts a response of the service to a state. Differs from the response where the wire does not distinguish
//! two values, and where the service omits secrets.

use contract::{SecretVisibility, encode_endpoint, encode_text, encode_url};
use rules::field::{Block, Field, Presence, Redaction, Resource as Table, Shape};
use terraform_plugin::{Object, Value};

use crate::write_only;

/// Returns the state of a resource that was read. `before` is the plan, or the prior state.
///
/// The wire does not distinguish an empty list from an absent one, so `before` decides. Write-only secrets stay
/// out.
pub(super) fn from_response(table: &Table, mut read: Object, before: &Object) -> Object {
    for field in table.fields {
        if is_list(field) && read.value(field.name).elements().is_empty() {
            let empty_before = before.value(field.name);
            let left_out = empty_before.is_null() || !empty_before.elements().is_empty();
            // Null for an import, and for a list that lost its elements.
            if left_out {
                read.set(field.name, Value::Null);
            }
        }
    }
    for twin in write_only::for_resource(table) {
        if twin.is_used(before) {
            twin.restore_version(&mut read, before);
            twin.remove_secret(&mut read);
        }
    }
    read
}

/// Returns whether the response may omit a secret of `prior`.
pub(super) fn lacks_secrets(table: &Table, read: &Object, prior: &Object) -> bool {
    let mut merged = read.clone();
    restore_secrets(table, &mut merged, prior, true);
    merged != *read
}

/// Restores from `prior` what the service omits for read-only keys: secrets, parts of a URL, and the body of a
/// check. A required value that is absent is always such a secret; an optional one only if the key
/// `reads_only`.
pub(super) fn restore_secrets(table: &Table, read: &mut Object, prior: &Object, reads_only: bool) {
    let unkept = |name: &str, block: Option<&str>| {
        write_only::for_block(table, block).any(|twin| twin.field == name && twin.is_used(prior))
    };
    restore_in_fields(table.fields, read, prior, reads_only, &|name| unkept(name, None));
    for block in table.blocks {
        restore_in_block(block, read, prior, reads_only, &|name| unkept(name, Some(block.name)));
    }
}

fn restore_in_block(
    block: &Block,
    read: &mut Object,
    prior: &Object,
    reads_only: bool,
    is_excluded: &dyn Fn(&str) -> bool,
) {
    let before = prior.value(block.name);
    let keep = |one: &mut Value, before: &Value| {
        if let (Value::Object(one), Value::Object(before)) = (one, before)
            && same_key(one, before)
        {
            restore_in_fields(block.fields, one, before, reads_only, is_excluded);
            for nested in block.blocks {
                restore_in_block(nested, one, before, reads_only, is_excluded);
            }
        }
    };
    if let Value::List(ones) = read.value_mut(block.name) {
        ones.iter_mut().zip(before.elements()).for_each(|(one, before)| keep(one, before));
    }
}

/// Returns whether two headers have the same name. Others have other values.
fn same_key(one: &Object, before: &Object) -> bool {
    one.value("key") == before.value("key")
}

fn restore_in_fields(
    fields: &[Field],
    read: &mut Object,
    prior: &Object,
    reads_only: bool,
    is_excluded: &dyn Fn(&str) -> bool,
) {
    for field in fields {
        let (now, before) = (read.value(field.name), prior.value(field.name));
        let left_out = match (now, before) {
            (Value::Null, Value::String(_)) => {
                field.presence == Presence::Required
                    || (field.is_absent_for_readers() && reads_only)
            }
            (Value::String(now), Value::String(before)) => {
                reads_only && now != before && is_masked(field, now, before)
            }
            _ => false,
        };
        if left_out && !is_excluded(field.name) {
            let before = before.clone();
            read.set(field.name, before);
        }
    }
}

/// Returns whether `now` is the masked form of `before` that read-only keys get.
fn is_masked(field: &Field, now: &str, before: &str) -> bool {
    let masks: &[fn(&str, SecretVisibility) -> String] = match field.redaction {
        Redaction::Path => &[encode_endpoint],
        Redaction::Text => &[encode_text],
        Redaction::None if matches!(field.shape, Shape::HttpUrl { .. }) => &[encode_url],
        Redaction::None | Redaction::Absent => &[],
    };
    masks.iter().any(|mask| mask(before, SecretVisibility::Redacted) == now)
}

fn is_list(field: &Field) -> bool {
    field.presence != Presence::Output
        && matches!(
            field.shape,
            Shape::SetOf(_)
                | Shape::SetOfIds(_)
                | Shape::SetOfTags { .. }
                | Shape::ListOfDomains { .. }
        )
}
