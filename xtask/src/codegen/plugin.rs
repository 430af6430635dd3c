//! Generates the code of Terraform's provider protocols: prost's messages and tonic's servers, from
//! the third-party files in `crates/terraform-plugin/proto/`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::{header, read_all, sources};

/// Folder of the third-party files.
const PROTO: &str = "crates/terraform-plugin/proto";
/// Licence header. Generated code keeps the licence of its source.
const LICENCE: &str = "// SPDX-License-Identifier: MPL-2.0\n";
/// Allows unused messages, because the protocol has optional parts.
const PARTS: &str = "#![allow(dead_code)]\n";

/// Generates all files by name, without comments, because examples in them are not Rust.
pub(super) fn generate(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let proto = root.join(PROTO);
    let mut compiler = protox::Compiler::new([&proto])?;
    compiler.include_imports(true).open_files(sources(&proto)?)?;
    let scratch = tempfile::tempdir()?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        // A newer host gets `unimplemented` for unknown methods, and providers still compile.
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
