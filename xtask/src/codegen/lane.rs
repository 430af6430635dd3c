//! Generates the messages between servers and probes, from the files in `crates/remote/proto/`. They
//! are apart from the public contract, so no client, reference or description contains them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use buffa::Message as _;
use buffa_codegen::{CodeGenConfig, IncludeMode, generate_module_tree};
use buffa_descriptor::generated::descriptor::FileDescriptorSet;

use super::{header, sources};

/// Folder of the hand-written messages.
const PROTO: &str = "crates/remote/proto";

/// Generates all files by name.
pub(super) fn generate(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let proto = root.join(PROTO);
    let sources = sources(&proto)?;
    let mut compiler = protox::Compiler::new([&proto])?;
    compiler.include_imports(true).open_files(&sources)?;
    let set = FileDescriptorSet::decode_from_slice(&compiler.encode_file_descriptor_set())?;
    let mut options = CodeGenConfig::default();
    options.generate_views = false;
    options.generate_json = false;
    options.generate_with_setters = false;
    options.emit_register_fn = false;
    options.preserve_unknown_fields = false;
    options.file_per_package = true;
    let mut files = BTreeMap::new();
    let mut packages = Vec::new();
    for generated in buffa_codegen::generate(&set.file, &sources, &options)? {
        let package = generated.package;
        let code = syn::parse_file(&generated.content)
            .with_context(|| format!("the generated code of {package} does not parse"))?;
        let code = format!("{}{}", header(PROTO), prettyplease::unparse(&code));
        files.insert(generated.name.clone(), code.into_bytes());
        packages.push((generated.name, package));
    }
    let modules = generate_module_tree(&packages, IncludeMode::Relative(""), false);
    files.insert("mod.rs".to_owned(), format!("{}{modules}", header(PROTO)).into_bytes());
    Ok(files)
}
