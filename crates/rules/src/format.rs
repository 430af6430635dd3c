//! The formats of texts, one function per format. The tables assign formats and lengths to fields;
//! `validate` checks whole inputs.

pub(crate) mod clock;
pub(crate) mod contact;
mod header;
mod host;
mod url;

use std::borrow::Cow;

pub use clock::{Interval, TimeOfDay, TimeZone};
pub use header::CONNECTION_HEADERS;
pub(crate) use host::authority;
pub use host::{DomainName, Host, HostPort};
pub(crate) use url::without_credentials;

use crate::field::Shape;

/// Error for a text in the wrong format: what is allowed, as the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(pub Cow<'static, str>);

impl From<&'static str> for FormatError {
    fn from(allowed: &'static str) -> Self {
        Self(Cow::Borrowed(allowed))
    }
}

impl From<String> for FormatError {
    fn from(allowed: String) -> Self {
        Self(Cow::Owned(allowed))
    }
}

/// Checks whether `text` has the format of `shape`. Ignores its length. Shapes that are not free
/// text have no format.
pub(crate) fn check(shape: Shape, text: &str) -> Result<(), FormatError> {
    match shape {
        Shape::Text { .. } => plain(text),
        Shape::Line { min, .. } => line(min, text),
        Shape::HttpUrl { .. } => url::http(text),
        Shape::ContactUrl { .. } => url::contact(text),
        Shape::HostPort { .. } => HostPort::parse(text).map(drop),
        Shape::DomainName { .. } => DomainName::parse(text).map(drop),
        Shape::HeaderName { .. } => header::settable_name(text),
        Shape::AnswerHeaderName { .. } => header::name(text),
        Shape::HeaderValue { .. } => header::value(text),
        Shape::Slug { .. } => contact::slug(text),
        Shape::EmailAddress { .. } => contact::email(text),
        Shape::PhoneNumber => contact::phone(text),
        Shape::TimeOfDay => TimeOfDay::parse(text).map(drop),
        Shape::TimeZone => TimeZone::parse(text).map(drop),
        Shape::Interval { min, max } => clock::within(min, max, text),
        Shape::Id(prefix) => id(prefix, text),
        Shape::Integer { .. }
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::SetOfIds(_)
        | Shape::ListOfDomains { .. }
        | Shape::Instant
        | Shape::ListOf(_) => Ok(()),
    }
}

// PostgreSQL cannot store U+0000 in a text, and both databases must accept the same.
fn plain(text: &str) -> Result<(), FormatError> {
    if text.contains('\0') {
        return Err("must not contain the character U+0000".into());
    }
    Ok(())
}

fn line(min: u32, text: &str) -> Result<(), FormatError> {
    if min > 0 && text.trim().is_empty() {
        return Err("must not be only spaces".into());
    }
    if text.contains(|character: char| {
        character.is_control() || "\u{2028}\u{2029}".contains(character)
    }) {
        return Err("must be one line without control characters".into());
    }
    Ok(())
}

// An ID is opaque: the store decides whether it exists.
fn id(prefix: &str, text: &str) -> Result<(), FormatError> {
    let rest = text.strip_prefix(prefix).unwrap_or_default();
    if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Err(format!("must be an identifier of the form {prefix}…").into());
    }
    Ok(())
}
