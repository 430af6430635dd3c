//! Formats an example as Terraform: a create request as a resource, a read as a data source, by the
//! tables of the provider. Leaves out everything without a table.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use rules::field::{Block, Field, Presence, Resource};
use rules::tables;
use serde_json::{Map, Value};

use crate::reference::prose::camel;
use crate::reference::scenario::{Example, Examples};

/// Terraform block for a method.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Terraform {
    /// A resource, and the request field with its arguments.
    Resource(&'static Resource, &'static str),
    /// Name of a data source, and its arguments.
    Data(&'static str, &'static [&'static str]),
}

impl Terraform {
    /// Returns the block for a method name.
    pub(crate) fn for_method(method: &str) -> Option<Self> {
        Some(match method {
            "CreateHttpMonitor" => Self::Resource(&tables::HTTP_MONITOR, "monitor"),
            "CreateTcpMonitor" => Self::Resource(&tables::TCP_MONITOR, "monitor"),
            "CreateHeartbeatMonitor" => Self::Resource(&tables::HEARTBEAT_MONITOR, "monitor"),
            "CreateDnsMonitor" => Self::Resource(&tables::DNS_MONITOR, "monitor"),
            "CreateNotification" => Self::Resource(&tables::NOTIFICATION, "notification"),
            "CreateStatusPage" => Self::Resource(&tables::STATUS_PAGE, "statusPage"),
            "CreateComponent" => Self::Resource(&tables::STATUS_PAGE_COMPONENT, "component"),
            "CreateComponentGroup" => {
                Self::Resource(&tables::STATUS_PAGE_COMPONENT_GROUP, "componentGroup")
            }
            "GetMonitor" => Self::Data("service_monitor", &["id"]),
            "ListMonitors" => Self::Data("service_monitors", &["limit", "offset"]),
            "GetNotification" => Self::Data("service_notification", &["id"]),
            "GetStatusPage" => Self::Data("service_status_page", &["id"]),
            "ListRegions" => Self::Data("service_regions", &[]),
            _ => return None,
        })
    }

    /// Formats the block, if `examples` contains everything that it refers to.
    pub(crate) fn written(self, example: &Example, examples: &Examples) -> Result<String> {
        let known = Known { example, examples };
        match self {
            Self::Resource(table, argument) => {
                let fields =
                    example.raw[argument].as_object().context("the create has no arguments")?;
                let label = label(fields);
                let body = known.body(table.fields, table.blocks, fields, 1)?;
                Ok(format!("resource \"{}\" \"{label}\" {{\n{body}}}\n", table.name))
            }
            Self::Data(name, arguments) => {
                let mut lines = Vec::new();
                let mut label = "all".to_owned();
                for argument in arguments {
                    let Some(value) = example.raw.get(*argument) else { continue };
                    let value = known.value(value)?;
                    if let Some(named) = value.strip_suffix(".id") {
                        named.rsplit('.').next().unwrap_or(named).clone_into(&mut label);
                    }
                    lines.push(((*argument).to_owned(), value));
                }
                Ok(format!("data \"{name}\" \"{label}\" {{{}}}\n", opened(&aligned(&lines, 1))))
            }
        }
    }
}

/// Returns the path of a block's page below `docs/terraform/`, and its name there.
pub(crate) fn page_of(terraform: Terraform) -> (&'static str, String) {
    let (name, folder) = match terraform {
        Terraform::Resource(table, _) => (table.name, "resources"),
        Terraform::Data(name, _) => (name, "data-sources"),
    };
    (name, format!("{folder}/{}.md", name.trim_start_matches("service_")))
}

/// An example with all others.
struct Known<'a> {
    example: &'a Example,
    examples: &'a Examples,
}

impl Known<'_> {
    fn body(
        &self,
        fields: &[Field],
        blocks: &[Block],
        given: &Map<String, Value>,
        depth: usize,
    ) -> Result<String> {
        let mut lines = Vec::new();
        let by_name: BTreeMap<String, &Field> =
            fields.iter().map(|field| (camel(field.name), field)).collect();
        for (name, value) in given {
            let Some(field) = by_name.get(name) else { continue };
            if field.presence != Presence::Output {
                lines.push((field.name.to_owned(), self.value(value)?));
            }
        }
        let mut text = aligned(&lines, depth);
        for block in blocks {
            let value = given.get(&camel(block.name));
            let each = match value {
                Some(Value::Array(items)) => items.iter().collect(),
                Some(value) => vec![value],
                None => Vec::new(),
            };
            for inner in each.into_iter().filter_map(Value::as_object) {
                let indent = "  ".repeat(depth);
                let body = self.body(block.fields, block.blocks, inner, depth + 1)?;
                let gap = if text.is_empty() { "" } else { "\n" };
                text += &format!("{gap}{indent}{} {{\n{body}{indent}}}\n", block.name);
            }
        }
        Ok(text)
    }

    /// Formats a value, or a reference to it.
    fn value(&self, value: &Value) -> Result<String> {
        match value {
            Value::String(text) => {
                match text.strip_prefix("${").and_then(|it| it.strip_suffix('}')) {
                    Some(name) if !name.contains('$') => self.reference(name),
                    Some(_) | None => Ok(quoted(text)),
                }
            }
            Value::Array(items) => {
                let items =
                    items.iter().map(|item| self.value(item)).collect::<Result<Vec<_>>>()?;
                Ok(format!("[{}]", items.join(", ")))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                Ok(value.to_string())
            }
        }
    }

    /// Returns the resource whose create saved a value under this name.
    fn reference(&self, name: &str) -> Result<String> {
        let call =
            self.example.saved.get(name).with_context(|| format!("no step saved `{name}`"))?;
        let method = call.rsplit('/').next().unwrap_or(call);
        let made = Terraform::for_method(method).zip(self.examples.get(call));
        let Some((Terraform::Resource(table, argument), example)) = made else {
            anyhow::bail!("`{name}` comes from `{call}`, which has no Terraform resource");
        };
        let fields = example.raw[argument].as_object().context("the create has no arguments")?;
        Ok(format!("{}.{}.id", table.name, label(fields)))
    }
}

/// Returns the label of a resource, from its name or its title.
fn label(fields: &Map<String, Value>) -> String {
    let name = ["name", "title", "type"].iter().find_map(|field| fields.get(*field)?.as_str());
    let lower = name.unwrap_or("this").to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Aligns equals signs as `terraform fmt` does.
fn aligned(lines: &[(String, String)], depth: usize) -> String {
    let longest = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let indent = "  ".repeat(depth);
    let line = |(name, value): &(String, String)| format!("{indent}{name:longest$} = {value}\n");
    lines.iter().map(line).collect()
}

/// Wraps a body in braces.
fn opened(body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n{body}") }
}

/// Formats a text as a literal. Addresses given to the scenario are printed as in the other
/// examples.
fn quoted(text: &str) -> String {
    let printed = text
        .replace("${target}", "https://example.com")
        .replace("${receiver}", "https://hooks.example.com");
    Value::from(printed).to_string().replace("${", "$${")
}
