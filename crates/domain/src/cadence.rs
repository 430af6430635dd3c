//! cadence: computes when a monitor is due in a region ([`Slots`]), schedules all monitors
//! ([`Schedule`]), and shares the capacity for checks among workspaces ([`Turns`]). The content of
//! a check belongs to `check`. The server's pipeline reads the clock and waits for the next slot.

mod budget;
mod details;
mod missed;
mod schedule;
mod slot;
mod turns;

pub use budget::Budget;
pub use details::DetailBudget;
pub use missed::{Missed, MissedReason};
pub use schedule::{ConfirmationCheck, DueSlot, FirstRun, Handle, Schedule, SlotAction};
pub use slot::{Downtime, Regions, Slots, missed_while_down, on_grid};
pub use turns::Turns;
