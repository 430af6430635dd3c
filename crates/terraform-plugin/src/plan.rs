//! Plans: computes the result of a configuration and a state, without side effects. Recomputes what
//! Terraform calls the proposed state, because defaults within sets depend on values.

mod consistency;
mod match_blocks;
mod propose;
mod replace;

pub(crate) use consistency::{check_plan, check_state};
pub(crate) use propose::{changed, propose};
pub(crate) use replace::replacements;

#[cfg(test)]
mod tests;
