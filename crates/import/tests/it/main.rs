//! Imports from real sources: databases that the peers' own programs wrote, and answers in the shapes that
//! their interfaces have.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

mod answers;
mod answers_meaning;
mod destination;
mod gatus;
mod gatus_meaning;
mod hostile;
mod kuma;
mod kuma_meaning;
mod support;
