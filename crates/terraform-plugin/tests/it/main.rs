//! Tests of the example providers: with the real `terraform`, over the wire, and as processes.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod host;
mod kinds;
mod life;
mod notebook;
#[cfg(unix)]
mod process;
mod wire;
