//! The test kit's own tests: receivers refuse what their vendors refuse, and take what we compose.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

// Under the name by which the other crates know it.
extern crate aloft_testkit as testkit;

mod mail;
mod receivers;
