//! The probe against real servers: what design §5 and §6 promise, a test for each rule. One binary,
//! so that it links once.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod body;
mod checking;
mod client;
mod dns;
mod egress;
mod http;
mod redirects;
mod runner;
mod tcp;
mod timeout;
mod tls;
