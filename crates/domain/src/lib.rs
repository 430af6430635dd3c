//! The decisions of Aloft, without IO, async, clock or SQL. The folders follow the flow: `cadence`
//! decides when to check, `check` builds the request and assesses the response, `judge` reaches one
//! verdict over all regions. Time is passed in as a value.

pub mod cadence;
pub mod check;
pub mod history;
pub mod judge;
pub mod maintenance;
pub mod markdown;
pub mod notify;
pub mod page;
pub mod report;
