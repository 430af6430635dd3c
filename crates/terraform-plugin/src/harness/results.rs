//! What commands came to: plans, states, and what was said on the way.

use serde::Deserialize;
use serde_json::Value;

use super::shown::Shown;

/// A plan that was made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// A line per resource and data source, also of those that stay as they are.
    pub changes: Vec<Change>,
    /// What differs in the world from what the state had.
    pub drift: Vec<Change>,
    /// Warnings.
    pub shown: Vec<Shown>,
    /// All of it, as `terraform show -json` prints it.
    pub json: Value,
    has_changes: bool,
}

/// What a plan does to one resource.
#[derive(Debug, Clone)]
pub struct Change {
    /// As `cloud_disk.main`.
    pub address: String,
    /// What is done.
    pub action: Action,
    /// The attributes before; null when there was nothing.
    pub before: Value,
    /// The attributes after, without those that are not known yet; null when there will be nothing.
    pub after: Value,
    /// `true` where an attribute is known after apply only.
    pub after_unknown: Value,
    /// `true` where an attribute is hidden.
    pub after_sensitive: Value,
    /// The paths of attributes because of which it is replaced.
    pub replace_paths: Value,
    /// The id of what is imported.
    pub importing: Option<String>,
}

/// What is done to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Nothing,
    /// Made.
    Create,
    /// Read, of a data source.
    Read,
    /// Changed in place.
    Update,
    /// Deleted, and made again.
    Replace,
    /// Deleted.
    Delete,
    /// Left in the world and no longer managed.
    Forget,
}

#[derive(Deserialize)]
struct Planned {
    address: String,
    change: PlannedChange,
}

#[derive(Deserialize)]
struct PlannedChange {
    actions: Vec<String>,
    #[serde(default)]
    before: Value,
    #[serde(default)]
    after: Value,
    #[serde(default)]
    after_unknown: Value,
    #[serde(default)]
    after_sensitive: Value,
    #[serde(default)]
    replace_paths: Value,
    #[serde(default)]
    importing: Option<Value>,
}

impl Plan {
    pub(super) fn of(json: Value, has_changes: bool, shown: Vec<Shown>) -> Self {
        let changes = changes(&json["resource_changes"]);
        let drift = changes_that_change(&json["resource_drift"]);
        Self { changes, drift, shown, json, has_changes }
    }

    /// Whether Terraform says "No changes".
    pub fn is_empty(&self) -> bool {
        !self.has_changes
    }

    /// What is done to a resource; panics when the plan does not name it.
    pub fn change(&self, address: &str) -> &Change {
        let found = self.changes.iter().find(|change| change.address == address);
        found.unwrap_or_else(|| panic!("the plan does not name `{address}`: {}", self.summary()))
    }

    /// A line per resource that changes: its action and address, then the attributes that differ.
    /// For messages of tests.
    pub fn summary(&self) -> String {
        let changing = self.changes.iter().filter(|change| change.action != Action::Nothing);
        let lines: Vec<String> = changing.map(Change::summary).collect();
        if lines.is_empty() { "no changes".into() } else { lines.join("\n") }
    }
}

fn changes(list: &Value) -> Vec<Change> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|one| Planned::deserialize(one).ok()).map(Change::of).collect()
}

fn changes_that_change(list: &Value) -> Vec<Change> {
    let all = changes(list).into_iter();
    all.filter(|change| change.action != Action::Nothing).collect()
}

impl Change {
    /// Names of the attributes that are known after apply only, in the order of the alphabet.
    pub fn open(&self) -> Vec<&str> {
        let all = self.after_unknown.as_object().into_iter().flatten();
        let open = all.filter(|(_, unknown)| **unknown == Value::Bool(true));
        let mut names: Vec<_> = open.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    fn of(planned: Planned) -> Self {
        let Planned { address, change } = planned;
        let importing = change.importing.as_ref().and_then(|import| import["id"].as_str());
        Self {
            address,
            action: Action::of(&change.actions),
            importing: importing.map(str::to_owned),
            before: change.before,
            after: change.after,
            after_unknown: change.after_unknown,
            after_sensitive: change.after_sensitive,
            replace_paths: change.replace_paths,
        }
    }

    fn summary(&self) -> String {
        let head = format!("{:?} {}", self.action, self.address);
        let (Value::Object(before), Value::Object(after)) = (&self.before, &self.after) else {
            return head;
        };
        let differing = before.iter().filter(|(name, old)| after.get(*name) != Some(old));
        let lines = differing.map(|(name, old)| {
            let new = after.get(name).map_or_else(|| "(unknown)".into(), Value::to_string);
            format!("  {name}: {old} -> {new}")
        });
        std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

impl Action {
    fn of(words: &[String]) -> Self {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["create"] => Self::Create,
            ["read"] => Self::Read,
            ["update"] => Self::Update,
            ["delete", "create"] | ["create", "delete"] => Self::Replace,
            ["delete"] => Self::Delete,
            ["forget"] => Self::Forget,
            _ => Self::Nothing,
        }
    }
}

/// An apply that succeeded.
#[derive(Debug, Clone)]
pub struct Applied {
    /// The state after it.
    pub state: State,
    /// Warnings.
    pub shown: Vec<Shown>,
}

/// What Terraform manages.
#[derive(Debug, Clone)]
pub struct State {
    /// All of it, as `terraform show -json` prints it.
    pub json: Value,
}

impl State {
    pub(super) fn of(json: Value) -> Self {
        Self { json }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.addresses().is_empty()
    }

    /// What is managed or read, by address, without what modules have.
    pub fn addresses(&self) -> Vec<&str> {
        self.resources().filter_map(|one| one["address"].as_str()).collect()
    }

    /// All attributes of a resource or data source; panics when there is none of this address.
    pub fn values(&self, address: &str) -> &Value {
        let found = self.resources().find(|one| one["address"] == address);
        let known = self.addresses();
        &found.unwrap_or_else(|| panic!("the state has no `{address}`, only {known:?}"))["values"]
    }

    /// One attribute; null when it is null or not one.
    pub fn value(&self, address: &str, attribute: &str) -> &Value {
        &self.values(address)[attribute]
    }

    /// An output; null when there is none of this name.
    pub fn output(&self, name: &str) -> &Value {
        &self.json["values"]["outputs"][name]["value"]
    }

    fn resources(&self) -> impl Iterator<Item = &Value> {
        let list = &self.json["values"]["root_module"]["resources"];
        list.as_array().into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let json = json!({ "resource_changes": [
            { "address": "a.same", "change": { "actions": ["no-op"], "before": {}, "after": {} } },
            { "address": "a.moved", "change": { "actions": ["delete", "create"],
                "before": { "size": 1, "id": "x" }, "after": { "size": 2 },
                "after_unknown": { "id": true }, "replace_paths": [["size"]] } },
            { "address": "a.known", "change": { "actions": ["no-op"], "importing": { "id": "7" } } },
        ]});
        Plan::of(json, true, Vec::new())
    }

    #[test]
    fn a_plan_says_what_is_done_and_why() {
        let plan = plan();
        assert!(!plan.is_empty());
        assert_eq!(plan.change("a.moved").action, Action::Replace);
        assert_eq!(plan.change("a.moved").replace_paths, json!([["size"]]));
        assert_eq!(plan.change("a.known").importing.as_deref(), Some("7"));
        insta::assert_snapshot!(plan.summary(), @r#"
        Replace a.moved
          size: 1 -> 2
          id: "x" -> (unknown)
        "#);
    }

    #[test]
    fn a_state_is_asked_by_address_and_attribute() {
        let state = State::of(json!({ "values": {
            "outputs": { "o": { "value": 3 } },
            "root_module": { "resources": [{ "address": "a.b", "values": { "size": 1 } }] },
        }}));
        assert_eq!(state.value("a.b", "size"), 1);
        assert_eq!(state.value("a.b", "none"), &Value::Null);
        assert_eq!(state.output("o"), 3);
        assert!(!state.is_empty() && State::of(json!({ "format_version": "1.0" })).is_empty());
    }
}
