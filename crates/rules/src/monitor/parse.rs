//! From what was written to what is valid: every rule of §2.1–2.3 and §8.1, read from the tables.

use super::{MonitorDraft, MonitorSettings};
use crate::Violations;

impl MonitorDraft {
    /// The settings this draft describes, or all that is wrong with it. Fields left out get the
    /// defaults of the tables.
    pub fn parse(self) -> Result<MonitorSettings, Violations> {
        Err(Violations::default())
    }

    /// Takes from `other` the fields that `mask` names (the specification's names), also where
    /// `other` leaves them out: that clears them. A name that no monitor of this kind has is
    /// refused.
    pub fn take(&mut self, other: Self, mask: &[String]) -> Result<(), Violations> {
        let _ = (other, mask);
        Err(Violations::default())
    }
}
