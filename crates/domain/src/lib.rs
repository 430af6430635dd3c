//! The decisions of Aloft, without IO, async, clock or SQL. The folders are the flow:
//! `cadence` says when, `check` says what to send and what came back means, `judge` makes one
//! verdict of all regions. Time enters as a value.

pub mod cadence;
pub mod check;
pub mod history;
pub mod judge;
pub mod maintenance;
pub mod markdown;
pub mod notify;
pub mod page;
pub mod report;
