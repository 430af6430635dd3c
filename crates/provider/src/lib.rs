//! The Terraform provider: the resources and data sources of the specification's §2, with their
//! limits, defaults and rules from `rules`, on the contract's client. Protocol, values and plans in
//! general belong to `terraform-plugin`.

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
mod twin;
pub mod validate;
pub mod wire;

pub use provider::ServiceProvider;
