//! Generates the code of the public contract: the messages with the generator of their library, and
//! the services with ours (`services`). Leaves the code around it to `crates/contract`, and linting
//! to `buf lint`.

mod services;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use buffa::Message as _;
use buffa_codegen::{CodeGenConfig, IncludeMode, generate_module_tree};
use buffa_descriptor::generated::descriptor::FileDescriptorSet;
use quote::ToTokens as _;
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, ExprLit, File, ImplItem, Item, Lit, Meta, Token};

use super::{header, sources};
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
/// Prefix of predicates that omit a field from JSON if it has its type's default, and the end of the
/// one that omits an unset message. Predicates of other fields with presence have another prefix.
const OMITTING: &str = "::buffa::json_helpers::skip_if::is_";
const PRESENCE: &str = "is_unset_message_field";

/// Generates all files by name.
pub(super) fn generate(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let proto = root.join(PROTO);
    let sources = sources(&proto)?;
    let mut compiler = protox::Compiler::new([&proto])?;
    compiler.include_imports(true).include_source_info(true).open_files(&sources)?;
    let commented = with_comments_only(&compiler.encode_file_descriptor_set())?;
    compiler.include_source_info(false);
    let descriptors = compiler.encode_file_descriptor_set();
    let set = FileDescriptorSet::decode_from_slice(&descriptors)?;

    let mut files = BTreeMap::new();
    let mut packages = Vec::new();
    for generated in buffa_codegen::generate(&set.file, &sources, &options())? {
        let package = generated.package;
        let code = syn::parse_file(&generated.content)
            .with_context(|| format!("the generated code of {package} does not parse"))?;
        let code = prettyplease::unparse(&reduced(code));
        let services = services::generate(&set, &package)?;
        let code = format!("{}{code}{services}", header(PROTO));
        files.insert(generated.name.clone(), code.into_bytes());
        packages.push((generated.name, package));
    }
    let modules = generate_module_tree(&packages, IncludeMode::Relative(""), false);
    files.insert("mod.rs".to_owned(), format!("{}{modules}", header(PROTO)).into_bytes());
    files.insert(COMMENTED.to_owned(), compress::brotli(&commented)?);
    files.insert(DESCRIPTORS.to_owned(), descriptors);
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
/// would compile. Views, which borrow from a request, are not worth it: most handlers copy them.
fn options() -> CodeGenConfig {
    let mut options = CodeGenConfig::default();
    options.generate_views = false;
    options.generate_json = true;
    options.generate_with_setters = false;
    options.emit_register_fn = false;
    options.preserve_unknown_fields = false;
    options.file_per_package = true;
    options
}

/// Removes what nobody uses: documentation of the generator and entries of a registry of types. Also
/// makes JSON contain each field without presence.
fn reduced(mut code: File) -> File {
    code.items.retain(|item| !is_unused(item));
    Reduction.visit_file_mut(&mut code);
    code
}

/// Returns whether nobody uses a generated item.
fn is_unused(item: &Item) -> bool {
    if let Item::Const(it) = item {
        return it.ident.to_string().ends_with("_JSON_ANY");
    }
    let Item::Impl(it) = item else { return false };
    match &it.trait_ {
        Some((_, name, _)) => {
            name.segments.last().is_some_and(|last| last.ident == "ProtoElemJson")
        }
        // The only inherent constant is the URL of the type, which `MessageName` has too.
        None => it.items.iter().all(|inner| matches!(inner, ImplItem::Const(_))),
    }
}

/// Changes each attribute of the generated code.
struct Reduction;

impl VisitMut for Reduction {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        attributes.retain(|it| !it.path().is_ident("doc"));
        attributes.iter_mut().filter(|it| it.path().is_ident("serde")).for_each(keep_defaults);
    }
}

/// Makes JSON contain a field without presence, even if it is empty, zero or false: responses always
/// have their lists and totals (design §4). The generator has no option for this. A pass over each
/// response at run time would cost more than one predicate less.
fn keep_defaults(attribute: &mut Attribute) {
    let Meta::List(list) = &mut attribute.meta else { return };
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let parts = list.parse_args_with(parser).expect("serde's attribute is a list");
    let kept: Punctuated<Meta, Token![,]> =
        parts.into_iter().filter(|part| !omits_default(part)).collect();
    list.tokens = kept.into_token_stream();
}

/// Returns whether a part of serde's attribute omits a field that has its type's default. Fields
/// with presence have other predicates.
fn omits_default(part: &Meta) -> bool {
    let Meta::NameValue(pair) = part else { return false };
    let Expr::Lit(ExprLit { lit: Lit::Str(predicate), .. }) = &pair.value else { return false };
    let predicate = predicate.value();
    pair.path.is_ident("skip_serializing_if")
        && predicate.starts_with(OMITTING)
        && !predicate.ends_with(PRESENCE)
}

#[cfg(test)]
mod tests {
    use super::reduced;

    #[test]
    fn only_predicates_without_presence_are_removed() {
        let code = r#"
struct Message {
    #[doc = " Field 1: `a`"]
    #[serde(rename = "a", skip_serializing_if = "::buffa::json_helpers::skip_if::is_empty_vec", deserialize_with = "x")]
    a: Vec<String>,
    #[serde(rename = "b", skip_serializing_if = "::buffa::json_helpers::skip_if::is_unset_message_field")]
    b: MessageField<Other>,
    #[serde(rename = "c", skip_serializing_if = "::core::option::Option::is_none")]
    c: Option<String>,
}
"#;
        let expected = code.replace("    #[doc = \" Field 1: `a`\"]\n", "").replace(
            r#" skip_serializing_if = "::buffa::json_helpers::skip_if::is_empty_vec","#,
            "",
        );
        let [given, expected] =
            [code, &expected].map(|code| syn::parse_file(code).expect("it is Rust"));
        assert_eq!(prettyplease::unparse(&reduced(given)), prettyplease::unparse(&expected));
    }

    #[test]
    fn unused_items_are_removed() {
        let code = "const __A_JSON_ANY: u8 = 0;
impl A { pub const TYPE_URL: &'static str = \"\"; }
impl ::buffa::json_helpers::ProtoElemJson for A {}
impl ::buffa::Message for A {}
";
        let left = reduced(syn::parse_file(code).expect("it is Rust"));
        assert_eq!(prettyplease::unparse(&left), "impl ::buffa::Message for A {}\n");
    }
}
