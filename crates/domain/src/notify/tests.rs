//! Messages of each vendor for each event, and their form and limits for any content.

mod answers;
mod any;
mod fixtures;
mod markup;
mod properties;
mod schema;
mod wire;

pub(super) use fixtures::{CHANNEL, a_channel, an_event, servers, told};
