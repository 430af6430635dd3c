//! A reproducible random generator: `SplitMix64`.

use std::time::Duration;

/// A stream of random numbers.
#[derive(Debug)]
pub(crate) struct Chance(pub u64);

impl Chance {
    /// Returns the next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Returns an index into a list of this length.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Returns true in this percentage of calls.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns a duration below `end_ms`.
    pub(crate) fn millis(&mut self, end_ms: u64) -> Duration {
        Duration::from_millis(self.below(end_ms))
    }
}
