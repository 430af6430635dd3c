//! Windows of maintenance: the examples of RFC 5545, clock changes, and properties of any rule.

mod examples;
mod windows;
