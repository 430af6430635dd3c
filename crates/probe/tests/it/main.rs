//! The probe against real servers: a test for each rule of design §5 and §6. One binary, so that it
//! links once.

#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod body;
mod checking;
mod client;
mod client_certificates;
mod dns;
mod egress;
mod http;
mod redirects;
mod runner;
mod tcp;
mod timeout;
mod tls;
