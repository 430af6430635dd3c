//! The binary `aloft`.
fn main() {}
