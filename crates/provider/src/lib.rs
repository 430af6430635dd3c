//! The Terraform provider: the resources and data sources of the specification (§2). Limits, defaults and
//! rules come from `rules`, calls from the client of `contract`. The protocol, values and plans belong to
//! `terraform-plugin`.

pub mod action;
pub mod client;
pub mod connection;
pub mod data_source;
pub mod function;
pub mod list;
pub mod provider;
pub mod resource;
pub mod schema;
pub mod service;
pub mod settings;
pub mod validate;
pub mod wire;
mod write_only;

pub use provider::ServiceProvider;
