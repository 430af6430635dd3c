//! The decisions of Aloft, without IO, async, clock or SQL. Time is passed in as a value.
//!
//! In reading order, which is the order of the flow:
//! - `cadence` decides when to check, and shares the capacity for checks among workspaces.
//! - `check` builds the request and assesses the response.
//! - `judge` reaches one verdict over all regions.
//! - `notify` decides who gets which message at what time, and formats it for each vendor.
//! - `page` builds the view of a status page, with `report`, `maintenance` and `markdown` for
//!   people's announcements.
//! - `history` compacts past checks into rollups and computes uptime.
//! - `csv` writes texts of users for spreadsheets.
//! - `duration` writes durations for people.
//! - `backoff` decides the pauses between attempts of something that fails.

pub mod backoff;
pub mod cadence;
pub mod check;
pub mod csv;
mod duration;
pub mod history;
pub mod judge;
pub mod maintenance;
pub mod markdown;
pub mod notify;
pub mod page;
pub mod report;
