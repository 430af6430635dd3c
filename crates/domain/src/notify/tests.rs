//! What goes over the wire for each kind and event, and that it keeps its form and its limits
//! whatever is in it.

mod answers;
mod any;
mod fixtures;
mod markup;
mod properties;
mod schema;
mod wire;

pub(super) use fixtures::{CHANNEL, a_channel, an_event, servers, told};
