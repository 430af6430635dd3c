//! The faults that users of other providers of this kind met, one test each: none of them is ours.

mod channels;
mod drift;
mod dynamic;
mod ignored;
mod imports;
mod monitors;
mod pages;
mod secrets;
mod server;
mod unknown;
