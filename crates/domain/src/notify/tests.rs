//! Messages of each vendor for each event, and their form and limits for any content.

mod any;
mod fixtures;
mod markup;
mod properties;
mod responses;
mod schema;
mod wire;

pub(super) use fixtures::{CHANNEL, a_channel, alert_text, an_event, servers};
