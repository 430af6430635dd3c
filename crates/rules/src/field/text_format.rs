//! Format of a text by the shape of its field.

use super::Shape;
use crate::format::{
    DomainName, FormatError, HostPort, JsonPath, TimeOfDay, TimeZone, clock, contact, header, pem,
    url,
};

impl Shape {
    /// Returns the rule that a text of this shape violates, as the end of a sentence: its length or its
    /// format.
    pub fn violated_by(self, text: &str) -> Option<String> {
        let (min, max) = self.characters()?;
        let characters = text.chars().count();
        if text.is_empty() && min > 0 {
            return Some("must not be empty".to_owned());
        }
        if characters < min as usize || characters > max as usize {
            return Some(format!("must have {min} to {max} characters, but has {characters}"));
        }
        self.check_format(text).err().map(|FormatError(allowed)| allowed.into_owned())
    }

    /// Checks whether `text` has the format of this shape. Ignores its length. Shapes that are not
    /// free text have no format.
    pub(crate) fn check_format(self, text: &str) -> Result<(), FormatError> {
        match self {
            Self::Text { .. } => plain(text),
            Self::Line { min, .. } => line(min, text),
            Self::HttpUrl { .. } => url::http(text),
            Self::ContactUrl { .. } => url::contact(text),
            Self::HostPort { .. } => HostPort::parse(text).map(drop),
            Self::DomainName { .. } => DomainName::parse(text).map(drop),
            Self::HeaderName { .. } => header::settable_name(text),
            Self::AnswerHeaderName { .. } => header::name(text),
            Self::JsonPath { .. } => JsonPath::parse(text).map(drop),
            Self::HeaderValue { .. } => header::value(text),
            Self::Certificates { max } => plain(text).and_then(|()| pem::certificates(max, text)),
            Self::PrivateKey { max } => plain(text).and_then(|()| pem::private_key(max, text)),
            Self::Slug { .. } => contact::slug(text),
            Self::EmailAddress { .. } => contact::email(text),
            Self::PhoneNumber => contact::phone(text),
            Self::TimeOfDay => TimeOfDay::parse(text).map(drop),
            Self::TimeZone => TimeZone::parse(text).map(drop),
            Self::Interval { min, max } => clock::within(min, max, text),
            Self::Id(prefix) => id(prefix, text),
            Self::Integer { .. }
            | Self::Bool
            | Self::OneOf(_)
            | Self::SetOf(_)
            | Self::SetOfIds(_)
            | Self::SetOfTags { .. }
            | Self::ListOfDomains { .. }
            | Self::Instant
            | Self::ListOf(_) => Ok(()),
        }
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
