//! Whom is told what, and when: decisions with `now` as a value. Maintenance mutes before anything is
//! asked here; queues and clocks belong to `pipeline::notify`.

mod grouping;
mod hearing;
mod quiet;
mod reminder;
mod retry;

pub use grouping::{STORM_EVENTS_MAX, Turn, Window, group};
pub use hearing::{Deaf, Hears, Opening, Wishes, degraded_due, hears, superseded};
pub use quiet::{Held, QuietHours, held_until};
pub use reminder::{REMINDER_MIN, next_reminder};
pub use retry::{ASKED_WAIT_MAX, GIVE_UP_AFTER, NextTry, next_try};
