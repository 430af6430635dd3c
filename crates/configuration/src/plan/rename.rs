//! Renames keys of the record, so that a resource survives a new key in the file.

use std::borrow::Cow;

use super::{Current, Rename, Renamed};
use crate::desired::Configuration;
use crate::kind::{Address, suggestion};
use crate::problem::{Problem, Problems};

/// Returns the state with renamed entries, and these entries.
pub(super) fn rename<'a>(
    configuration: &Configuration,
    current: &'a Current,
    renames: &[Rename],
) -> Result<(Cow<'a, Current>, Vec<Renamed>), Problems> {
    if renames.is_empty() {
        return Ok((Cow::Borrowed(current), Vec::new()));
    }
    let (mut changed, mut renamed) = (current.clone(), Vec::new());
    let wanted =
        |address: &Address| configuration.resources.iter().any(|it| it.address == *address);
    for Rename { old, new } in renames {
        let before = renamed.len();
        for entry in &mut changed.recorded {
            let Some(key) = new_key(&entry.address.key, old, new) else { continue };
            let to = Address { kind: entry.address.kind, key };
            let is_free = current.recorded.iter().all(|other| other.address != to);
            if !is_free || !wanted(&to) || wanted(&entry.address) {
                continue;
            }
            let from = std::mem::replace(&mut entry.address, to.clone());
            renamed.push(Renamed { from, to, id: entry.id.clone() });
        }
        // An interrupted run may have renamed it.
        let recorded = |key: &str| changed.recorded.iter().any(|it| it.address.key == key);
        if renamed.len() == before && (recorded(old) || !recorded(new)) {
            return Err(Problem::of_input(refusal(configuration, current, old, new)).into());
        }
    }
    Ok((Cow::Owned(changed), renamed))
}

/// Returns the new key of a resource with the old key, or of a part of such a page.
fn new_key(key: &str, old: &str, new: &str) -> Option<String> {
    let rest = key.strip_prefix(old)?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{new}{rest}"))
}

fn refusal(configuration: &Configuration, current: &Current, old: &str, new: &str) -> String {
    let in_file = |key: &str| configuration.resources.iter().any(|it| it.address.key == key);
    let recorded = |key: &str| current.recorded.iter().any(|it| it.address.key == key);
    let why = if !recorded(old) {
        let known: Vec<&str> = current.recorded.iter().map(|it| &*it.address.key).collect();
        format!("the configuration has no resource `{old}`{}", suggestion(old, &known))
    } else if in_file(old) {
        format!("the file still has `{old}`; remove it")
    } else if !in_file(new) {
        let known: Vec<&str> = configuration.resources.iter().map(|it| &*it.address.key).collect();
        format!("the file has no resource `{new}`{}", suggestion(new, &known))
    } else {
        format!("`{new}` has another kind, or is recorded already")
    };
    format!("cannot rename `{old}` to `{new}`: {why}")
}
