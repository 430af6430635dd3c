//! Follows the guides and the README as readers would. Every command and program of a page runs in
//! order, in one shell, against a real server. Files are validated with the programs that read
//! them, and no link is dead. `left_out.rs` lists the blocks that are not run.

#![expect(clippy::unwrap_used, reason = "clippy takes helpers of tests for product code")]

#[path = "../client/build.rs"]
mod build;
mod document;
mod environment;
mod files;
mod left_out;
mod links;
mod openstatus;
mod pages;
mod reader;
mod shell;
mod stubs;

use std::path::{Path, PathBuf};

/// Returns the folder of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
