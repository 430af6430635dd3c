//! Terraform providers in Rust, over plugin protocol 6. Knows nothing of any product.

mod proto;
mod serve;
