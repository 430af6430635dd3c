//! The program that the client starts: this crate's.

use std::path::PathBuf;

pub(crate) fn program(_: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_terraform-provider-service"))
}
