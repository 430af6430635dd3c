//! Resolves references: a key of the same configuration, or else an ID.

use rules::field::Shape;
use rules::{GroupId, MonitorId};

use super::{Draft, NamedReference};
use crate::desired::{Reference, Setting};
use crate::kind::{Address, Kind, suggestion};
use crate::problem::Problem;

/// Sets the references of a resource. `addresses` are those of all resources.
pub(super) fn resolve(draft: &mut Draft, addresses: &[Address], problems: &mut Vec<Problem>) {
    for named in std::mem::take(&mut draft.references) {
        let own = &draft.desired.address;
        let Some(field) = own.kind.fields().find(|field| field.name == named.field) else {
            continue;
        };
        let (Shape::Id(prefix) | Shape::SetOfIds(prefix)) = field.shape else { continue };
        let reference = match find(&named, prefix, own, addresses) {
            Ok(reference) => reference,
            Err(message) => {
                problems.push(Problem::new(&named.at, named.path, message));
                continue;
            }
        };
        let setting = draft.desired.settings.entry(field.name);
        if let Shape::Id(_) = field.shape {
            setting.insert_entry(Setting::Reference(reference));
        } else if let Setting::References(all) =
            setting.or_insert_with(|| Setting::References(Vec::new()))
        {
            all.push(reference);
        }
    }
}

fn find(
    named: &NamedReference,
    prefix: &'static str,
    own: &Address,
    addresses: &[Address],
) -> Result<Reference, String> {
    // Groups are parts of the same page.
    let page = own.key.split_once('/').map(|(page, _)| format!("{page}/"));
    let scope = if prefix == GroupId::PREFIX { page.unwrap_or_default() } else { String::new() };
    let known = |address: &&Address| match address.kind {
        Kind::Monitor(_) => prefix == MonitorId::PREFIX,
        Kind::Group => prefix == GroupId::PREFIX && address.key.starts_with(&scope),
        Kind::Page | Kind::Component | Kind::Channel => false,
    };
    let known: Vec<&Address> = addresses.iter().filter(known).collect();
    let given = named.text.as_str();
    let wanted = format!("{scope}{given}");
    if let Some(found) = known.iter().find(|address| address.key == wanted) {
        return Ok(Reference::Resource((*found).clone()));
    }
    if Shape::Id(prefix).takes(given) {
        return Ok(Reference::Id(given.to_owned()));
    }
    let keys: Vec<&str> =
        known.iter().filter_map(|address| address.key.strip_prefix(&scope)).collect();
    let meant = suggestion(given, &keys);
    Err(format!(
        "refers to `{given}`, which is neither a key of this configuration nor an ID of the form \
         {prefix}…{meant}"
    ))
}
