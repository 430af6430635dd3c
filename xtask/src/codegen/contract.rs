//! Generates the code of the public contract with the generators of its RPC library. Leaves the
//! code around it to `crates/contract`, and linting to `buf lint`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use buffa::Message as _;
use buffa_descriptor::generated::descriptor::FileDescriptorSet;

use super::{header, read_all, sources};
use crate::compress;

/// Folder of the hand-written contract.
const PROTO: &str = "proto";
/// Name of the file with the descriptors of all files, without comments, for the server itself and
/// for tests that walk it.
const DESCRIPTORS: &str = "descriptors.bin";
/// The same with comments, for reflection. It is compressed because it is larger and rarely used.
const COMMENTED: &str = "commented.bin.br";
/// Prefix of Google's files in every description. Their comments are left out.
const WELL_KNOWN: &str = "google/protobuf/";
/// Predicates that omit a field from JSON if it has its type's default. The predicates of fields
/// with presence (`Option::is_none`, `is_unset_message_field`) have other names.
const DROPPED_DEFAULTS: &str = "skip_serializing_if = \"::buffa::json_helpers::skip_if::is_";
const KEPT: &str = "is_unset_message_field";

/// Generates all files by name.
pub(super) fn generate(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let proto = root.join(PROTO);
    let sources = sources(&proto)?;
    let mut compiler = protox::Compiler::new([&proto])?;
    compiler.include_imports(true).include_source_info(true).open_files(&sources)?;

    let scratch = tempfile::tempdir()?;
    let code = scratch.path().join("code");
    fs::create_dir_all(&code)?;
    let commented = scratch.path().join("commented.bin");
    let described = compiler.encode_file_descriptor_set();
    fs::write(&commented, &described)?;
    connectrpc_build::Config::new()
        .buffa_config(options())
        .descriptor_set(&commented)
        .files(&sources)
        .out_dir(&code)
        .include_file("mod.rs")
        .emit_rerun_directives(false)
        .compile()?;

    let mut files = BTreeMap::new();
    for (name, content) in read_all(&code)? {
        let code = String::from_utf8(content).with_context(|| format!("{name} is not text"))?;
        files.insert(
            name,
            format!("{}{}", header(PROTO), with_defaults_in_json(&code)).into_bytes(),
        );
    }
    files.insert(COMMENTED.to_owned(), compress::brotli(&with_comments_only(&described)?)?);
    compiler.include_source_info(false);
    files.insert(DESCRIPTORS.to_owned(), compiler.encode_file_descriptor_set());
    Ok(files)
}

/// Removes source positions without a comment, and the comments of well-known types.
fn with_comments_only(described: &[u8]) -> Result<Vec<u8>> {
    let mut set = FileDescriptorSet::decode_from_slice(described)?;
    for file in &mut set.file {
        if file.name.as_deref().is_some_and(|name| name.starts_with(WELL_KNOWN)) {
            file.source_code_info = None.into();
        }
        let Some(info) = file.source_code_info.as_option_mut() else { continue };
        info.location.retain(|location| {
            let attached = [&location.leading_comments, &location.trailing_comments];
            attached.iter().any(|comment| comment.is_some())
                || !location.leading_detached_comments.is_empty()
        });
    }
    Ok(set.encode_to_vec())
}

/// Returns the generator's options: messages with their JSON, without unused code that each build
/// would compile.
fn options() -> connectrpc_build::CodeGenConfig {
    let mut options = connectrpc_build::CodeGenConfig::default();
    options.generate_json = true;
    options.generate_with_setters = false;
    options.emit_register_fn = false;
    options.preserve_unknown_fields = false;
    options.file_per_package = true;
    options
}

/// Makes JSON contain each field without presence, even if it is empty, zero or false: responses
/// always have their lists and totals (design §4). The generator has no option for this. A pass
/// over each response at run time would cost more than one predicate less.
fn with_defaults_in_json(code: &str) -> String {
    let mut result = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(DROPPED_DEFAULTS) {
        let value = start + "skip_serializing_if = \"".len();
        let end =
            value + rest[value..].find('"').expect("the string of an attribute is closed") + 1;
        if rest[start..end].contains(KEPT) {
            result.push_str(&rest[..end]);
        } else {
            // The preceding comma and space must go too.
            result.push_str(rest[..start].trim_end().trim_end_matches(','));
        }
        rest = &rest[end..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::with_defaults_in_json;

    #[test]
    fn only_predicates_without_presence_are_removed() {
        let code = r#"#[serde(rename = "a", skip_serializing_if = "::buffa::json_helpers::skip_if::is_empty_vec", deserialize_with = "x")]
#[serde(
    rename = "b",
    skip_serializing_if = "::buffa::json_helpers::skip_if::is_unset_message_field"
)]
#[serde(rename = "c", skip_serializing_if = "::core::option::Option::is_none")]
"#;
        let expected = code.replace(
            r#", skip_serializing_if = "::buffa::json_helpers::skip_if::is_empty_vec""#,
            "",
        );
        assert_eq!(with_defaults_in_json(code), expected);
    }
}
