//! Describes types and rules of attributes in words.

use crate::codec::to_json;
use crate::schema::{Attribute, Block, Nesting, Replace, Shape};
use crate::value::Type;

/// Link to Terraform's explanation of write-only arguments.
const WRITE_ONLY: &str = "[Write-only](https://developer.hashicorp.com/terraform/language/resources/ephemeral#write-only-arguments)";

/// Returns a type as in headlines: `List of String`. Objects and tuples use Terraform's syntax.
pub(super) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Bool => "Boolean".to_owned(),
        Type::Number => "Number".to_owned(),
        Type::String => "String".to_owned(),
        Type::Dynamic => "Dynamic".to_owned(),
        Type::List(element) => format!("List of {}", type_text(element)),
        Type::Set(element) => format!("Set of {}", type_text(element)),
        Type::Map(element) => format!("Map of {}", type_text(element)),
        Type::Object(_) | Type::Tuple(_) => format!("`{ty}`"),
    }
}

/// Returns the text in brackets after an attribute: its type and its marks.
pub(super) fn attribute_text(attribute: &Attribute) -> String {
    let mut words = match &attribute.shape {
        Shape::Plain(ty) => type_text(ty),
        Shape::Nested(nesting, _) => nested("Attributes", *nesting),
    };
    for (holds, mark) in [
        (attribute.sensitive, "Sensitive"),
        (attribute.write_only, WRITE_ONLY),
        (attribute.deprecated.is_some(), "Deprecated"),
    ] {
        if holds {
            words = format!("{words}, {mark}");
        }
    }
    words
}

/// Returns the text in brackets after a block: its allowed number and its marks.
pub(super) fn block_text(block: &Block) -> String {
    let mut words = nested("Block", block.nesting);
    if block.nesting != Nesting::Single {
        for (name, count) in [("Min", block.min_items), ("Max", block.max_items)] {
            if count > 0 {
                words = format!("{words}, {name}: {count}");
            }
        }
    }
    if block.deprecated.is_some() { format!("{words}, Deprecated") } else { words }
}

/// Describes an attribute in sentences.
pub(super) fn attribute_description(attribute: &Attribute) -> String {
    let description = one_line(&attribute.description);
    let mut sentences = Vec::new();
    sentences.extend(attribute.deprecated.as_ref().map(|why| deprecated(why)));
    let rules = attribute.validators.iter().filter_map(|rule| rule.rule.clone());
    let rules: Vec<_> = rules.filter(|rule| !description.contains(rule.as_str())).collect();
    let default = default(attribute).filter(|_| !description.contains("by default"));
    if !description.is_empty() {
        sentences.push(description);
    }
    sentences.extend(rules);
    sentences.extend(default);
    let replaces = match attribute.replace {
        Replace::Never => None,
        Replace::Always | Replace::IfConfigured => Some("Changing it replaces the resource."),
        Replace::If(_) => Some("Changing it may replace the resource."),
    };
    sentences.extend(replaces.map(str::to_owned));
    sentences.join(" ")
}

/// Describes a block in sentences.
pub(super) fn block_description(block: &Block) -> String {
    let mut sentences = Vec::new();
    sentences.extend(block.deprecated.as_ref().map(|why| deprecated(why)));
    let description = one_line(&block.description);
    if !description.is_empty() {
        sentences.push(description);
    }
    sentences.extend(block.validators.iter().filter_map(|rule| rule.rule.clone()));
    sentences.join(" ")
}

/// Returns the deprecation notice.
pub(super) fn deprecated(why: &str) -> String {
    let why = one_line(why);
    let end = if why.ends_with('.') { "" } else { "." };
    format!("**Deprecated:** {why}{end}")
}

/// Joins a text into one line, for lists and front matter.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the sentence about the default, written as in a configuration.
fn default(attribute: &Attribute) -> Option<String> {
    let value = attribute.default.as_ref()?;
    let shown = to_json(value, &attribute.ty()).ok()?;
    Some(format!("`{shown}` by default."))
}

fn nested(what: &str, nesting: Nesting) -> String {
    match nesting {
        Nesting::Single => what.to_owned(),
        Nesting::List => format!("{what} List"),
        Nesting::Set => format!("{what} Set"),
        Nesting::Map => format!("{what} Map"),
    }
}
