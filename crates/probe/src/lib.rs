//! Talks on the network for the checks: HTTP, TCP and DNS, each phase measured, behind the egress
//! policy; and sends what the product itself has to send, behind the same. What to send and what came back means is decided by `domain::check`; when to run, and
//! where results go, by the server.

mod certificate;
mod client;
mod connect;
pub mod egress;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
mod limits;
mod memory;
mod names;
mod progress;
mod resolve;
mod runner;
mod settings;
mod tls;
mod transport;
mod wire;

pub use client::{Answer, Client, Request};
pub use egress::Egress;
pub use limits::concurrency_limit;
pub use names::{Leads, Names};
pub use runner::Probe;
pub use settings::{Nameservers, Settings, UnusableRoots, read_roots};

/// Bits of chance, for what shall not happen everywhere at once. Nothing that a test decides by
/// depends on them.
pub(crate) fn chance() -> u64 {
    rand::random()
}
