//! The field tables of §2 and §8, one constant a resource.

/// Longest time for one attempt, and what a timeout of 0 means, in milliseconds (§8.1).
pub const TIMEOUT_MS_MAX: u32 = 120_000;
