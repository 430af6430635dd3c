//! Test support for several crates: servers for checks, receivers of alerts, and a whole server
//! under test. Only for tests.

pub mod acme;
pub mod browser;
pub mod faults;
pub mod flaky_proxy;
pub mod mail;
pub mod postgres;
pub mod receivers;
pub mod server;
pub mod target;
pub mod tls;
pub mod tools;
