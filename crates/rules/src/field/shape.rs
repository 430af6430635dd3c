//! Types and limits of the values of fields.

use super::Field;
use crate::format::clock::CLOCK_CHARS_MAX;
use crate::format::contact::PHONE_CHARS_MAX;

/// Maximum length of an ID, in characters (our choice).
const ID_CHARS_MAX: u32 = 64;

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
    /// A JSONPath of RFC 9535.
    JsonPath {
        max: u32,
    },
    /// Value of an HTTP header: any characters but controls; tabs are allowed.
    HeaderValue {
        max: u32,
    },
    /// Certificates in PEM, of this many bytes.
    Certificates {
        max: u32,
    },
    /// A private key in PEM, not encrypted, of this many bytes.
    PrivateKey {
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
    /// A duration between `min` and `max` minutes, as whole minutes or hours, such as `30m` or
    /// `1h`.
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
            | Self::Certificates { .. }
            | Self::PrivateKey { .. }
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

    /// Returns the minimum and maximum length of a text of this shape, or `None` if it is not free
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
            | Self::JsonPath { max }
            | Self::Certificates { max }
            | Self::PrivateKey { max }
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
