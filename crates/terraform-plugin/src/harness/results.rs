//! Results of commands: plans, states and diagnostics.

use serde::Deserialize;
use serde_json::Value;

use super::diagnostics::RenderedDiagnostic;

/// A plan.
#[derive(Debug, Clone)]
pub struct PlanOutput {
    /// One change per resource and data source, including those with no change.
    pub changes: Vec<ResourceChange>,
    /// Differences between the real objects and the state.
    pub drift: Vec<ResourceChange>,
    /// Warnings.
    pub diagnostics: Vec<RenderedDiagnostic>,
    /// The plan as printed by `terraform show -json`.
    pub json: Value,
    has_changes: bool,
}

/// Planned change of one resource.
#[derive(Debug, Clone)]
pub struct ResourceChange {
    /// Address, such as `cloud_disk.main`.
    pub address: String,
    pub action: PlannedAction,
    /// Attributes before the change. Null if the object does not exist.
    pub before: Value,
    /// Attributes after the change, without those that are unknown. Null for a deletion.
    pub after: Value,
    /// `true` for each attribute that is known only after apply.
    pub after_unknown: Value,
    /// `true` for each sensitive attribute.
    pub after_sensitive: Value,
    /// Paths of the attributes that force a replacement.
    pub replace_paths: Value,
    /// Id of the imported object.
    pub importing: Option<String>,
}

/// Planned action on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlannedAction {
    Nothing,
    Create,
    /// Read of a data source.
    Read,
    /// Change in place.
    Update,
    /// Deletion and creation.
    Replace,
    Delete,
    /// Removal from the state without deletion.
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

impl PlanOutput {
    pub(super) fn from_json(
        json: Value,
        has_changes: bool,
        diagnostics: Vec<RenderedDiagnostic>,
    ) -> Self {
        let changes = changes(&json["resource_changes"]);
        let drift = effective_changes(&json["resource_drift"]);
        Self { changes, drift, diagnostics, json, has_changes }
    }

    /// Returns whether Terraform reports "No changes".
    pub fn is_empty(&self) -> bool {
        !self.has_changes
    }

    /// Returns the change of a resource. Panics if the plan does not contain it.
    pub fn change(&self, address: &str) -> &ResourceChange {
        let found = self.changes.iter().find(|change| change.address == address);
        found.unwrap_or_else(|| panic!("`{address}` not found in the plan: {}", self.summary()))
    }

    /// Returns a line per changed resource for test messages: its action, its address and the
    /// attributes that differ.
    pub fn summary(&self) -> String {
        let changing = self.changes.iter().filter(|change| change.action != PlannedAction::Nothing);
        let lines: Vec<String> = changing.map(ResourceChange::summary).collect();
        if lines.is_empty() { "no changes".into() } else { lines.join("\n") }
    }
}

fn changes(list: &Value) -> Vec<ResourceChange> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(|one| Planned::deserialize(one).ok()).map(ResourceChange::from_planned).collect()
}

fn effective_changes(list: &Value) -> Vec<ResourceChange> {
    let all = changes(list).into_iter();
    all.filter(|change| change.action != PlannedAction::Nothing).collect()
}

impl ResourceChange {
    /// Returns the names of the attributes that are known only after apply, sorted.
    pub fn unknown_attributes(&self) -> Vec<&str> {
        let all = self.after_unknown.as_object().into_iter().flatten();
        let open = all.filter(|(_, unknown)| **unknown == Value::Bool(true));
        let mut names: Vec<_> = open.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    fn from_planned(planned: Planned) -> Self {
        let Planned { address, change } = planned;
        let importing = change.importing.as_ref().and_then(|import| import["id"].as_str());
        Self {
            address,
            action: PlannedAction::from_actions(&change.actions),
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

impl PlannedAction {
    fn from_actions(words: &[String]) -> Self {
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

/// A successful apply.
#[derive(Debug, Clone)]
pub struct Applied {
    /// State after the apply.
    pub state: StateOutput,
    /// Warnings.
    pub diagnostics: Vec<RenderedDiagnostic>,
}

/// A state.
#[derive(Debug, Clone)]
pub struct StateOutput {
    /// The state as printed by `terraform show -json`.
    pub json: Value,
}

impl StateOutput {
    pub(super) fn from_json(json: Value) -> Self {
        Self { json }
    }

    /// Returns whether the state is empty.
    pub fn is_empty(&self) -> bool {
        self.addresses().is_empty()
    }

    /// Returns the addresses of all resources and data sources in the root module.
    pub fn addresses(&self) -> Vec<&str> {
        self.resources().filter_map(|one| one["address"].as_str()).collect()
    }

    /// Returns all attributes of a resource or data source. Panics if the state does not contain
    /// it.
    pub fn values(&self, address: &str) -> &Value {
        let found = self.resources().find(|one| one["address"] == address);
        let known = self.addresses();
        &found.unwrap_or_else(|| panic!("`{address}` not found in the state, which has {known:?}"))
            ["values"]
    }

    /// Returns an attribute, or null if it is null or missing.
    pub fn value(&self, address: &str, attribute: &str) -> &Value {
        &self.values(address)[attribute]
    }

    /// Returns an output, or null if it is missing.
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

    fn plan() -> PlanOutput {
        let json = json!({ "resource_changes": [
            { "address": "a.same", "change": { "actions": ["no-op"], "before": {}, "after": {} } },
            { "address": "a.moved", "change": { "actions": ["delete", "create"],
                "before": { "size": 1, "id": "x" }, "after": { "size": 2 },
                "after_unknown": { "id": true }, "replace_paths": [["size"]] } },
            { "address": "a.known", "change": { "actions": ["no-op"], "importing": { "id": "7" } } },
        ]});
        PlanOutput::from_json(json, true, Vec::new())
    }

    #[test]
    fn plan_reports_actions_and_reasons() {
        let plan = plan();
        assert!(!plan.is_empty());
        assert_eq!(plan.change("a.moved").action, PlannedAction::Replace);
        assert_eq!(plan.change("a.moved").replace_paths, json!([["size"]]));
        assert_eq!(plan.change("a.known").importing.as_deref(), Some("7"));
        insta::assert_snapshot!(plan.summary(), @r#"
        Replace a.moved
          size: 1 -> 2
          id: "x" -> (unknown)
        "#);
    }

    #[test]
    fn state_is_read_by_address_and_attribute() {
        let state = StateOutput::from_json(json!({ "values": {
            "outputs": { "o": { "value": 3 } },
            "root_module": { "resources": [{ "address": "a.b", "values": { "size": 1 } }] },
        }}));
        assert_eq!(state.value("a.b", "size"), 1);
        assert_eq!(state.value("a.b", "none"), &Value::Null);
        assert_eq!(state.output("o"), 3);
        assert!(
            !state.is_empty()
                && StateOutput::from_json(json!({ "format_version": "1.0" })).is_empty()
        );
    }
}
