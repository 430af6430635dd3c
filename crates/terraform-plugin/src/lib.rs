//! Terraform providers in Rust, over plugin protocol 6. Knows nothing of any product.
//!
//! A provider implements [`Provider`]; its [`Catalog`] names what it offers: each [`resource`],
//! [`data_source`], [`function`], [`list`], [`ephemeral`] resource and [`action`] is a trait of a few
//! methods and a [`schema`]. [`serve`] is the whole `main`.
//!
//! What happens to a value on its way:
//!
//! 1. A configuration is checked by the schema's [`validate`] rules; what is unknown passes.
//! 2. A plan is completed: defaults, values that are kept from the state, values derived from their
//!    neighbours, and unknown ones where the provider will say. If nothing changes, the plan is the
//!    state.
//! 3. The handler gets [`Object`]s and reads them by Rust types: `planned.get::<Option<i64>>("size")?`.
//! 4. What it returns is fitted to the schema and held to the plan; a difference is a diagnostic that
//!    names the attribute.
//!
//! Handlers return [`Outcome`]: `?` takes a single [`Diagnostic`] or several. Warnings, and errors beside
//! a result that is to be kept, go to [`Context::report`].

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

/// What handlers return: errors as diagnostics. A single [`Diagnostic`] converts by `?`.
pub type Outcome<T> = Result<T, Diagnostics>;

/// Serves a provider until Terraform is done with it: the whole `main` of a plugin.
///
/// `address` is what configurations name as the source, such as `registry.terraform.io/acme/example`.
pub fn serve(address: &str, provider: impl Provider) -> std::process::ExitCode {
    serve::run(address, |stop| server::Server::new(provider, stop))
}

/// The examples of the README are compiled like those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
