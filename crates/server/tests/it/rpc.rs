//! The services, one file per service.

mod history;
mod list;
mod monitor;
mod notification;
mod region;
mod running;
mod status_page;
mod update;
