//! The Terraform provider: the resources and data sources of the specification (§2). Limits, defaults and
//! rules come from `rules`, calls from the client of `contract`. The protocol, values and plans belong to
//! `terraform-plugin`.
//!
//! In reading order:
//! - `provider` is the entry point, `settings` its arguments, and `connection` the configured client.
//! - `resource` implements all resources: `schema` derives their schemas from the tables, `validate`
//!   checks configurations with the service's rules, `wire` converts values, and `service` makes the
//!   calls of each kind.
//! - `client` sends calls, retries them and explains failures.
//! - `data_source`, `list`, `function`, `action` and `write_only` arguments: the rest of what
//!   Terraform can use.

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
