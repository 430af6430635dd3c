//! notify: decides the content, recipients and times of alerts, and formats them for each vendor.
//! Each kind of channel has a file that builds requests and reads responses. `pipeline::notify`
//! sends and waits; the store persists.

mod answer;
mod compose;
mod content;
mod discord;
mod email;
mod event;
mod fit;
mod google_chat;
mod grafana_oncall;
mod identity;
mod message;
mod news;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod policy;
mod servers;
mod slack;
mod story;
mod telegram;
mod telephone;
mod webhook;

#[cfg(test)]
mod tests;

pub use answer::{in_one_line, read_answer, said};
pub use compose::{compose, keeps_alerts};
pub use content::Content;
pub use email::style as letter_style;
pub use event::{Ended, Event, EventKind, Grounds, Notice, RegionSeen, Subject};
pub use identity::{event_key, event_name, storm_key, storm_of, thread};
pub use message::{Answer, Delivered, Envelope, HttpMessage, ListLinks, Mail, Message, Refusal};
pub use news::{
    About, ComponentNamed, Cover, IncidentNews, Links, MaintenanceNews, News, PageNamed,
    ReportNews, Stage, compose_news, news_key,
};
pub use policy::{
    ASKED_WAIT_MAX, Deaf, Hearer, Hears, Holds, Matter, NextTry, Occasion, Opening, Placed,
    STORM_EVENTS_MAX, Scene, Stands, Telling, Told, Turn, Window, Written, degraded_due, end_of,
    group, hears, held_until, next_reminder, next_try, place, remind, ripen, superseded, tell,
};
pub use servers::{
    BotAccount, Servers, TelephoneAccount, TemplateParameter, Unconfigured, WhatsappTemplate,
    account, setting,
};
pub use webhook::signing_secret_text;
