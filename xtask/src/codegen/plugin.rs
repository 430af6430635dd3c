//! Code of the protocols that Terraform speaks to its providers: prost's messages and tonic's
//! servers, from the files of others in `crates/terraform-plugin/proto/`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::{header, read_all, sources};

/// Where the files of others are.
const PROTO: &str = "crates/terraform-plugin/proto";
/// What is generated from a file under a licence stays under it.
const LICENCE: &str = "// SPDX-License-Identifier: MPL-2.0\n";
/// Not every message is used: the protocol has parts that providers may leave out.
const PARTS: &str = "#![allow(dead_code)]\n";

/// All generated files by name. Comments are left out: examples in them are no Rust.
pub(super) fn generate(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let proto = root.join(PROTO);
    let mut compiler = protox::Compiler::new([&proto])?;
    compiler.include_imports(true).open_files(sources(&proto)?)?;
    let scratch = tempfile::tempdir()?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        // A host that is newer than we are gets `unimplemented`, and a provider compiles on.
        .generate_default_stubs(true)
        .emit_rerun_if_changed(false)
        .out_dir(scratch.path())
        .compile_fds(compiler.file_descriptor_set())?;
    let mut files = BTreeMap::new();
    for (name, content) in read_all(scratch.path())? {
        let code = String::from_utf8(content).with_context(|| format!("{name} is not text"))?;
        files.insert(name, format!("{}{LICENCE}{PARTS}{code}", header(PROTO)).into_bytes());
    }
    Ok(files)
}
