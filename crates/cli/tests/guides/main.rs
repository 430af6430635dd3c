//! The guides and the README as their readers meet them: every command and every program of a page is run
//! in its order, in one shell, against a real server; files are held against the programs that read them;
//! and no link leads nowhere. What a page leaves to the reader is in `left_out.rs`.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy takes for the product's")]

#[path = "../client/build.rs"]
mod build;
mod document;
mod files;
mod left_out;
mod links;
mod openstatus;
mod pages;
mod reader;
mod shell;
mod stand_ins;
mod world;

use std::path::{Path, PathBuf};

/// The folder of the repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
