//! cadence: when a monitor is due in a region ([`Slots`]), and the timetable of all of them
//! ([`Schedule`]), and whose checks go first where not all can ([`Turns`]). What runs then belongs to `check`; reading the clock and waiting for the next
//! slot belong to the server's pipeline.

mod budget;
mod schedule;
mod slot;
mod turns;

pub use budget::Budget;
pub use schedule::{Asked, Call, Due, First, Handle, Schedule};
pub use slot::{Downtime, Missed, Regions, Slots, missed_while_down, on_grid};
pub use turns::Turns;
