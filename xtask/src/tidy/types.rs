//! Keeps the map honest: a type name exists once per crate, each entry of the glossary exists in the code, and each
//! `lib.rs` explains its modules.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::documents::glossary_entries;
use super::tree::{File, Tree};

/// A type at the top level of a product file.
struct TypeItem<'t> {
    file: &'t File,
    line: usize,
    name: &'t str,
}

/// Checks that no two types of a crate have the same name.
pub(super) fn unique(tree: &Tree) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for item in types(tree) {
        let key = (crate_of(&item.file.path), item.name);
        if let Some(other) = first.get(&key) {
            let message = format!("`{}` is also a type of `{other}`: rename one", item.name);
            findings.push(Finding::line(&item.file.path, item.line, message));
        } else {
            first.insert(key, &item.file.path);
        }
    }
    findings
}

/// Checks that each noun of the glossary is part of the name of a type or a file.
pub(super) fn entries(tree: &Tree) -> Vec<Finding> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    for (_, views) in tree.rust() {
        let names = views.code.split(|letter: char| !letter.is_alphanumeric());
        let types = names.filter(|name| name.starts_with(char::is_uppercase));
        used.extend(types.flat_map(words).map(|word| singular(&word)));
    }
    for (file, _) in tree.rust() {
        let names = file.path.split(['/', '.', '_']);
        used.extend(names.map(singular));
    }
    let entries = glossary_entries(tree)
        .filter(|entry| !entry.split([' ', '-']).all(|word| used.contains(&singular(word))));
    entries
        .map(|entry| {
            let message =
                format!("the glossary has `{entry}`, which no type or module is named after");
            Finding::file("ARCHITECTURE.md", message)
        })
        .collect()
}

/// Checks that the text at the top of each `lib.rs` names all modules of its crate.
pub(super) fn modules_explained(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, views) in tree.rust().filter(|(file, _)| file.path.ends_with("/src/lib.rs")) {
        let text: String = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
        for (line, code) in views.product() {
            let name = without_visibility(code).strip_prefix("mod ");
            let Some(name) = name.and_then(|rest| rest.strip_suffix(';')) else { continue };
            if !text.contains(&format!("`{name}`")) {
                let message = format!("the text at the top does not explain the module `{name}`");
                findings.push(Finding::line(&file.path, line, message));
            }
        }
    }
    findings
}

/// Returns the types of the product's crates. Tests choose their own names.
fn types(tree: &Tree) -> impl Iterator<Item = TypeItem<'_>> {
    let product = tree.rust().filter(|(file, _)| {
        file.path.starts_with("crates/") && file.path.contains("/src/") && !file.is_test()
    });
    product.flat_map(|(file, views)| {
        views.product().filter_map(move |(line, code)| {
            let rest = without_visibility(code);
            let kinds = ["struct ", "enum ", "trait ", "type ", "union "];
            let rest = kinds.iter().find_map(|kind| rest.strip_prefix(kind))?;
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
            Some(TypeItem { file, line, name: &rest[..end.unwrap_or(rest.len())] })
        })
    })
}

/// Returns an item without its visibility.
fn without_visibility(code: &str) -> &str {
    if let Some(rest) = code.strip_prefix("pub ") {
        return rest;
    }
    let rest = code.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    rest.map_or(code, |(_, item)| item)
}

fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

/// Splits a name in camel case into words in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        if letter.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Returns the singular of a noun, as far as our nouns need it.
fn singular(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some(stem) = word.strip_suffix("ies") {
        return format!("{stem}y");
    }
    let stem = word.strip_suffix('s').filter(|stem| !stem.ends_with(['s', 'u']));
    stem.map_or(word.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_type_of_a_name_is_found() {
        let files = [
            ("crates/a/src/a.rs", "pub struct Place;\nimpl X { type Place = u8; }\n"),
            ("crates/a/src/b.rs", "enum Place {}\n#[cfg(test)]\nmod tests {\nstruct Place;\n}\n"),
            ("crates/b/src/a.rs", "struct Place;\n"),
        ];
        let found = Tree::found(&files, unique);
        assert_eq!(found, [("crates/a/src/b.rs".to_owned(), Some(1))]);
    }

    #[test]
    fn glossary_entry_without_code_is_found() {
        let map = "# A\n\n## Glossary\n\n- **monitor**: a.\n- **shard**: b.\n";
        let files = [("ARCHITECTURE.md", map), ("crates/a/src/a.rs", "pub struct HttpMonitors;\n")];
        let found = entries(&Tree::from_files(&files));
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("`shard`"), "{found:?}");
    }

    #[test]
    fn unexplained_modules_are_found() {
        let source = "//! Explains `a`.\n\nmod a;\npub mod b;\n";
        let found = Tree::found(&[("crates/x/src/lib.rs", source)], modules_explained);
        assert_eq!(found, [("crates/x/src/lib.rs".to_owned(), Some(4))]);
    }

    #[test]
    fn names_split_into_words() {
        assert_eq!(words("HttpMonitorDraft"), ["http", "monitor", "draft"]);
        assert_eq!(singular("histories"), "history");
        assert_eq!(singular("status"), "status");
    }
}
