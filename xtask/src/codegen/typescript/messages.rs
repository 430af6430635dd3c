//! The messages of the contract in a short form of our own, from which the client makes descriptors where
//! a transport needs them: a fifth of what a `FileDescriptorSet` takes. Reading it belongs to
//! `clients/typescript/src/descriptors.ts`.

use anyhow::{Result, bail};
use protox::prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::model::Contract;

/// The module. A line is `@package`, or a message with its fields: a name, `?` with presence or `*` for a
/// list, `|oneof`, `=number` where it is not the next one, `:type` where it is no text.
pub(super) fn module(contract: &Contract) -> Result<String> {
    let mut lines = Vec::new();
    for file in contract.files_with_imports() {
        lines.push(format!("@{}", file.package_name()));
        for message in file.messages() {
            lines.push(line(&message)?);
        }
    }
    Ok(format!(
        "/** The messages of the contract; `../descriptors.ts` says how to read it. */\nexport const MESSAGES = `\n{}\n`;\n",
        lines.join("\n")
    ))
}

fn line(message: &MessageDescriptor) -> Result<String> {
    if message.child_messages().len() + message.child_enums().len() > 0 {
        bail!("{} has types of its own, which the short form cannot say", message.full_name());
    }
    let mut text = message.name().to_owned();
    let mut next = 1;
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(FieldDescriptor::number);
    for field in fields {
        text.extend([format!(" {}", said(&field, next)?)]);
        next = field.number() + 1;
    }
    Ok(text)
}

fn said(field: &FieldDescriptor, next: u32) -> Result<String> {
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
        bail!("{} is of a kind that the short form cannot say", field.full_name())
    };
    Ok(format!("{}{mark}{oneof}{number}{kind}", field.name()))
}

/// A name in its own package, and with it elsewhere.
fn name_from(message: &MessageDescriptor, field: &FieldDescriptor) -> String {
    let same = message.parent_file() == field.parent_message().parent_file();
    if same { message.name().to_owned() } else { message.full_name().to_owned() }
}
