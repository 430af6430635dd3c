//! The example providers: driven by the real `terraform`, called over the wire, and as processes.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy takes for the product's")]

mod host;
mod kinds;
mod life;
mod notebook;
#[cfg(unix)]
mod process;
mod wire;
