//! Serves the Model Context Protocol, with which assistants use a workspace: the tools of a table, each a
//! call of the contract (decision 0078). The server authenticates requests and makes the calls.
//!
//! `tools` is the table and `catalog` its form in the protocol. `transport` is the route, `origin` refuses
//! foreign browsers, and `handler` answers messages. `invocation` runs a tool through `backend`, and `hidden` keeps the signs of
//! hidden secrets out of changes; `result` and
//! `failure` are what a model gets.

mod backend;
mod catalog;
mod failure;
mod handler;
mod hidden;
mod invocation;
mod origin;
mod result;
mod tools;
mod transport;

pub use self::backend::{Backend, BoxFuture, Call, RequestBackend};
pub use self::transport::{PATH, routes};
