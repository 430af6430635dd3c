//! Generates messages as TypeScript: plain objects in the protocol's JSON. A message that travels
//! in both directions has two types if they differ: the response, and the input with the suffix
//! `Input`.

use protox::prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::camel;
use super::comments::TsdocComments;
use super::model::{ContractModel, Direction, nested_message, type_name};
use super::presence::{is_fixed, is_output, is_there};
use super::words;

/// Suffix of input types.
const WRITTEN: &str = "Input";
/// Name of the field with an update's mask.
const MASK: &str = "update_mask";
/// Name of the field that selects a resource and is not an argument.
const ID: &str = "id";

/// Generates the messages of a contract.
pub(super) struct Types<'a> {
    pub(super) contract: &'a ContractModel,
    pub(super) comments: TsdocComments,
}

impl<'a> Types<'a> {
    pub(super) fn new(contract: &'a ContractModel) -> Self {
        Self { contract, comments: TsdocComments::new(contract.mentioned_names()) }
    }

    /// Returns the types of a message: one, two, or none for an unused message.
    pub(super) fn declared(&self, message: &MessageDescriptor) -> String {
        let travels = |way| self.contract.is_used_in(message, way);
        match (travels(Direction::Request), travels(Direction::Response)) {
            (false, false) => String::new(),
            (true, false) => self.declare(message, Direction::Request),
            (true, true) if self.differs(message) => {
                self.declare(message, Direction::Response)
                    + &self.declare(message, Direction::Request)
            }
            (_, true) => self.declare(message, Direction::Response),
        }
    }

    /// Returns the name of a message in this direction.
    pub(super) fn name(&self, message: &MessageDescriptor, way: Direction) -> String {
        let travels_both = self.contract.is_used_in(message, Direction::Request)
            && self.contract.is_used_in(message, Direction::Response);
        let is_other = way == Direction::Request && travels_both && self.differs(message);
        type_name(message) + if is_other { WRITTEN } else { "" }
    }

    /// Returns the visible fields of a message. An input only has arguments.
    pub(super) fn fields(
        &self,
        message: &MessageDescriptor,
        way: Direction,
    ) -> Vec<FieldDescriptor> {
        let is_argument =
            |field: &FieldDescriptor| field.name() != ID && !is_output(self.contract, field);
        let is_resource = message.fields().any(|field| is_output(self.contract, &field));
        let shown = |field: &FieldDescriptor| {
            way == Direction::Response || !is_resource || is_argument(field)
        };
        message.fields().filter(shown).collect()
    }

    /// Returns the type of a field's value, or of one element of a list.
    fn single(&self, field: &FieldDescriptor, way: Direction) -> String {
        if let Some(message) = nested_message(field) {
            return self.name(&message, way);
        }
        if let Some(words) = words::type_of(self.contract, field) {
            return words;
        }
        let kind = field.kind();
        if let Kind::Message(message) = &kind {
            return message.name().to_owned();
        }
        let name = if kind == Kind::Bool {
            "boolean"
        } else if kind == Kind::String {
            "string"
        } else {
            "number"
        };
        name.to_owned()
    }

    fn differs(&self, message: &MessageDescriptor) -> bool {
        let asked = self.fields(message, Direction::Request);
        if asked.len() != message.fields().len() || self.contract.chosen_by(message).is_some() {
            return true;
        }
        let there = |field, way| is_there(self.contract, field, way);
        asked.iter().any(|field| {
            there(field, Direction::Request) != there(field, Direction::Response)
                || nested_message(field).is_some_and(|inner| self.differs(&inner))
        })
    }

    fn declare(&self, message: &MessageDescriptor, way: Direction) -> String {
        if let Some(update) = self.update(message) {
            return update;
        }
        let name = self.name(message, way);
        let comment = self.about(message, &name);
        if let Some(oneof) = message.oneofs().find(|it| !it.is_synthetic()) {
            return format!(
                "{comment}export type {name} =\n{};\n\n",
                self.one_of(&oneof.fields().collect::<Vec<_>>(), way)
            );
        }
        let Some(named_by) = self.contract.chosen_by(message) else {
            let fields = self.fields(message, way);
            return format!(
                "{comment}export interface {name} {{\n{}}}\n\n",
                self.properties(&fields, way)
            );
        };
        let (blocks, others) = self.blocks(message, named_by, way);
        let common = self.properties(&others, way);
        let blocks = self.block_choice(&blocks, named_by, way);
        format!(
            "/** Fields of every {name}. */\nexport interface {name}Common {{\n{common}}}\n\n{comment}export type {name} = {name}Common &\n  (\n{blocks}  );\n\n"
        )
    }

    /// Returns the comment of a message for this type. An input type names the response type.
    fn about(&self, message: &MessageDescriptor, name: &str) -> String {
        let comment = self.contract.message_comment(message).trim_end();
        let answered = self.name(message, Direction::Response);
        if name == answered {
            return self.comments.tsdoc(comment, &[], 0);
        }
        let written = format!("{comment}\n\nInput type. Responses have the type `{answered}`.");
        self.comments.tsdoc(&written, &[], 0)
    }

    /// Splits fields into blocks, of which exactly one is given, and other fields, without the one
    /// that selects the block.
    fn blocks(
        &self,
        message: &MessageDescriptor,
        named_by: &str,
        way: Direction,
    ) -> (Vec<FieldDescriptor>, Vec<FieldDescriptor>) {
        let named_by_field = message.get_field_by_name(named_by);
        let kinds = named_by_field.and_then(|field| words::of_field(self.contract, &field));
        let kinds = kinds.unwrap_or_default();
        let fields = self.fields(message, way).into_iter().filter(|it| it.name() != named_by);
        fields.partition(|field| kinds.contains(&field.name()))
    }

    /// Returns a line per block: the word of its kind, and the block.
    fn block_choice(&self, blocks: &[FieldDescriptor], named_by: &str, way: Direction) -> String {
        let line = |block: &FieldDescriptor| {
            let name = camel(block.name());
            let comment = self.comments.tsdoc(self.contract.field_comment(block), &[], 2);
            let kind = self.single(block, way);
            format!(
                "{comment}    | {{ {}: \"{}\"; {name}: {kind} }}\n",
                camel(named_by),
                block.name()
            )
        };
        blocks.iter().map(line).collect()
    }

    /// Returns a type in which exactly one of these fields exists, so that checking one narrows the
    /// type.
    fn one_of(&self, fields: &[FieldDescriptor], way: Direction) -> String {
        let choice = |chosen: &FieldDescriptor| {
            let parts = fields.iter().map(|field| {
                let name = camel(field.name());
                if field == chosen {
                    format!("{name}: {}", self.single(field, way))
                } else {
                    format!("{name}?: never")
                }
            });
            format!("  | {{ {} }}", parts.collect::<Vec<_>>().join("; "))
        };
        fields.iter().map(choice).collect::<Vec<_>>().join("\n")
    }

    fn properties(&self, fields: &[FieldDescriptor], way: Direction) -> String {
        fields.iter().map(|field| self.property(field, way)).collect()
    }

    fn property(&self, field: &FieldDescriptor, way: Direction) -> String {
        let words = words::of_field(self.contract, field).unwrap_or_default();
        let comment = self.comments.tsdoc(self.contract.field_comment(field), words, 1);
        let (name, single) = (camel(field.name()), self.single(field, way));
        let kind = match (field.is_list(), way) {
            (true, Direction::Request) => format!("readonly {}[]", bracketed(&single)),
            (true, Direction::Response) => format!("{}[]", bracketed(&single)),
            (false, _) => single,
        };
        match (is_there(self.contract, field, way), way) {
            (true, _) => format!("{comment}  {name}: {kind};\n"),
            (false, Direction::Request) => format!("{comment}  {name}?: {kind} | undefined;\n"),
            (false, Direction::Response) => format!("{comment}  {name}?: {kind};\n"),
        }
    }

    /// Returns the type of an update's request: the whole resource, or the parts named by a mask.
    fn update(&self, message: &MessageDescriptor) -> Option<String> {
        let mask = message.get_field_by_name(MASK)?;
        let resource = message.fields().find(|field| nested_message(field).is_some())?;
        let inner = nested_message(&resource)?;
        let (name, written) = (camel(resource.name()), self.name(&inner, Direction::Request));
        let fixed = inner.fields().filter(|field| is_fixed(self.contract, field));
        let fixed: Vec<_> = fixed.map(|field| format!("\"{}\"", camel(field.name()))).collect();
        let whole = match fixed.as_slice() {
            [] => format!("Whole<{written}>"),
            fixed => format!("WholeBut<{written}, {}>", fixed.join(" | ")),
        };
        let comment_of = |field: &FieldDescriptor| {
            self.comments.tsdoc(self.contract.field_comment(field), &[], 3)
        };
        let (about, of_mask) = (comment_of(&resource), comment_of(&mask));
        Some(format!(
            "{}export type {} =\n  | {{\n{about}      {name}: {whole};\n      updateMask?: undefined;\n    }}\n  | {{\n{about}      {name}: Part<{written}>;\n{of_mask}      updateMask: FieldMask<{written}>;\n    }};\n\n",
            self.comments.tsdoc(self.contract.message_comment(message), &[], 0),
            type_name(message),
        ))
    }
}

/// Adds parentheses if a type needs them before `[]`.
fn bracketed(kind: &str) -> String {
    if kind.contains(' ') { format!("({kind})") } else { kind.to_owned() }
}
