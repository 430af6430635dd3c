//! Reads the scenarios of `clients/scenarios/` for the reference: the example of each method, and
//! the printed form of its values. Tests run them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::comment::paragraphs;
use super::contract::{Contract, FieldKind};

/// Folder of the scenarios.
const FOLDER: &str = "clients/scenarios";
/// Printed forms of the values given to every scenario.
const PRINTED: [(&str, &str); 2] =
    [("target", "https://example.com"), ("receiver", "https://hooks.example.com")];
/// Printed form of a value without a name.
const SOMETHING: &str = "…";

/// The example of a method.
#[derive(Debug)]
pub(super) struct Example {
    /// Request as printed.
    pub(super) request: Value,
    /// Request with the names of values that earlier steps saved.
    pub(super) raw: Value,
    /// Top-level response fields that the scenario uses.
    pub(super) looked_at: Vec<String>,
    /// Methods whose responses the scenario saved, by name.
    pub(super) saved: BTreeMap<String, String>,
}

/// Examples by the path of their method.
#[derive(Debug, Default)]
pub(super) struct Examples(BTreeMap<String, Example>);

/// Values that earlier steps of a scenario saved, by name.
#[derive(Debug, Default)]
struct Saved {
    /// Printed forms.
    printed: BTreeMap<String, String>,
    /// Methods that returned the values.
    methods: BTreeMap<String, String>,
}

impl Examples {
    /// Reads every scenario.
    pub(super) fn read(workspace: &Path, contract: &Contract) -> Result<Self> {
        let mut examples = Self::default();
        let mut paths = Vec::new();
        for entry in fs::read_dir(workspace.join(FOLDER)).context(FOLDER)? {
            paths.push(entry?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        for path in paths {
            let name = path.display().to_string();
            let text = fs::read_to_string(&path).context(name.clone())?;
            let scenario: Value = serde_json::from_str(&text).context(name.clone())?;
            examples.add(contract, &scenario).context(name)?;
        }
        Ok(examples)
    }

    /// Returns the example of a method.
    pub(super) fn get(&self, path: &str) -> Option<&Example> {
        self.0.get(path)
    }

    fn add(&mut self, contract: &Contract, scenario: &Value) -> Result<()> {
        let mut saved = Saved::default();
        for (name, printed) in PRINTED {
            saved.printed.insert(name.to_owned(), printed.to_owned());
        }
        for step in scenario["steps"].as_array().context("the scenario has no steps")? {
            let name = step["name"].as_str().unwrap_or_default();
            self.step(contract, step, &mut saved).with_context(|| format!("step `{name}`"))?;
        }
        Ok(())
    }

    fn step(&mut self, contract: &Contract, step: &Value, saved: &mut Saved) -> Result<()> {
        let call = step["call"].as_str().context("the step has no call")?;
        if step["example"] == true {
            let example = Example {
                request: saved.filled(&step["request"])?,
                raw: step["request"].clone(),
                looked_at: step["answer"]
                    .as_object()
                    .into_iter()
                    .flat_map(Map::keys)
                    .cloned()
                    .collect(),
                saved: saved.methods.clone(),
            };
            if self.0.insert(call.to_owned(), example).is_some() {
                bail!("`{call}` has two examples");
            }
        }
        let empty = Map::new();
        for (name, path) in step["save"].as_object().unwrap_or(&empty) {
            let path = path.as_str().context("the path of a saved value is not text")?;
            saved.printed.insert(name.clone(), printed(contract, call, path));
            saved.methods.insert(name.clone(), call.to_owned());
        }
        Ok(())
    }
}

impl Saved {
    /// Replaces names in a value by their printed forms.
    fn filled(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => Value::String(self.filled_text(text)?),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.filled(item)).collect::<Result<_>>()?)
            }
            Value::Object(fields) => {
                let fields =
                    fields.iter().map(|(name, value)| Ok((name.clone(), self.filled(value)?)));
                Value::Object(fields.collect::<Result<_>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    fn filled_text(&self, text: &str) -> Result<String> {
        let mut result = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after.split_once('}').context("`${` without `}`")?;
            let Some(printed) = self.printed.get(name) else { bail!("no step saved `{name}`") };
            result = result + before + printed;
            rest = after;
        }
        Ok(result + rest)
    }
}

/// Returns the printed form of a response's value: the prefix in the comment of its field.
fn printed(contract: &Contract, call: &str, path: &str) -> String {
    let method = contract.methods().find(|method| method.path() == call);
    let mut message = method.map(|method| method.response.as_str());
    let mut comment = "";
    for part in path.split('.').filter(|part| part.parse::<usize>().is_err()) {
        let fields = message.into_iter().flat_map(|full| &contract.message(full).fields);
        let Some(field) = fields.into_iter().find(|field| field.json == part) else { break };
        comment = &field.comment;
        message =
            if let FieldKind::Object(full) = &field.kind { Some(full.as_str()) } else { None };
    }
    prefix(comment).unwrap_or_else(|| SOMETHING.to_owned())
}

/// Returns the form of an id in a comment, such as `mon_…`.
fn prefix(comment: &str) -> Option<String> {
    let text = paragraphs(comment).join(" ");
    let spans = text.split('`').skip(1).step_by(2);
    let mut forms = spans.filter(|span| span.ends_with("_…") && !span.contains(' '));
    forms.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn saved_values_are_printed_by_id_prefix() {
        let mut saved = Saved::default();
        saved.printed.insert("monitor".into(), "mon_…".into());
        saved.printed.insert("target".into(), "https://example.com".into());
        let request =
            json!({ "ids": ["${monitor}"], "url": "${target}/health?of=${monitor}", "n": 1 });
        let printed =
            json!({ "ids": ["mon_…"], "url": "https://example.com/health?of=mon_…", "n": 1 });
        assert_eq!(saved.filled(&request).unwrap(), printed);
        assert!(saved.filled(&json!("${other}")).is_err());
        assert_eq!(prefix("Output: `mon_…`. In an update\nit says which."), Some("mon_…".into()));
    }
}
