//! The part of a value that a read key gets.

use super::{Field, Shape};

/// The part of a value that a read key gets. Credentials and queries of URLs are always hidden from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// All of it.
    None,
    /// Scheme and host of a URL, because its path may be a secret.
    Path,
    /// Whether it is empty.
    Text,
    /// Nothing: it is absent.
    Absent,
}

impl Field {
    /// Returns whether read keys get no value of this field.
    pub const fn is_absent_for_readers(&self) -> bool {
        self.sensitive || matches!(self.redaction, Redaction::Absent)
    }

    /// Returns whether read keys may get a shortened value of this field.
    pub const fn is_masked_for_readers(&self) -> bool {
        matches!(self.shape, Shape::HttpUrl { .. })
            || matches!(self.redaction, Redaction::Path | Redaction::Text)
    }
}
