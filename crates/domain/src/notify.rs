//! notify: what people are told of an incident, whom, when, and in which vendor's form. Each kind of
//! channel is a folder that writes requests and reads answers; sending, waiting and keeping belong to
//! `pipeline::notify` and to the store.

mod event;
mod message;
mod servers;

pub use event::{Ended, Event, EventKind, Grounds, Notice, RegionSeen, Subject};
pub use message::{Answer, Delivered, Envelope, HttpMessage, Mail, Message, Refusal};
pub use servers::{BotAccount, Servers, TelephoneAccount, Unconfigured};
