//! The server: boots, runs the pipeline, and serves RPC, `/v1` and operational endpoints.

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

pub use app::App;
pub use status_page::page_paths;
