//! Rules of values and across attributes. What is unknown passes: Terraform asks again when it is
//! known. Types, presence and counts of blocks are Terraform's own to check.

mod across;
mod hide;
mod rules;
mod walk;

pub use across::{Check, at_least_one_of, conflicting, exactly_one_of, required_together};
pub use rules::{Validator, between, each, items, length, no_duplicates, not_empty, one_of};
pub(crate) use walk::{walk, write_only};
