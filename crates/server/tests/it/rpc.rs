//! The services, one file per service.

mod history;
mod list;
mod monitor;
mod region;
mod running;
mod update;
