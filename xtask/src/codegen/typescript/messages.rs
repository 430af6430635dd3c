//! Generates the messages of the contract in a short form of our own. The client builds descriptors
//! from it if a transport needs them. It takes a fifth of the size of a `FileDescriptorSet`.
//! `clients/typescript/src/descriptors.ts` parses it.

use anyhow::{Result, bail};
use protox::prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::model::ContractModel;

/// Generates the module. A line is `@package`, or a message with its fields. A field begins with
/// its name. `?` marks presence, `*` a list, `|oneof` its oneof, `=number` a number that is not the
/// next one, and `:type` a type other than string.
pub(super) fn module(contract: &ContractModel) -> Result<String> {
    let mut lines = Vec::new();
    for file in contract.files_with_imports() {
        lines.push(format!("@{}", file.package_name()));
        for message in file.messages() {
            lines.push(line(&message)?);
        }
    }
    Ok(format!(
        "/** The messages of the contract. `../descriptors.ts` parses them. */\nexport const MESSAGES = `\n{}\n`;\n",
        lines.join("\n")
    ))
}

fn line(message: &MessageDescriptor) -> Result<String> {
    if message.child_messages().len() + message.child_enums().len() > 0 {
        bail!("{} has nested types, which the short form does not support", message.full_name());
    }
    let mut text = message.name().to_owned();
    let mut next = 1;
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(FieldDescriptor::number);
    for field in fields {
        text.extend([format!(" {}", encode_field(&field, next)?)]);
        next = field.number() + 1;
    }
    Ok(text)
}

fn encode_field(field: &FieldDescriptor, next: u32) -> Result<String> {
    let oneof = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
    let is_message = matches!(field.kind(), Kind::Message(_));
    let mark = match (field.is_list(), field.supports_presence() && oneof.is_none() && !is_message)
    {
        (true, _) => "*",
        (false, true) => "?",
        (false, false) => "",
    };
    let oneof = oneof.map_or_else(String::new, |oneof| format!("|{}", oneof.name()));
    let number =
        if field.number() == next { String::new() } else { format!("={}", field.number()) };
    let kind = field.kind();
    let kind = if let Kind::Message(message) = &kind {
        format!(":{}", name_from(message, field))
    } else if kind == Kind::String {
        String::new()
    } else if [Kind::Bool, Kind::Int32, Kind::Int64].contains(&kind) {
        format!(":{kind:?}")
    } else {
        bail!("{} has a kind that the short form does not support", field.full_name())
    };
    Ok(format!("{}{mark}{oneof}{number}{kind}", field.name()))
}

/// Returns the short name of a message in its own package, and the full name elsewhere.
fn name_from(message: &MessageDescriptor, field: &FieldDescriptor) -> String {
    let same = message.parent_file() == field.parent_message().parent_file();
    if same { message.name().to_owned() } else { message.full_name().to_owned() }
}
