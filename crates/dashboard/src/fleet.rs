//! The fleet: all monitors of a workspace, from memory. `snapshot` is their state at one time,
//! `snapshots` caches it, `figures` has the uptime of shown monitors, and `filter` is a person's choice of monitors, as the URL has it. `tags` groups
//! monitors. `undo` keeps changes of many monitors that can be taken back. `fleet_screen` shows all this.

pub(crate) mod figures;
pub(crate) mod filter;
pub(crate) mod snapshot;
pub(crate) mod snapshots;
pub(crate) mod tags;
pub(crate) mod undo;
