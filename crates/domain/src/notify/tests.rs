//! Messages of each vendor for each event, and their form and limits for any content.

mod any;
pub(super) mod asserts;
pub(super) mod fixtures;
mod markup;
mod properties;
mod responses;
pub(super) mod schema;

pub(super) use fixtures::{CHANNEL, a_channel, an_event, vendors};
