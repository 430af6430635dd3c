//! The server: boots, runs the pipeline, and serves RPC, `/v1` and operational endpoints.
//!
//! In reading order:
//! - Start: `config` is the table of settings, `boot` starts and stops a server, and `app` composes the
//!   surfaces that answer requests.
//! - `pipeline` runs the stages of `domain` as tasks, and `lane` connects them, even with probes in other
//!   places.
//! - Requests: `connection` limits connections, `edge` is the outermost layer of every response,
//!   `auth` authenticates callers, `gate` is its layer, and `actor` names them in the audit log.
//! - Surfaces: `rpc`, `v1`, `health`, `heartbeats` for the URLs that jobs call, `probes` for
//!   probes in other places, `assistants` with the crate `mcp`,
//!   and the crates `pages` and `documentation`; `domains` maps custom domains to pages. None of them imports `app`.
//! - `workspaces` changes and deletes workspaces as a whole, and `probe_admin` manages probes.
//! - Operation: `control` executes the operator's commands, `observe` reports on the server, `operator`
//!   notifies its operator, `housekeeping` compacts and deletes data, `monthly` ends months, and `demo`
//!   has the data of `aloft serve --demo`.

mod actor;
mod app;
mod assistants;
pub mod auth;
pub mod boot;
pub mod config;
mod connection;
pub mod control;
mod demo;
mod domains;
mod edge;
mod gate;
mod health;
mod heartbeats;
mod housekeeping;
mod lane;
mod monthly;
pub mod observe;
mod operator;
pub mod pipeline;
mod probe_admin;
mod probes;
mod rpc;
mod v1;
mod workspaces;

pub use app::{App, paths};
