//! The provider with the real `terraform`, a real server and configurations in HCL. On the embedded database, or
//! with `ALOFT_TEST_ENGINE=postgres` on PostgreSQL. The server without Terraform belongs to its own tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod dashboard_copy;
mod data_sources;
mod examples;
mod export;
mod faults;
mod functions;
mod generated;
mod hosts;
mod lifecycle;
mod mocks;
mod reference;
mod refusals;
mod registry;
mod world;
