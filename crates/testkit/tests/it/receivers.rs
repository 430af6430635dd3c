//! Receivers of all kinds, and how the tests post to them.

mod behaviour;
mod composed;
mod fixtures;
mod refusals;
