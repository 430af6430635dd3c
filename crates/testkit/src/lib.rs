//! Test support for several crates: servers for checks, receivers of alerts, and a whole server
//! under test. Only for tests.
//!
//! In reading order: `server` runs a whole server, `target` has fake targets of checks, `receivers` and
//! `mail` accept alerts, `openid` signs people in, `browser` looks at pages, and `person` uses the dashboard. `migrated` copies
//! empty databases; `postgres`, `flaky_proxy` and `faults` break them, and `nats` carries jobs. `acme`, `tls` and `pem` are for certificates, and `tools` finds installed programs.

pub mod acme;
pub mod browser;
pub mod faults;
pub mod flaky_proxy;
pub mod mail;
pub mod migrated;
pub mod nats;
pub mod openid;
pub mod pem;
pub mod person;
pub mod postgres;
pub mod receivers;
pub mod server;
pub mod target;
pub mod tls;
pub mod tools;
