//! Tables of fields: what a resource holds, written as data, so that RPC validation, forms, the
//! Terraform schema, the reference and the TypeScript client all read the same limits.

use crate::form;
use crate::form::clock::CLOCK_CHARS_MAX;
use crate::form::contact::PHONE_CHARS_MAX;

/// Longest identifier that is looked at, in characters (ours).
const ID_CHARS_MAX: u32 = 64;

/// One resource of the specification's §2, or one data source of §2.8.
#[derive(Debug)]
pub struct Resource {
    /// Terraform name, such as `service_http_monitor`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub description: &'static str,
    /// Arguments and outputs, exactly those of the specification.
    pub fields: &'static [Field],
    /// Outputs of ours beyond the specification.
    pub beyond: &'static [Field],
    /// Nested blocks.
    pub blocks: &'static [Block],
    /// Rules between fields.
    pub rules: &'static [Rule],
    /// Form of the import id, such as `<page_id>/<component_id>`; `None` for data sources.
    pub import: Option<&'static str>,
}

/// One nested block of a resource.
#[derive(Debug)]
pub struct Block {
    /// Name of the block.
    pub name: &'static str,
    /// Most blocks of this name; `None` where the specification sets no limit.
    pub max: Option<u32>,
    /// Fields of one block.
    pub fields: &'static [Field],
    /// Blocks inside the block.
    pub blocks: &'static [Block],
    /// What it is, in one sentence.
    pub description: &'static str,
}

/// One field of a resource or block.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Name as the specification writes it.
    pub name: &'static str,
    /// What values it takes.
    pub shape: Shape,
    /// Who writes it, and what holds when nobody does.
    pub presence: Presence,
    /// What it is, in one sentence with its unit.
    pub description: &'static str,
    /// Whether it is a secret.
    pub sensitive: bool,
    /// Whether a change of it means another resource.
    pub replace: bool,
}

/// Who writes a field, and what holds when nobody does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// The user, always.
    Required,
    /// The user, or it is absent.
    Optional,
    /// The user, or this value is stored and answered.
    Default(Value),
    /// The user, or the server computes an effective value.
    Computed,
    /// The server only.
    Output,
}

/// A constant in a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(&'static str),
    /// A whole number.
    Integer(i32),
    /// Yes or no.
    Bool(bool),
}

/// What values a field takes. Text limits count Unicode scalar values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "`min` and `max` are the bounds, both allowed")]
pub enum Shape {
    /// Any text of this many characters.
    Text { min: u32, max: u32 },
    /// A text of one line: it goes into log lines, subjects and headers.
    Line { min: u32, max: u32 },
    /// An absolute `http` or `https` URL.
    HttpUrl { max: u32 },
    /// `host:port`, the host a name, an IPv4 address or an IPv6 address in brackets.
    HostPort { max: u32 },
    /// A domain name; as a name also at most 253 characters.
    DomainName { max: u32 },
    /// An `http`, `https` or `mailto` URL that a visitor may follow.
    ContactUrl { max: u32 },
    /// A name of an HTTP header that a user may set: not one of the connection's own.
    HeaderName { max: u32 },
    /// A name of a header that an answer may have: any token.
    AnswerHeaderName { max: u32 },
    /// A value of an HTTP header: visible characters, spaces and tabs.
    HeaderValue { max: u32 },
    /// Words in lower case joined by single hyphens.
    Slug { min: u32, max: u32 },
    /// An email address.
    EmailAddress { max: u32 },
    /// A telephone number in international form.
    PhoneNumber,
    /// A time of the day, such as `22:00`.
    TimeOfDay,
    /// A name of the IANA time zone database.
    TimeZone,
    /// A time of so many minutes, written in whole minutes or hours, such as `30m` or `1h`.
    Interval { min: u32, max: u32 },
    /// A whole number within these bounds.
    Integer { min: i32, max: i32 },
    /// Yes or no.
    Bool,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A set of these words.
    SetOf(&'static [&'static str]),
    /// An identifier with this prefix.
    Id(&'static str),
    /// A set of identifiers with this prefix.
    SetOfIds(&'static str),
    /// A list of domain names, in order.
    ListOfDomains { max: u32 },
    /// An instant, RFC 3339.
    Instant,
    /// A list of objects with these fields (data sources).
    ListOf(&'static [Field]),
}

/// What type the values of a shape have, whatever they may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueType {
    /// A text.
    Text,
    /// A whole number.
    Integer,
    /// Yes or no.
    Bool,
    /// Texts in no order, each once.
    SetOfTexts,
    /// Texts in order.
    ListOfTexts,
    /// Objects with these fields, in order.
    ListOf(&'static [Field]),
}

/// A rule between fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants' sentences name their fields")]
pub enum Rule {
    /// `field` must be given when `when` has the value `is`.
    RequiredWhen { field: &'static str, when: &'static str, is: &'static str },
    /// Exactly one of the blocks is given, and it is the one that `named_by` names.
    ExactlyOneBlock { named_by: &'static str },
}

impl Field {
    /// A field that the user must write.
    pub const fn required(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self {
            name,
            shape,
            presence: Presence::Required,
            description,
            sensitive: false,
            replace: false,
        }
    }

    /// A field that may be absent.
    pub const fn optional(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Optional, ..Self::required(name, shape, description) }
    }

    /// A field with a stored default.
    pub const fn default(
        name: &'static str,
        shape: Shape,
        default: Value,
        description: &'static str,
    ) -> Self {
        Self { presence: Presence::Default(default), ..Self::required(name, shape, description) }
    }

    /// A field whose effective value the server computes when it is absent.
    pub const fn computed(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Computed, ..Self::required(name, shape, description) }
    }

    /// A field that only the server writes.
    pub const fn output(name: &'static str, shape: Shape, description: &'static str) -> Self {
        Self { presence: Presence::Output, ..Self::required(name, shape, description) }
    }

    /// The same field as a secret.
    #[must_use]
    pub const fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    /// The same field, where a change means another resource.
    #[must_use]
    pub const fn replaces(self) -> Self {
        Self { replace: true, ..self }
    }
}

impl Shape {
    /// The type of its values.
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
            Self::SetOf(_) | Self::SetOfIds(_) => ValueType::SetOfTexts,
            Self::ListOfDomains { .. } => ValueType::ListOfTexts,
            Self::ListOf(fields) => ValueType::ListOf(fields),
        }
    }

    /// The words of an enumeration or of a set of words; `None` for every other shape.
    pub const fn words(self) -> Option<&'static [&'static str]> {
        if let Self::OneOf(words) | Self::SetOf(words) = self { Some(words) } else { None }
    }

    /// Whether a text has this shape: as many characters as it may have, in the right form.
    pub fn takes(self, text: &str) -> bool {
        let fits = |(min, max)| (min..=max as usize).contains(&text.chars().count());
        let bounds = self.characters().map(|(min, max)| (min as usize, max));
        bounds.is_some_and(fits) && form::check(self, text).is_ok()
    }

    /// Fewest and most characters that a text of this shape may have; `None` for what is no free
    /// text.
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
            | Self::ListOfDomains { .. }
            | Self::Instant
            | Self::ListOf(_) => None,
        }
    }
}

impl Resource {
    /// The field of this name; panics where the table has none, which a test of each reader shows.
    pub fn field(&self, name: &str) -> &'static Field {
        self.fields
            .iter()
            .chain(self.beyond)
            .find(|field| field.name == name)
            .unwrap_or_else(|| panic!("`{}` has no field `{name}`", self.name))
    }

    /// The shape of the field of this name, for tables that are made from other tables: where there
    /// is none, the build fails.
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

    /// Names of what a user writes: arguments, then blocks, in the table's order.
    pub fn writable(&self) -> impl Iterator<Item = &'static str> {
        let arguments = self.fields.iter().filter(|field| field.presence != Presence::Output);
        arguments.map(|field| field.name).chain(self.blocks.iter().map(|block| block.name))
    }

    /// The block of this name; panics where the table has none.
    pub fn block(&self, name: &str) -> &'static Block {
        self.blocks
            .iter()
            .find(|block| block.name == name)
            .unwrap_or_else(|| panic!("`{}` has no block `{name}`", self.name))
    }
}

/// Equality of texts in constants.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    a.len() == b.len() && index == a.len()
}
