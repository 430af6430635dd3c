//! Tests the store's behaviour on real databases, the same for each engine.

#![expect(clippy::unwrap_used, reason = "a test fails on an unexpected error")]

extern crate aloft_store as store;

#[expect(
    unreachable_pub,
    dead_code,
    reason = "shared with the testkit, which cannot be a dependency here"
)]
#[path = "../../../testkit/src/target/authority.rs"]
mod authority;
#[expect(unreachable_pub, reason = "shared with the testkit, which cannot be a dependency here")]
#[path = "../../../testkit/src/flaky_proxy.rs"]
mod flaky_proxy;
mod harness;
#[expect(unreachable_pub, reason = "shared with the testkit, which cannot be a dependency here")]
#[path = "../../../testkit/src/migrated.rs"]
mod migrated;
#[expect(unreachable_pub, reason = "shared with the testkit, which cannot be a dependency here")]
#[path = "../../../testkit/src/postgres.rs"]
mod server;

mod audit;
mod backup;
mod certificates;
mod channels;
mod commit;
mod components;
mod configurations;
mod data_dir;
mod durability;
mod evidence;
mod fleets;
mod generations;
mod heartbeats;
mod history;
mod incidents;
mod invitations;
mod keys;
mod logs;
mod maintenances;
mod members;
mod missed_slots;
mod monitors;
mod operators;
mod outbox;
mod pages;
mod postgres;
mod probes;
mod public_pages;
mod quarantine;
mod reports;
mod results;
mod retention;
mod signing_secrets;
mod subscribers;
mod transfer;
mod upgrade;
mod uptime_reports;
mod users;
mod workspaces;
mod writer;
