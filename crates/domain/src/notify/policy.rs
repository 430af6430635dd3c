//! Decides who is notified, of what and when; `now` is a parameter. Queues and clocks belong to
//! `pipeline::notify`.

mod grouping;
mod hearing;
mod quiet;
mod reminder;
mod retry;
mod telling;

pub use grouping::{STORM_EVENTS_MAX, Turn, Window, group};
pub use hearing::{Deaf, Hears, Opening, degraded_due, hears, superseded};
pub use quiet::held_until;
pub use reminder::next_reminder;
pub use retry::{ASKED_WAIT_MAX, NextTry, next_try};
pub use telling::{
    Hearer, Holds, Matter, Occasion, Placed, Scene, Stands, Telling, Told, Written, end_of, place,
    remind, ripen, tell,
};
