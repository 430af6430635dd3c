//! notify: decides the content, recipients and times of alerts, and formats them for each vendor.
//! Each kind of channel has a file that builds requests and reads responses. `pipeline::notify`
//! sends and waits; the store persists.

mod alert_text;
mod compose;
mod dedup;
mod discord;
mod email;
mod event;
mod fan_out;
mod google_chat;
mod grafana_oncall;
mod kinds;
mod message;
mod ms_teams;
mod ntfy;
mod opsgenie;
mod page_event;
mod pagerduty;
mod payload;
mod phone;
mod policy;
mod response;
mod slack;
mod sms;
mod telegram;
mod truncate;
mod vendors;
mod webhook;
mod whatsapp;

#[cfg(test)]
mod tests;

pub use compose::{compose, is_stateful};
pub use dedup::{delivery_key, digest_key, digest_of, event_key, thread};
pub use email::style as email_style;
pub use event::{Cause, CloseReason, Event, EventBatch, EventKind, MonitorSnapshot, RegionOutcome};
pub use fan_out::{
    Audience, FanOutDecision, MAINTENANCE_DISTANCE_MIN, MAINTENANCE_LEAD_TIME, OpeningState,
    announced_since, decide_fan_out, opening_due_at, schedule_page_event, window_to_announce,
};
pub use kinds::account;
pub use message::{
    Disposition, Envelope, HttpMessage, ListLinks, Mail, Message, Rejection, VendorResponse,
};
pub use page_event::{
    ComponentNamed, IncidentEvent, Links, MaintenanceEvent, MaintenancePhase, PageEvent,
    PageEventKind, PageNamed, ReportEvent, SubscriberEnvelope, compose_page_event, page_event_key,
};
pub use payload::Payload;
pub use policy::{
    AlertChange, AlertContext, AlertSubject, ChannelState, DIGEST_EVENTS_MAX, DeliveryPlan,
    DeliveryProgress, DueTime, FilterDecision, GroupWindow, HoldReason, NewDelivery, NextAttempt,
    OpenDelivery, PriorDelivery, RETRY_AFTER_MAX, SendTime, SuppressReason, degraded_due,
    end_event, filter, group, held_until, next_attempt, next_reminder, next_reminder_time,
    plan_deliveries, reschedule_held, schedule, superseded,
};
pub use response::{classify_response, in_one_line, quote_response};
pub use vendors::{
    BotAccount, TemplateParameter, TwilioAccount, Unconfigured, VendorConfig, WhatsappTemplate,
    setting,
};
pub use webhook::signing_secret_text;
