//! Windows of maintenance: the examples of RFC 5545, clocks that are changed, and what holds of any
//! rule.

mod examples;
mod windows;
