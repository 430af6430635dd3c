//! Conversion of messages to the drafts that `rules` validates.

/// Message that describes an object of `rules`.
pub trait IntoDraft {
    /// The object before validation.
    type Draft;

    /// Returns the draft. Values are not validated, and outputs in the message are dropped.
    fn into_draft(self) -> Self::Draft;
}
