//! End-to-end tests of alerts: real checks of a loopback target, a manual clock, and receivers that
//! accept the same requests as their vendors. `domain` tests the content of each message.

mod channel_test;
mod fixture;
mod hostile;
mod mail;
mod order;
mod private;
mod reading;
mod recovery;
mod requests;
mod threads;
mod unconfigured;
mod whatsapp;
