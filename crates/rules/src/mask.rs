//! Masks of partial updates: which names one may hold, and taking over what it names. Which fields
//! a draft has is its own matter.

use crate::field::Resource;
use crate::{Violation, Violations};

/// Refuses a mask with a name that no argument or block of the resource has.
pub(crate) fn check(table: &Resource, mask: &[String]) -> Result<(), Violations> {
    check_all(&[table], mask)
}

/// The same of a resource that several tables describe together.
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

/// Takes over `other` where the mask names the field.
pub(crate) fn replace<T>(mine: &mut T, other: T, named: bool) {
    if named {
        *mine = other;
    }
}
