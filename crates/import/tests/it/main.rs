//! Imports from real sources: databases that the peers' own programs wrote, and answers in the shapes that
//! their interfaces have.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod answers;
mod gatus;
mod hostile;
mod kuma;
mod support;
