//! The contract over HTTP: a service that implements it without a server, called in each protocol.

#![expect(clippy::unwrap_used, reason = "a test that can't set itself up has failed")]

// The name under which the other crates import it.
extern crate aloft_contract as contract;

mod client;
mod json;
mod protocols;
mod service;
