//! Decides who is notified, of what and when; `now` is a parameter. Queues and clocks belong to
//! `pipeline::notify`.

mod backoff;
mod delivery_plan;
mod filter;
mod grouping;
mod quiet_hours;
mod reminder;

pub use backoff::{NextAttempt, RETRY_AFTER_MAX, next_attempt};
pub use delivery_plan::{
    AlertChange, AlertContext, AlertSubject, ChannelState, DeliveryPlan, DeliveryProgress, DueTime,
    HoldReason, NewDelivery, OpenDelivery, end_event, next_reminder, plan_deliveries,
    reschedule_held, schedule,
};
pub use filter::{FilterDecision, PriorDelivery, SuppressReason, degraded_due, filter, superseded};
pub use grouping::{DIGEST_EVENTS_MAX, GroupWindow, SendTime, group};
pub use quiet_hours::held_until;
pub use reminder::next_reminder_time;
