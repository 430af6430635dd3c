//! Tables of fields: the schema of a resource as data, so that all surfaces use the same limits.

mod names;
mod redaction;
mod text_format;

pub use names::json_name;
pub use redaction::Redaction;

use crate::format::clock::CLOCK_CHARS_MAX;
use crate::format::contact::PHONE_CHARS_MAX;

/// Maximum length of an ID, in characters (our choice).
const ID_CHARS_MAX: u32 = 64;

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

/// Type and limits of a field's values. Text limits count Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Any text of this many characters.
    Text {
        min: u32,
        max: u32,
    },
    /// A text of one line, for use in log lines, subjects and headers.
    Line {
        min: u32,
        max: u32,
    },
    /// An absolute `http` or `https` URL.
    HttpUrl {
        max: u32,
    },
    /// `host:port`, the host a name, an IPv4 address or an IPv6 address in brackets.
    HostPort {
        max: u32,
    },
    /// A domain name of at most 253 characters in DNS form.
    DomainName {
        max: u32,
    },
    /// An `http`, `https` or `mailto` URL for visitors.
    ContactUrl {
        max: u32,
    },
    /// Name of an HTTP header that a user may set; excludes connection headers.
    HeaderName {
        max: u32,
    },
    /// Name of a response header: any token.
    AnswerHeaderName {
        max: u32,
    },
    JsonPath {
        max: u32,
    },
    /// Value of an HTTP header: any characters but controls; tabs are allowed.
    HeaderValue {
        max: u32,
    },
    /// Lower-case words joined by single hyphens.
    Slug {
        min: u32,
        max: u32,
    },
    EmailAddress {
        max: u32,
    },
    /// A telephone number in international format.
    PhoneNumber,
    /// A time of day, such as `22:00`.
    TimeOfDay,
    /// A name of the IANA time zone database.
    TimeZone,
    /// Whole minutes or hours between `min` and `max` minutes, such as `30m` or `24h`.
    Interval {
        min: u32,
        max: u32,
    },
    Integer {
        min: i32,
        max: i32,
    },
    Bool,
    /// One of these names.
    OneOf(&'static [&'static str]),
    /// A set of these names.
    SetOf(&'static [&'static str]),
    /// An ID with this prefix.
    Id(&'static str),
    /// A set of IDs with this prefix.
    SetOfIds(&'static str),
    /// A set of tags of up to `chars_max` characters, which case does not distinguish.
    SetOfTags {
        max: u32,
        chars_max: u32,
    },
    /// An ordered list of domain names.
    ListOfDomains {
        max: u32,
    },
    /// A timestamp in RFC 3339 format.
    Instant,
    /// A list of objects with these fields (data sources).
    ListOf(&'static [Field]),
}

/// Type of a shape's values, without limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    Text,
    Integer,
    Bool,
    /// Unordered texts without duplicates.
    SetOfTexts,
    /// Ordered texts.
    ListOfTexts,
    /// Ordered objects with these fields.
    ListOf(&'static [Field]),
}

/// A rule between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `field` is required if `when` has the value `is`.
    RequiredWhen { field: &'static str, when: &'static str, is: &'static str },
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

impl Shape {
    /// Returns the type of its values.
    pub const fn value_type(self) -> ValueType {
        match self {
            Self::Text { .. }
            | Self::Line { .. }
            | Self::HttpUrl { .. }
            | Self::HostPort { .. }
            | Self::DomainName { .. }
            | Self::ContactUrl { .. }
            | Self::HeaderName { .. }
            | Self::AnswerHeaderName { .. }
            | Self::JsonPath { .. }
            | Self::HeaderValue { .. }
            | Self::Slug { .. }
            | Self::EmailAddress { .. }
            | Self::PhoneNumber
            | Self::OneOf(_)
            | Self::Id(_)
            | Self::TimeOfDay
            | Self::TimeZone
            | Self::Interval { .. }
            | Self::Instant => ValueType::Text,
            Self::Integer { .. } => ValueType::Integer,
            Self::Bool => ValueType::Bool,
            Self::SetOf(_) | Self::SetOfIds(_) | Self::SetOfTags { .. } => ValueType::SetOfTexts,
            Self::ListOfDomains { .. } => ValueType::ListOfTexts,
            Self::ListOf(fields) => ValueType::ListOf(fields),
        }
    }

    /// Returns the names of an enumeration or set, or `None` for other shapes.
    pub const fn names(self) -> Option<&'static [&'static str]> {
        if let Self::OneOf(words) | Self::SetOf(words) = self { Some(words) } else { None }
    }

    /// Returns whether a text has this shape: its length and its format.
    pub fn takes(self, text: &str) -> bool {
        let fits = |(min, max)| (min..=max as usize).contains(&text.chars().count());
        let bounds = self.characters().map(|(min, max)| (min as usize, max));
        bounds.is_some_and(fits) && self.check_format(text).is_ok()
    }

    /// Returns the minimum and maximum length of a text of this shape, or `None` if it is not free text.
    pub const fn characters(self) -> Option<(u32, u32)> {
        match self {
            Self::Text { min, max } | Self::Line { min, max } | Self::Slug { min, max } => {
                Some((min, max))
            }
            Self::HttpUrl { max }
            | Self::ContactUrl { max }
            | Self::HostPort { max }
            | Self::DomainName { max }
            | Self::HeaderName { max }
            | Self::AnswerHeaderName { max }
            | Self::JsonPath { max }
            | Self::EmailAddress { max } => Some((1, max)),
            Self::HeaderValue { max } => Some((0, max)),
            Self::PhoneNumber => Some((1, PHONE_CHARS_MAX)),
            Self::TimeOfDay | Self::TimeZone | Self::Interval { .. } => Some((1, CLOCK_CHARS_MAX)),
            Self::Id(_) => Some((1, ID_CHARS_MAX)),
            Self::Integer { .. }
            | Self::Bool
            | Self::OneOf(_)
            | Self::SetOf(_)
            | Self::SetOfIds(_)
            | Self::SetOfTags { .. }
            | Self::ListOfDomains { .. }
            | Self::Instant
            | Self::ListOf(_) => None,
        }
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
