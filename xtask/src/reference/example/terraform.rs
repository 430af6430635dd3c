//! An example as Terraform: the request of a create as a resource, a read as a data source, by the tables
//! that the provider is made of. What a table does not have is not Terraform's.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use rules::field::{Block, Field, Presence, Resource};
use rules::tables;
use serde_json::{Map, Value};

use crate::reference::prose::camel;
use crate::reference::scenario::{Example, Examples};

/// What manages or reads what a method does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Terraform {
    /// A resource, and the field of the request that has its arguments.
    Resource(&'static Resource, &'static str),
    /// A data source by this name, with these arguments.
    Data(&'static str, &'static [&'static str]),
}

impl Terraform {
    /// That of a method by its name.
    pub(crate) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "CreateHttpMonitor" => Self::Resource(&tables::HTTP_MONITOR, "monitor"),
            "CreateTcpMonitor" => Self::Resource(&tables::TCP_MONITOR, "monitor"),
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

    /// The block, where `examples` has what it refers to.
    pub(crate) fn written(self, example: &Example, examples: &Examples) -> Result<String> {
        let known = Known { example, examples };
        match self {
            Self::Resource(table, argument) => {
                let fields = example.raw[argument].as_object().context("a create has arguments")?;
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

/// Where the registry's page of a block is, below `docs/terraform/`, with the name it has there.
pub(crate) fn page_of(terraform: Terraform) -> (&'static str, String) {
    let (name, folder) = match terraform {
        Terraform::Resource(table, _) => (table.name, "resources"),
        Terraform::Data(name, _) => (name, "data-sources"),
    };
    (name, format!("{folder}/{}.md", name.trim_start_matches("service_")))
}

/// An example among the others.
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

    /// A value, or what refers to it.
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

    /// The resource whose create saved a value under this name.
    fn reference(&self, name: &str) -> Result<String> {
        let call =
            self.example.saved.get(name).with_context(|| format!("nobody saved `{name}`"))?;
        let method = call.rsplit('/').next().unwrap_or(call);
        let made = Terraform::of(method).zip(self.examples.of(call));
        let Some((Terraform::Resource(table, argument), example)) = made else {
            anyhow::bail!("`{name}` comes from `{call}`, which Terraform has no resource for");
        };
        let fields = example.raw[argument].as_object().context("a create has arguments")?;
        Ok(format!("{}.{}.id", table.name, label(fields)))
    }
}

/// What a resource is called in a configuration, after its name or its title.
fn label(fields: &Map<String, Value>) -> String {
    let name = ["name", "title", "type"].iter().find_map(|field| fields.get(*field)?.as_str());
    let lower = name.unwrap_or("this").to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

/// Arguments with their signs under each other, as `terraform fmt` writes them.
fn aligned(lines: &[(String, String)], depth: usize) -> String {
    let longest = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let indent = "  ".repeat(depth);
    let line = |(name, value): &(String, String)| format!("{indent}{name:longest$} = {value}\n");
    lines.iter().map(line).collect()
}

/// A body within its braces.
fn opened(body: &str) -> String {
    if body.is_empty() { String::new() } else { format!("\n{body}") }
}

/// A text as a literal; addresses that the scenario is given are printed as in the other examples.
fn quoted(text: &str) -> String {
    let printed = text
        .replace("${target}", "https://example.com")
        .replace("${receiver}", "https://hooks.example.com");
    Value::from(printed).to_string().replace("${", "$${")
}
