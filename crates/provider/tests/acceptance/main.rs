//! The provider as its users meet it: the real `terraform`, a real server, configurations in HCL. On
//! the embedded database, and with `ALOFT_TEST_ENGINE=postgres` on the other. What the server does
//! without Terraform belongs to its own tests.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod data_sources;
mod examples;
mod export;
mod faults;
mod functions;
mod generated;
mod lifecycle;
mod mocks;
mod reference;
mod refusals;
mod world;
