//! Tests the store's behaviour on real databases, the same for each engine.

#![expect(clippy::unwrap_used, reason = "a test fails on an unexpected error")]

extern crate aloft_store as store;

mod harness;
#[expect(unreachable_pub, reason = "shared with the testkit, which cannot be a dependency here")]
#[path = "../../../testkit/src/line.rs"]
mod line;
#[expect(unreachable_pub, reason = "shared with the testkit, which cannot be a dependency here")]
#[path = "../../../testkit/src/postgres.rs"]
mod server;

mod audit;
mod backup;
mod certificates;
mod channels;
mod commit;
mod components;
mod durability;
mod evidence;
mod folder;
mod generations;
mod history;
mod incidents;
mod keys;
mod logs;
mod maintenances;
mod missed;
mod monitors;
mod outbox;
mod pages;
mod postgres;
mod quarantine;
mod reports;
mod results;
mod retention;
mod shown;
mod signing_secrets;
mod subscribers;
mod transfer;
mod upgrade;
mod workspaces;
mod writer;
