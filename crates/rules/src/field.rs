//! Tables of fields: the schema of a resource as data, so that RPC validation, the Terraform
//! schema, the reference and the TypeScript client use the same limits. `shape` has the types and limits of
//! values.

mod names;
mod redaction;
mod shape;
mod text_format;

pub use names::json_name;
pub use redaction::Redaction;
pub use shape::{Shape, ValueType};

/// One resource of the specification's §2, or one data source of §2.8.
#[derive(Debug)]
pub struct Resource {
    /// Terraform name, such as `service_http_monitor`.
    pub name: &'static str,
    /// Description in one sentence.
    pub description: &'static str,
    /// Arguments and outputs of the specification, and our own arguments.
    pub fields: &'static [Field],
    /// Additional outputs beyond the specification.
    pub beyond: &'static [Field],
    pub blocks: &'static [Block],
    /// Rules between fields.
    pub rules: &'static [Rule],
    /// Format of the import ID, such as `<page_id>/<component_id>`; `None` for data sources.
    pub import: Option<&'static str>,
}

/// One nested block of a resource.
#[derive(Debug)]
pub struct Block {
    pub name: &'static str,
    /// Maximum number of blocks; `None` if the specification sets no limit.
    pub max: Option<u32>,
    /// Fields of one block.
    pub fields: &'static [Field],
    /// Blocks inside the block.
    pub blocks: &'static [Block],
    /// Description in one sentence.
    pub description: &'static str,
}

/// One field of a resource or block.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Name as in the specification.
    pub name: &'static str,
    /// Type and limits of its values.
    pub shape: Shape,
    /// Author of the value, and its default.
    pub presence: Presence,
    /// Description in one sentence, with its unit.
    pub description: &'static str,
    /// Whether it is a secret.
    pub sensitive: bool,
    /// The part of its values that a read key gets.
    pub redaction: Redaction,
    /// Whether a change replaces the resource.
    pub replace: bool,
}

/// Author of a field's value, and its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// The user must set it.
    Required,
    /// The user may set it.
    Optional,
    /// The user may set it; otherwise this value is stored and returned.
    Default(Value),
    /// The user may set it; otherwise the server computes an effective value.
    Computed,
    /// Only the server sets it.
    Output,
}

/// A constant in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Text(&'static str),
    Integer(i32),
    Bool(bool),
}

/// A rule between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `field` is required if `when` has the value `is`.
    RequiredWhen { field: &'static str, when: &'static str, is: &'static str },
    /// Both fields are given, or neither.
    Together { first: &'static str, second: &'static str },
    /// Exactly one of the blocks is required: the one that the field `named_by` names.
    ExactlyOneBlock { named_by: &'static str },
}

impl Field {
    /// Creates a field that the user must set.
    pub const fn required(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self {
            name,
            shape,
            presence: Presence::Required,
            description,
            sensitive: false,
            redaction: Redaction::None,
            replace: false,
        }
    }

    /// Creates a field that may be absent.
    pub const fn optional(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Optional, ..Self::required(name, shape, description) }
    }

    /// Creates a field with a stored default.
    pub const fn default(
        name: &'static str,
        shape: Shape,
        default: Value,
        description: &'static str,
    ) -> Self {
        Self { presence: Presence::Default(default), ..Self::required(name, shape, description) }
    }

    /// Creates a field with an effective value that the server computes if it is absent.
    pub const fn computed(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Computed, ..Self::required(name, shape, description) }
    }

    /// Creates a field that only the server sets.
    pub const fn output(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Output, ..Self::required(name, shape, description) }
    }

    /// Marks the field as a secret.
    #[must_use]
    pub const fn sensitive(self) -> Self {
        Self { sensitive: true, redaction: Redaction::Absent, ..self }
    }

    /// Sets what read keys see of its values.
    #[must_use]
    pub const fn redacted(self, redaction: Redaction) -> Self {
        Self { redaction, ..self }
    }

    /// Marks the field so that a change replaces the resource.
    #[must_use]
    pub const fn replaces(self) -> Self {
        Self { replace: true, ..self }
    }
}

impl Field {
    /// Returns a valid text, for examples and tests: an address with `secret` if it is a URL, the
    /// secret if the field is one, or a fixed text.
    pub fn example(&self, secret: &str) -> String {
        if matches!(self.shape, Shape::HttpUrl { .. }) {
            return format!("https://ada:{secret}@example.com/hook");
        }
        let fixed = match self.shape.names() {
            Some(names) => names[names.len() - 1],
            None if self.sensitive => secret,
            None if matches!(self.shape, Shape::EmailAddress { .. }) => "ops@example.com",
            None if matches!(self.shape, Shape::PhoneNumber) => "+4915112345678",
            None => "ops",
        };
        fixed.to_owned()
    }
}

impl Resource {
    /// Returns the field of this name. Panics if there is none.
    pub fn field(&self, name: &str) -> &'static Field {
        self.fields
            .iter()
            .chain(self.beyond)
            .find(|field| field.name == name)
            .unwrap_or_else(|| panic!("`{}` has no field `{name}`", self.name))
    }

    /// Returns the shape of the field of this name, for tables derived from other tables. Fails the
    /// build if there is none.
    pub const fn shape_of(&self, name: &str) -> Shape {
        let mut index = 0;
        while index < self.fields.len() {
            if same(self.fields[index].name, name) {
                return self.fields[index].shape;
            }
            index += 1;
        }
        panic!("no such field")
    }

    /// Returns the names that a user can set: arguments, then blocks, in the table's order.
    pub fn writable(&self) -> impl Iterator<Item = &'static str> {
        let arguments = self.fields.iter().filter(|field| field.presence != Presence::Output);
        arguments.map(|field| field.name).chain(self.blocks.iter().map(|block| block.name))
    }

    /// Returns the block of this name. Panics if there is none.
    pub fn block(&self, name: &str) -> &'static Block {
        self.blocks
            .iter()
            .find(|block| block.name == name)
            .unwrap_or_else(|| panic!("`{}` has no block `{name}`", self.name))
    }
}

/// Compares texts in constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}
