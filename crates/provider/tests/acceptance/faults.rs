//! Faults that users of similar providers reported, one test each.

mod channels;
mod drift;
mod dynamic;
mod ignored;
mod imports;
mod monitors;
mod network;
mod pages;
mod secrets;
mod server;
mod unknown;
