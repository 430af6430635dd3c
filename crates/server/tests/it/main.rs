//! Integration tests of the server: over HTTP, with keys, in every protocol. The folders mirror
//! those of the server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

// Use the name that the other crates use.
extern crate aloft_server as server;

mod alerts;
mod auth;
mod boot;
mod config;
mod control;
mod dashboard;
mod docs;
mod domains;
mod edge;
mod heartbeats;
mod input;
mod limits;
mod mcp;
mod methods;
mod observe;
mod pipeline;
mod plans;
mod probes;
mod protocols;
mod read_keys;
mod response_cache;
mod rpc;
mod screen;
mod takeover;
mod third_party_clients;
mod traces;
mod v1;
mod visitors;
