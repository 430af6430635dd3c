//! Terraform providers in Rust, for plugin protocol 6. Independent of any product.
//!
//! A provider implements [`Provider`]. Its [`Catalog`] names what it offers. Each [`resource`],
//! [`data_source`], [`function`], [`list`], [`ephemeral`] resource and [`action`] is a trait of a
//! few methods and a [`schema`]. [`serve`] is the whole `main`.
//!
//! Steps from a configuration to a state:
//!
//! 1. The [`validate`] rules of the schema check the configuration. Unknown values pass.
//! 2. The plan is completed with defaults, values kept from the state, values derived from other
//!    attributes, and unknown values that the provider will set. If nothing changes, the plan equals
//!    the state.
//! 3. The handler gets [`Object`]s and reads typed values: `planned.get::<Option<i64>>("size")?`.
//! 4. The result is fitted to the schema and compared with the plan. A difference is a diagnostic
//!    that names the attribute.
//!
//! Handlers return [`Outcome`]: `?` accepts a single [`Diagnostic`] or several. Report warnings,
//! and errors next to a result that Terraform should record, with [`Context::report`].
//!
//! # Modules, in reading order
//!
//! - What an author implements: `provider`, `resource`, `data_source`, `ephemeral`, `list`, `function`,
//!   `action`, with `schema`, `validate`, `context` and `diagnostic`.
//! - Values: `value`, `path`, `codec`, `plan`, `private`.
//! - The process: `serve`, `server`, `proto`, `log`.
//! - Tools: `docs` generates documentation, `harness` drives the real program in tests, and `fuzz` has
//!   the property of the fuzz target.

pub mod action;
pub mod codec;
mod context;
pub mod data_source;
mod diagnostic;
pub mod docs;
pub mod ephemeral;
pub mod function;
#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;
pub mod harness;
pub mod list;
mod log;
mod path;
mod plan;
mod private;
mod proto;
mod provider;
pub mod resource;
pub mod schema;
mod serve;
mod server;
pub mod validate;
mod value;

pub use context::Context;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use path::{Path, Step};
pub use private::Private;
pub use provider::{Catalog, Described, Provider};
pub use value::{
    Bound, FromValue, Given, IntoValue, Mismatch, NotANumber, Number, Object, Refinements, Set,
    Type, Value,
};

/// Result of a handler. Its errors are diagnostics, and a single [`Diagnostic`] converts by `?`.
pub type Outcome<T> = Result<T, Diagnostics>;

/// Serves a provider until Terraform no longer needs it. This is the whole `main` of a plugin.
///
/// `address` is the source in configurations, such as `registry.terraform.io/acme/example`.
pub fn serve(address: &str, provider: impl Provider) -> std::process::ExitCode {
    serve::run(address, |stop| server::Server::new(provider, stop))
}

/// Compiles the examples of the README as documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
