//! Resolves references: a key of the same configuration, or else an ID.

use std::collections::HashMap;

use rules::GroupId;
use rules::field::Shape;

use super::{Draft, NamedReference};
use crate::desired::{Reference, Setting};
use crate::kind::{Address, Kind, suggestion};
use crate::problem::Problem;

/// The resources that references can name.
pub(super) struct Targets {
    monitors: HashMap<String, Address>,
    groups: HashMap<String, Address>,
}

impl Targets {
    pub(super) fn new(drafts: &[Draft]) -> Self {
        let (monitors, groups) = (HashMap::new(), HashMap::new());
        let mut targets = Self { monitors, groups };
        for address in drafts.iter().map(|draft| &draft.desired.address) {
            let by_key = match address.kind {
                Kind::Monitor(_) => &mut targets.monitors,
                Kind::Group => &mut targets.groups,
                Kind::Page | Kind::Component | Kind::Channel => continue,
            };
            by_key.insert(address.key.clone(), address.clone());
        }
        targets
    }
}

/// Sets the references of a resource.
pub(super) fn resolve(draft: &mut Draft, targets: &Targets, problems: &mut Vec<Problem>) {
    for named in std::mem::take(&mut draft.references) {
        let own = &draft.desired.address;
        let Some(field) = own.kind.fields().find(|field| field.name == named.field) else {
            continue;
        };
        let (Shape::Id(prefix) | Shape::SetOfIds(prefix)) = field.shape else { continue };
        let reference = match find(&named, prefix, own, targets) {
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
    targets: &Targets,
) -> Result<Reference, String> {
    let (known, scope) = if prefix == GroupId::PREFIX {
        // Groups are parts of the same page.
        let page = own.key.split_once('/').map(|(page, _)| format!("{page}/"));
        (&targets.groups, page.unwrap_or_default())
    } else {
        (&targets.monitors, String::new())
    };
    let given = named.text.as_str();
    let id = format!("neither a key of this configuration nor an ID of the form {prefix}…");
    if let Some(found) = known.get(&format!("{scope}{given}")) {
        return Ok(Reference::Resource(found.clone()));
    }
    if Shape::Id(prefix).takes(given) {
        return Ok(Reference::Id(given.to_owned()));
    }
    if named.is_hidden {
        return Err(format!("has a value from elsewhere that is {id}"));
    }
    let mut keys: Vec<&str> = known.keys().filter_map(|key| key.strip_prefix(&scope)).collect();
    // The order of a map would make suggestions random.
    keys.sort_unstable();
    let meant = suggestion(given, &keys);
    Err(format!("refers to `{given}`, which is {id}{meant}"))
}
