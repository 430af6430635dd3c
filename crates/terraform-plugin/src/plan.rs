//! Plans: what a configuration makes of a state. Pure; what Terraform calls the proposed state is
//! worked out here again from the configuration, because defaults within sets go by value.

mod agree;
mod pair;
mod propose;
mod replace;

pub(crate) use agree::{applied, planned};
pub(crate) use propose::{changed, propose};
pub(crate) use replace::replacements;

#[cfg(test)]
mod tests;
