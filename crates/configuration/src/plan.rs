//! Decides the steps that make a workspace match a configuration, from what exists and from the
//! service's record of what the configuration owns. Touches nothing that it does not own.

mod adopt;
mod order;
mod rename;

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

use self::adopt::Free;
use self::order::Values;
use crate::compare::{Change, compare};
use crate::desired::{Configuration, Desired};
use crate::kind::{Address, Kind};
use crate::problem::{Problem, Problems};

/// A resource of the workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Existing {
    pub kind: Kind,
    /// The resource in the contract's JSON.
    pub json: Json,
}

/// An entry of the service's record of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    pub address: Address,
    /// Empty if a creation has begun and its end is not recorded.
    pub id: String,
}

/// State of the workspace.
#[derive(Clone, Debug, Default)]
pub struct Current {
    /// All resources, oldest first within each kind.
    pub existing: Vec<Existing>,
    /// Record of the configuration.
    pub recorded: Vec<Recorded>,
    /// Names of other configurations by the IDs that they own.
    pub foreign: HashMap<String, String>,
    /// Whether the key of the caller shows no secrets.
    pub reads_only: bool,
}

/// Permissions of the user, and keys that changed.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Delete resources that the configuration owns and that the files no longer have.
    pub prune: bool,
    /// Take over existing resources that no configuration owns.
    pub adopt: bool,
    /// Keys that the files have changed, so that their resources stay.
    pub renames: Vec<Rename>,
}

/// A key that a file has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// Key of the record.
    pub old: String,
    /// Key of the file.
    pub new: String,
}

/// A recorded resource whose key changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    pub from: Address,
    pub to: Address,
    pub id: String,
}

/// Action on a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    /// Create a resource whose recorded ID no longer exists.
    Recreate,
    /// Take over a resource that no configuration owns, and change it.
    Adopt,
    /// Take over a resource that an interrupted run created, and change it.
    Resume,
    Change,
    /// Delete a resource and create it, because a field cannot change.
    Replace,
    Delete,
    /// Remove a record whose resource does not exist.
    Forget,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub action: Action,
    pub address: Address,
    /// ID of the existing resource.
    pub id: Option<String>,
    /// Revision of the existing resource, which a change requires.
    pub revision: Option<String>,
    /// Differences between the file and the resource.
    pub changes: Vec<Change>,
}

/// A resource that the files no longer have, and that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub address: Address,
    /// Empty if its creation was interrupted, so that nobody knows whether it exists.
    pub id: String,
}

/// The steps of an apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Changes of the record, before all steps.
    pub renamed: Vec<Renamed>,
    /// Steps in the order of execution.
    pub steps: Vec<Step>,
    /// Number of resources that match.
    pub unchanged: usize,
    pub kept: Vec<Kept>,
    /// Number of values that the key of the caller does not show, so that they are not compared.
    pub unseen: usize,
    /// Keys of owned resources by their IDs, to show references.
    pub keys: HashMap<String, String>,
}

struct Planner<'a> {
    current: &'a Current,
    by_id: HashMap<&'a str, &'a Existing>,
    recorded: HashMap<&'a Address, &'a str>,
    /// IDs of the resources that keep or get an owner.
    ids: HashMap<&'a Address, String>,
    free: Free<'a>,
    /// Values of existing resources that only one resource can have.
    values: HashMap<Address, Values>,
    plan: Plan,
    problems: Vec<Problem>,
}

/// Plans the steps.
pub fn plan(
    configuration: &Configuration,
    current: &Current,
    options: &PlanOptions,
) -> Result<Plan, Problems> {
    let (current, renamed) = rename::rename(configuration, current, &options.renames)?;
    let current = &*current;
    let by_id: HashMap<&str, &Existing> =
        current.existing.iter().map(|it| (text(&it.json, "id"), it)).collect();
    let mut planner = Planner {
        recorded: current.recorded.iter().map(|it| (&it.address, it.id.as_str())).collect(),
        free: Free::new(current),
        ids: HashMap::new(),
        values: HashMap::new(),
        plan: Plan::default(),
        problems: Vec::new(),
        current,
        by_id,
    };
    for desired in &configuration.resources {
        planner.resource(desired, options);
    }
    planner.order(configuration);
    planner.rest(configuration, options);
    planner.check_parts(configuration);
    if !planner.problems.is_empty() {
        return Err(Problems::sorted(planner.problems));
    }
    let mut plan = planner.plan;
    plan.renamed = renamed;
    let ids = planner.ids.into_iter();
    plan.keys = ids.map(|(address, id)| (id, address.key.clone())).collect();
    Ok(plan)
}

impl<'a> Planner<'a> {
    fn resource(&mut self, desired: &'a Desired, options: &PlanOptions) {
        let id = self.recorded.get(&desired.address).copied();
        let owned = id.and_then(|id| self.by_id.get(id));
        if let Some(existing) = owned.filter(|it| it.kind == desired.kind()) {
            return self.step(Action::Change, desired, Some(existing));
        }
        let wire = self.wire(desired);
        let taken = self.free.take(desired, &wire, self.current.reads_only);
        // A free twin goes first, as the one to take over.
        let taken = taken.and_then(|twin| match (twin, self.free.owned(desired, &wire)) {
            (None, Some(owned)) => Err(owned),
            (twin, _) => Ok(twin),
        });
        match taken {
            Ok(Some(twin)) if id == Some("") && self.may_be_created(desired, twin) => {
                self.step(Action::Resume, desired, Some(twin));
            }
            Ok(Some(twin)) if options.adopt => self.step(Action::Adopt, desired, Some(twin)),
            Ok(Some(twin)) => {
                let message = format!(
                    "has a twin that no configuration owns: {}; take it over with --adopt, or rename \
                     one of the two",
                    text(&twin.json, "id")
                );
                self.problems.push(Problem::new(&desired.at, &*desired.path, message));
            }
            Ok(None) if id.is_some_and(|id| !id.is_empty()) => {
                self.step(Action::Recreate, desired, None);
            }
            Ok(None) => self.step(Action::Create, desired, None),
            Err(message) => {
                self.problems.push(Problem::new(&desired.at, &*desired.path, message));
            }
        }
    }

    /// Returns whether an interrupted run may have created the twin: a different value that cannot change
    /// shows that somebody else did.
    fn may_be_created(&self, desired: &Desired, twin: &Existing) -> bool {
        let found = compare(desired, &self.wire(desired), &twin.json, self.current.reads_only);
        !found.changes.iter().any(|change| change.replaces)
    }

    /// Adds the step of a resource. `existing` is the one to change.
    fn step(&mut self, action: Action, desired: &'a Desired, existing: Option<&Existing>) {
        let address = desired.address.clone();
        let Some(Existing { json, .. }) = existing else {
            let new = unique_values(desired.kind(), &self.wire(desired));
            self.values.insert(address.clone(), Values { old: Vec::new(), new });
            let (id, revision, changes) = (None, None, Vec::new());
            self.plan.steps.push(Step { action, address, id, revision, changes });
            return;
        };
        let wire = self.wire(desired);
        let found = compare(desired, &wire, json, self.current.reads_only);
        let [old, new] = [json, &wire].map(|json| unique_values(desired.kind(), json));
        self.values.insert(address.clone(), Values { old, new });
        self.plan.unseen += found.unseen;
        let replaces = found.changes.iter().any(|change| change.replaces);
        let action = if replaces { Action::Replace } else { action };
        let id = Some(text(json, "id").to_owned());
        if !replaces {
            self.ids.extend(id.clone().map(|id| (&desired.address, id)));
        }
        if action == Action::Change && found.changes.is_empty() {
            self.plan.unchanged += 1;
            return;
        }
        let revision = json["revision"].as_str().map(str::to_owned);
        self.plan.steps.push(Step { action, address, id, revision, changes: found.changes });
    }

    /// Orders the steps by the values that resources give to each other.
    fn order(&mut self, configuration: &Configuration) {
        match order::order(std::mem::take(&mut self.plan.steps), &self.values) {
            Ok(steps) => self.plan.steps = steps,
            Err(circle) => {
                let wanted =
                    configuration.resources.iter().filter(|it| circle.contains(&it.address));
                let message = "exchanges a value that only one resource can have with others; give one \
                               of them another value first, and apply twice";
                let problems = wanted.map(|it| Problem::new(&it.at, &*it.path, message));
                self.problems.extend(problems);
            }
        }
    }

    /// Refuses to delete pages with parts that the configuration does not own: the service deletes them
    /// with the page.
    fn check_parts(&mut self, configuration: &Configuration) {
        let deletes = |step: &&Step| matches!(step.action, Action::Delete | Action::Replace);
        let pages = self.plan.steps.iter().filter(|step| step.address.kind == Kind::Page);
        let pages: HashMap<&str, &Address> = pages
            .filter(deletes)
            .filter_map(|step| Some((step.id.as_deref()?, &step.address)))
            .collect();
        let owned: HashSet<&str> = self.current.recorded.iter().map(|it| it.id.as_str()).collect();
        for Existing { kind, json } in &self.current.existing {
            let Some(page) = pages.get(text(json, "pageId")) else { continue };
            let id = text(json, "id");
            if owned.contains(id) {
                continue;
            }
            let message = format!(
                "{page} cannot be deleted, because that deletes the {} {id}, which this configuration \
                 does not own: delete or move that first",
                kind.noun()
            );
            let wanted = configuration.resources.iter().find(|it| it.address == **page);
            self.problems.push(match wanted {
                Some(wanted) => Problem::new(&wanted.at, &*wanted.path, message),
                None => Problem::of_input(message),
            });
        }
    }

    /// Plans what the files no longer have.
    fn rest(&mut self, configuration: &'a Configuration, options: &PlanOptions) {
        let wanted: HashSet<&Address> =
            configuration.resources.iter().map(|it| &it.address).collect();
        let mut rest: Vec<&Recorded> =
            self.current.recorded.iter().filter(|it| !wanted.contains(&it.address)).collect();
        // The reverse order of creation: a resource goes before those that it refers to.
        rest.sort_by(|a, b| b.address.cmp(&a.address));
        let mut unique: HashMap<String, &Desired> = HashMap::new();
        for desired in &configuration.resources {
            let values = unique_values(desired.kind(), &self.wire(desired));
            unique.extend(values.into_iter().map(|value| (value, desired)));
        }
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for Recorded { address, id } in rest {
            let existing = self.by_id.get(id.as_str()).filter(|it| it.kind == address.kind);
            let step = |action| Step {
                action,
                address: address.clone(),
                id: Some(id.clone()).filter(|id| !id.is_empty()),
                revision: None,
                changes: Vec::new(),
            };
            let values = existing.map(|it| unique_values(it.kind, &it.json)).unwrap_or_default();
            let conflict = values.iter().find_map(|value| unique.get(value).copied());
            match existing {
                Some(_) if options.prune => {
                    let steps = if conflict.is_some() { &mut first } else { &mut last };
                    steps.push(step(Action::Delete));
                }
                Some(_) => {
                    self.problems.extend(conflict.map(|wanted| in_the_way(wanted, address)));
                    self.plan.kept.push(Kept { address: address.clone(), id: id.clone() });
                }
                None if options.prune => last.push(step(Action::Forget)),
                None if id.is_empty() => {
                    self.plan.kept.push(Kept { address: address.clone(), id: String::new() });
                }
                None => {}
            }
        }
        let changes = std::mem::take(&mut self.plan.steps);
        self.plan.steps = first.into_iter().chain(changes).chain(last).collect();
    }

    fn wire(&self, desired: &Desired) -> Json {
        // Unlike every ID, so that a reference to a new resource is a change.
        desired.wire(|address| {
            self.ids.get(address).cloned().unwrap_or_else(|| format!("({})", address.key))
        })
    }
}

/// Returns the values that only one resource can have, with their names: a slug, a domain, and a monitor
/// on a page.
fn unique_values(kind: Kind, json: &Json) -> Vec<String> {
    let value = |names: &[&str]| {
        let values: Vec<&str> = names.iter().map(|name| text(json, name)).collect();
        let is_given = values.iter().all(|value| !value.is_empty());
        is_given.then(|| format!("{} {}", names.join(" "), values.join(" ")))
    };
    let values = match kind {
        Kind::Page => vec![value(&["slug"]), value(&["customDomain"])],
        Kind::Component => vec![value(&["pageId", "monitorId"])],
        Kind::Monitor(_) | Kind::Group | Kind::Channel => Vec::new(),
    };
    values.into_iter().flatten().collect()
}

/// Returns the problem of a resource that cannot exist beside one that is no longer in the files.
fn in_the_way(wanted: &Desired, kept: &Address) -> Problem {
    let (old, new) = (&kept.key, &wanted.address.key);
    let message = format!(
        "needs a value that only one resource can have, and that {kept} has, which is no longer in the \
         file: keep that resource with --rename {old}={new}, or delete it with --prune"
    );
    Problem::new(&wanted.at, &*wanted.path, message)
}

fn text<'a>(json: &'a Json, name: &str) -> &'a str {
    json[name].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests;
