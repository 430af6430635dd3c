//! Tests of the test kit: receivers reject what their vendors reject, and accept the messages that
//! we compose.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

// The name that other crates use for this one.
extern crate aloft_testkit as testkit;

mod mail;
mod receivers;
