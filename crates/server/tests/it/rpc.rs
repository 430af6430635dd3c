//! The services, one file per service.

mod list;
mod monitor;
mod running;
mod update;
