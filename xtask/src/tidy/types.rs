//! Keeps the map honest: a type name exists once per crate, the glossary explains the noun of each
//! public type, each of its entries exists in the code, and each `lib.rs` explains its modules.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::documents::glossary_entries;
use super::tree::{File, Tree};

/// Crates whose public types the glossary explains. The others are tools, or read these.
const EXPLAINED: [&str; 9] =
    ["rules", "domain", "probe", "store", "contract", "web", "pages", "documentation", "server"];
/// Nouns that every programmer knows, so that the glossary need not explain them.
const STANDARD: [&str; 5] = [
    // Language
    "action assessment batch block budget call cause change choice class config context count \
     decision destination detail disposition edit effect entry error failure field filter \
     format handle hash id impact index job kind layer mark metric name note number outcome \
     parameter part person point policy preference presence progress range reason record ref \
     resolution rule run section set setting shape share signal snapshot source stat state \
     status step subject sum summary trigger type usage validator value variant version view \
     visibility",
    // Network and web
    "account actor address admin announcement answer app audit auth body client comment doctor email \
     envelope header health hop host link location log lookup mail mapping method nameserver \
     backend backoff cache counters encoding future limiter network notifier origin password payload peer phone port proof proxies purpose redirect refusal rejection request \
     resource response retry root search secret server service tls transport trust url \
     webhook zone path pattern",
    // Database
    "bucket cursor database idempotency query row store wakeup write",
    // Time
    "age clock day downtime end frequency history hour interval month period phase recurrence \
     retention schedule span time timestamp turn uptime",
    // Vendors
    "ntfy opsgenie pagerduty provider telegram",
];
/// Names that end in no noun and read as a whole.
const PHRASES: [&str; 6] =
    ["ClearedBy", "ProbeSeen", "StatusFrom", "Strict", "Unreadable", "Whoami"];

/// A type at the top level of a product file.
struct TypeItem<'t> {
    file: &'t File,
    line: usize,
    name: &'t str,
    is_public: bool,
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

/// Checks that the noun of each public type has an entry in the glossary or is a standard term. A
/// participle names the outcome of an operation, such as `Revoked`.
pub(super) fn nouns(tree: &Tree) -> Vec<Finding> {
    let entries: BTreeSet<String> = glossary_entries(tree)
        .map(|entry| entry.split([' ', '-']).map(singular).collect::<Vec<_>>().join(" "))
        .collect();
    let is_known = |name: &str| {
        let words: Vec<String> = words(name).iter().map(|word| singular(word)).collect();
        let noun = words.last().map_or("", String::as_str);
        noun.ends_with("ed")
            || STANDARD.iter().any(|terms| terms.split(' ').any(|term| singular(term) == noun))
            || PHRASES.contains(&name)
            || (0..words.len()).any(|first| entries.contains(&words[first..].join(" ")))
    };
    types(tree)
        .filter(|item| item.is_public && EXPLAINED.contains(&crate_of(&item.file.path)))
        .filter(|item| !is_known(item.name))
        .map(|item| {
            let noun = words(item.name).pop().unwrap_or_default();
            let message = format!(
                "`{}`: `{noun}` is not in the glossary of ARCHITECTURE.md, and not a standard term",
                item.name
            );
            Finding::line(&item.file.path, item.line, message)
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
            let name = &rest[..end.unwrap_or(rest.len())];
            Some(TypeItem { file, line, name, is_public: code.starts_with("pub ") })
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
    fn unexplained_noun_of_public_type_is_found() {
        let map = "# A\n\n## Glossary\n\n- **latency series**: a.\n- **shard**: b.\n";
        let source = "pub struct Shards;\npub struct LatencySeries;\npub enum ShardErrors {}\n\
                      pub struct Revoked;\nstruct Hearer;\npub struct Hearer;\n";
        let files = [
            ("ARCHITECTURE.md", map),
            ("crates/store/src/a.rs", source),
            ("crates/cli/src/a.rs", "pub struct Hearer;\n"),
        ];
        let found = Tree::found(&files, nouns);
        assert_eq!(found, [("crates/store/src/a.rs".to_owned(), Some(6))]);
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
