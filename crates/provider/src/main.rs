//! The provider's program, which Terraform starts.

fn main() {}
