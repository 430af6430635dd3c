//! The contract over HTTP: a service that implements it without a server behind, and what a
//! caller of each protocol sees of it.

#![expect(clippy::unwrap_used, reason = "a test that can't set itself up has failed")]

// Under the name by which the other crates know it.
extern crate aloft_contract as contract;

mod client;
mod json;
mod protocols;
mod service;
