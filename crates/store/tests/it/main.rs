//! The store's behaviour on a real database in a folder of its own, the same for each engine.

#![expect(clippy::unwrap_used, reason = "a test ends where something is not as it must be")]

extern crate aloft_store as store;

mod harness;

mod audit;
mod commit;
mod durability;
mod evidence;
mod folder;
mod incidents;
mod keys;
mod monitors;
mod results;
mod retention;
mod workspaces;
mod writer;
