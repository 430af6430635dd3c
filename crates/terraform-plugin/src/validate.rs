//! Rules for values and across attributes. Unknown values pass, because Terraform validates again
//! when they are known. Terraform itself checks types, presence and the number of blocks.

mod across;
mod rules;

pub use across::{Check, at_least_one_of, conflicting, exactly_one_of, required_together};
pub use rules::{Validator, between, each, items, length, no_duplicates, not_empty, one_of};
