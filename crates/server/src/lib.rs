//! The server: boots, runs the pipeline, and serves RPC, `/v1` and operational endpoints.
//!
//! In reading order:
//! - Start: `config` is the table of settings, `boot` starts and stops a server, `context` provides
//!   time and randomness, and `app` composes the parts that answer requests.
//! - `pipeline` runs the stages of `domain` as tasks, and `lane` connects them.
//! - Requests: `connection` limits connections, `edge` is the outermost layer of every response,
//!   `auth` authenticates callers, and `actor` names them in the audit log.
//! - Surfaces: `rpc`, `v1`, `status_page`, `docs`, and `http_body` for browsers; `domains` maps custom
//!   domains to pages.
//! - Operation: `control` executes the operator's commands, `observe` reports on the server, `operator`
//!   notifies its operator, and `demo` has the data of `aloft serve --demo`.

mod actor;
mod app;
pub mod auth;
pub mod boot;
pub mod config;
mod connection;
pub mod context;
pub mod control;
mod demo;
mod docs;
mod domains;
mod edge;
mod http_body;
mod lane;
pub mod observe;
pub mod operator;
pub mod pipeline;
mod rpc;
mod status_page;
mod v1;

pub use app::{App, paths};
pub use status_page::page_paths;
