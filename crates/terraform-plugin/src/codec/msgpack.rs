//! Msgpack as Terraform writes it. Unknown values are extensions. Numbers are integers, floats or
//! text. Dynamic values carry their type.

mod read;
mod write;

pub use read::from_msgpack;
pub use write::to_msgpack;

/// Extension type of a value about which nothing is known.
const UNKNOWN: i8 = 0;
/// Extension type of an unknown value with refinements.
const REFINED: i8 = 12;

/// Keys of refinements.
mod key {
    pub(super) const NULL: i64 = 1;
    pub(super) const PREFIX: i64 = 2;
    pub(super) const LEAST: i64 = 3;
    pub(super) const MOST: i64 = 4;
    pub(super) const LEAST_LENGTH: i64 = 5;
    pub(super) const MOST_LENGTH: i64 = 6;
}

#[cfg(test)]
mod tests;
