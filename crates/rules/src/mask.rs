//! Masks of partial updates: validates field names and copies the named fields. The lists of fields
//! expand to the copies.

use crate::field::Resource;
use crate::{Violation, Violations};

/// Rejects a mask with a name that is neither an argument nor a block of the resource.
pub(crate) fn check(table: &Resource, mask: &[String]) -> Result<(), Violations> {
    check_all(&[table], mask)
}

/// Works like [`check`] for a resource with several tables.
pub(crate) fn check_all(tables: &[&Resource], mask: &[String]) -> Result<(), Violations> {
    let known: Vec<_> = tables.iter().flat_map(|table| table.writable()).collect();
    let unknown: Vec<_> =
        mask.iter().map(String::as_str).filter(|name| !known.contains(name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let allowed = format!("may only name {}", known.join(", "));
    Err(Violation::new("update_mask", unknown.join(", "), allowed).into())
}

/// Copies `other` if the mask names the field.
pub(crate) fn replace<T>(mine: &mut T, other: T, named: bool) {
    if named {
        *mine = other;
    }
}
