//! Tags: short texts by which people group and find monitors. The table of a monitor has their number
//! ([`crate::Validator::tags`]).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::field::Shape;
use crate::format::FormatError;
use crate::tables::TAG_CHARS_MAX;

/// A tag of a monitor, in the case in which it was written. Case does not distinguish tags: `Prod` and
/// `prod` are one group, so a monitor has only one of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Tag(String);

impl Tag {
    /// Checks a tag. A tag has no comma, so that several tags can be written in one text, and no space
    /// at its ends, which nobody would see. An error is the end of a sentence.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        if !(1..=TAG_CHARS_MAX as usize).contains(&text.chars().count()) {
            return Err(format!("must have 1 to {TAG_CHARS_MAX} characters").into());
        }
        Shape::Line { min: 1, max: TAG_CHARS_MAX }.check_format(text)?;
        if text.trim() != text {
            return Err("must not begin or end with a space".into());
        }
        if text.contains(',') {
            return Err("must not contain a comma".into());
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the tag as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text that is equal for equal tags: the tag in lower case. Sets are sorted by it.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl TryFrom<String> for Tag {
    type Error = FormatError;

    fn try_from(text: String) -> Result<Self, FormatError> {
        Self::parse(&text)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
