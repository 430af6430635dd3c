//! Receivers of all kinds, and functions to post to them.

mod behaviour;
mod composed;
mod fixtures;
mod refusals;
