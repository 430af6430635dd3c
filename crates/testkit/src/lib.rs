//! For tests only: servers for the checks to talk to, and what else several crates' tests share.

pub mod acme;
pub mod browser;
pub mod faults;
pub mod line;
pub mod mail;
pub mod postgres;
pub mod receivers;
pub mod server;
pub mod target;
pub mod tls;
pub mod tools;
