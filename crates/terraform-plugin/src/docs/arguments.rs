//! The part of a page that lists arguments and results of a schema, an identity or a function.

use std::fmt::Write as _;

use super::describe;
use crate::function::{Parameter, Signature};
use crate::resource::Identity;
use crate::schema::{Attribute, Block, Body, Presence, Shape};

/// Groups of attributes, in the order of the page.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Required,
    Optional,
    ReadOnly,
}

/// Renders a schema: three groups, then each nested body under its own anchor.
pub(super) fn schema(body: &Body) -> String {
    let top = groups(body, "", |title| format!("### {title}"));
    if top.is_empty() {
        return "## Schema\n\nNo arguments.".to_owned();
    }
    let mut text = format!("## Schema\n\n{top}");
    nested(body, "", &mut text);
    text
}

/// Renders the attributes of an identity, which an import by identity uses.
pub(super) fn identity(identity: &Identity) -> String {
    let mut groups = Vec::new();
    for (required, title) in [(true, "Required"), (false, "Optional")] {
        let attributes = identity.attributes.iter().filter(|(_, it)| it.required == required);
        let lines: Vec<_> = attributes
            .map(|(name, it)| {
                item(name, &describe::type_text(&it.ty), &describe::one_line(&it.description))
            })
            .collect();
        if !lines.is_empty() {
            groups.push(format!("#### {title}\n\n{}", lines.join("\n")));
        }
    }
    format!("### Identity Schema\n\n{}", groups.join("\n\n"))
}

/// Renders the signature and the arguments of a function.
pub(super) fn function(name: &str, signature: &Signature) -> String {
    let mut listed: Vec<_> = signature.parameters.iter().map(typed).collect();
    listed.extend(signature.variadic.as_ref().map(|it| format!("{}...", typed(it))));
    let mut text = format!(
        "## Signature\n\n```text\n{name}({}) {}\n```",
        listed.join(", "),
        describe::type_text(&signature.returns).to_lowercase().replace('`', ""),
    );
    let rest = signature.variadic.iter().map(|it| (it, "Variadic, "));
    let all = signature.parameters.iter().map(|it| (it, "")).chain(rest);
    let lines: Vec<_> = all.enumerate().map(|(at, it)| numbered(at, it)).collect();
    if !lines.is_empty() {
        let _ = write!(text, "\n\n## Arguments\n\n{}", lines.join("\n"));
    }
    text
}

fn typed(parameter: &Parameter) -> String {
    let ty = describe::type_text(&parameter.ty).to_lowercase().replace('`', "");
    format!("{} {ty}", parameter.name)
}

fn numbered(at: usize, (parameter, mark): (&Parameter, &str)) -> String {
    let null = if parameter.allow_null { ", Nullable" } else { "" };
    let ty = describe::type_text(&parameter.ty);
    let description = describe::one_line(&parameter.description);
    format!("{}. `{}` ({mark}{ty}{null}) {description}", at + 1, parameter.name)
        .trim_end()
        .to_owned()
}

/// Renders attributes and blocks by group. `headline` formats the line above a group.
fn groups(body: &Body, path: &str, headline: impl Fn(&str) -> String) -> String {
    let mut text = Vec::new();
    for (group, title) in [
        (Group::Required, "Required"),
        (Group::Optional, "Optional"),
        (Group::ReadOnly, "Read-Only"),
    ] {
        let attributes = body.attributes.iter().filter(|(_, it)| for_attribute(it) == group);
        let attributes = attributes.map(|(name, it)| attribute_line(name, it, path));
        let blocks = body.blocks.iter().filter(|(_, it)| for_block(it) == group);
        let blocks = blocks.map(|(name, it)| block_line(name, it, path));
        let lines: Vec<_> = attributes.chain(blocks).collect();
        if !lines.is_empty() {
            text.push(format!("{}\n\n{}", headline(title), lines.join("\n")));
        }
    }
    text.join("\n\n")
}

const fn for_attribute(attribute: &Attribute) -> Group {
    match attribute.presence {
        Presence::Required => Group::Required,
        Presence::Optional | Presence::OptionalComputed => Group::Optional,
        Presence::Computed => Group::ReadOnly,
    }
}

/// Returns the group of a block. A block is read-only if all of its parts are.
fn for_block(block: &Block) -> Group {
    if block.min_items > 0 {
        return Group::Required;
    }
    let parts = block.body.attributes.values().map(for_attribute);
    let mut parts = parts.chain(block.body.blocks.values().map(for_block)).peekable();
    let given = parts.peek().is_none() || parts.any(|group| group != Group::ReadOnly);
    if given { Group::Optional } else { Group::ReadOnly }
}

fn attribute_line(name: &str, attribute: &Attribute, path: &str) -> String {
    let mut description = describe::attribute_description(attribute);
    if let Shape::Nested(..) = &attribute.shape {
        description = format!("{description} {}", nested_link("nestedatt", &joined(path, name)));
    }
    item(name, &describe::attribute_text(attribute), &description)
}

fn block_line(name: &str, block: &Block, path: &str) -> String {
    let link = nested_link("nestedblock", &joined(path, name));
    item(
        name,
        &describe::block_text(block),
        &format!("{} {link}", describe::block_description(block)),
    )
}

fn item(name: &str, ty: &str, description: &str) -> String {
    format!("- `{name}` ({ty}) {}", description.trim()).trim_end().to_owned()
}

fn nested_link(kind: &str, path: &str) -> String {
    format!("(see [below for nested schema](#{}))", anchor(kind, path))
}

/// Renders nested bodies, each after its parent.
fn nested(body: &Body, path: &str, text: &mut String) {
    let attributes = body.attributes.iter().filter_map(|(name, it)| match &it.shape {
        Shape::Plain(_) => None,
        Shape::Nested(_, inner) => Some(("nestedatt", name, inner)),
    });
    let blocks = body.blocks.iter().map(|(name, it)| ("nestedblock", name, &it.body));
    for (kind, name, inner) in attributes.chain(blocks) {
        let path = joined(path, name);
        let _ = write!(
            text,
            "\n\n<a id=\"{}\"></a>\n### Nested Schema for `{path}`",
            anchor(kind, &path)
        );
        let inside = groups(inner, &path, |title| format!("{title}:"));
        if !inside.is_empty() {
            let _ = write!(text, "\n\n{inside}");
        }
        nested(inner, &path, text);
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn anchor(kind: &str, path: &str) -> String {
    format!("{kind}--{}", path.replace('.', "--"))
}
