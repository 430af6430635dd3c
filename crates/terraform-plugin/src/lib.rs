//! Terraform providers in Rust, over plugin protocol 6. Knows nothing of any product.

mod log;
mod proto;
mod serve;
