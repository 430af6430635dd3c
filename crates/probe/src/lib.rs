//! Network access for checks: HTTP, TCP and DNS with measured phases, subject to the egress policy.
//! Also sends the server's own requests under the same policy. `domain::check` decides what to send
//! and assesses responses; the server schedules checks and stores results.
//!
//! In reading order:
//! - `runner` runs the attempts of a check, `progress` records how far an attempt came, and
//!   `transport` has a file per protocol.
//! - Connections: `resolve` looks a name up, `egress` decides which addresses are allowed, `connect`
//!   opens a connection, `tls`, `certificate` and `client_certificate` secure it, and `stream` measures it.
//! - `generations` bounds what they remember of certificates.
//! - `client` sends the server's own requests, and `dns_lookup` its own DNS queries.
//! - `settings` configures a probe, `limits` has its bounds, and `memory` the budget of all bodies.
//! - `fuzz` has the properties that fuzz targets and their replays share.

mod certificate;
mod client;
mod client_certificate;
mod connect;
mod dns_lookup;
pub mod egress;
#[cfg(any(test, aloft_fuzz))]
pub mod fuzz;
mod generations;
mod limits;
mod memory;
mod progress;
mod resolve;
mod runner;
mod settings;
mod stream;
mod tls;
mod transport;

pub use client::{Client, ClientResponse, Request};
pub use client_certificate::{ClientCertificate, UnusableClientCertificate};
pub use dns_lookup::{DnsLookup, Resolution};
pub use egress::Egress;
pub use limits::concurrency_limit;
pub use runner::Probe;
pub use settings::{Nameservers, Settings, UnusableRoots, read_roots};

/// Returns random bits for jitter. Decisions that tests check do not depend on them.
pub(crate) fn random_bits() -> u64 {
    rand::random()
}
