//! Finds import circles: modules of one folder that need each other, directly or through others.
//! A circle can only be read, moved or tested as a whole.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::imports::{imports, used_names};
use super::tree::Tree;

/// Circles that remain, as a folder and the names of its modules, each with the reason.
const ALLOWED: &[Circle<'_>] = &[
    // Aggregates change each other in one transaction. For example, deleting a page deletes its
    // components, and most changes queue deliveries or cancel them in `outbox`, which reads the
    // recipients.
    (
        "crates/store/src",
        &[
            "channels",
            "components",
            "groups",
            "judge_states",
            "maintenances",
            "monitors",
            "outbox",
            "pages",
            "reports",
            "subscribers",
        ],
    ),
];

/// Path of a module below its crate's source folder, without `lib` and `main`.
type ModulePath = Vec<String>;

/// Modules of a crate, with the modules that each imports from.
struct CrateModules {
    /// Source folder of the crate.
    source: String,
    imports: BTreeMap<ModulePath, BTreeSet<ModulePath>>,
}

/// A folder and the names of its modules that form a circle, sorted.
type Circle<'a> = (&'a str, &'a [&'a str]);

/// Checks that no modules of one folder form a circle, except those that are allowed. An allowed
/// circle that does not exist is a finding too.
pub(super) fn circles(tree: &Tree) -> Vec<Finding> {
    circles_except(tree, ALLOWED)
}

fn circles_except(tree: &Tree, allowed: &[Circle<'_>]) -> Vec<Finding> {
    let crates = crates(tree);
    let mut remaining = allowed.to_vec();
    let mut findings = Vec::new();
    for modules in &crates {
        circles_below(modules, &[], &mut |place, circle, needs| {
            let is_same = |known: &Circle<'_>| *known == (place, circle);
            if !allowed.iter().any(is_same) {
                let (names, example) = (circle.join("`, `"), example(needs, circle));
                let message = format!("has an import circle of `{names}`; {example}");
                findings.push(Finding::file(place, message));
            }
            remaining.retain(|known| !is_same(known));
        });
    }
    findings.extend(remaining.into_iter().map(|(place, circle)| {
        let names = circle.join("`, `");
        Finding::file(place, format!("has no import circle of `{names}`; remove it from `ALLOWED`"))
    }));
    findings
}

fn crates(tree: &Tree) -> Vec<CrateModules> {
    let mut sources: BTreeMap<String, Vec<(ModulePath, String)>> = BTreeMap::new();
    for (file, views) in tree.rust() {
        let Some((folder, rest)) = file.path.split_once("/src/") else { continue };
        let product: Vec<&str> = views.product().map(|(_, line)| line).collect();
        let module = (module_path(rest), product.join("\n"));
        sources.entry(format!("{folder}/src")).or_default().push(module);
    }
    sources.into_iter().map(|(source, files)| CrateModules::new(source, &files)).collect()
}

fn module_path(file: &str) -> ModulePath {
    let path = file.trim_end_matches(".rs");
    let parts = path.split('/').filter(|part| !["lib", "main", "mod"].contains(part));
    parts.map(str::to_owned).collect()
}

impl CrateModules {
    fn new(source: String, files: &[(ModulePath, String)]) -> Self {
        let names = Names::new(files);
        let imports = files
            .iter()
            .filter(|(path, _)| !path.iter().any(|name| name == "tests"))
            .map(|(path, code)| {
                let named = imports(code, path).into_iter();
                (path.clone(), named.map(|it| names.module_of(it)).collect())
            })
            .collect();
        Self { source, imports }
    }

    /// Returns the modules of `folder` with the siblings that each needs.
    fn siblings(&self, folder: &[String]) -> Needs<'_> {
        let mut needs = Needs::new();
        let member = |path: &'_ ModulePath| path.len() > folder.len() && path.starts_with(folder);
        for (from, targets) in self.imports.iter().filter(|(from, _)| member(from)) {
            let from = from[folder.len()].as_str();
            let needed = needs.entry(from).or_default();
            let targets = targets.iter().filter(|to| member(to));
            needed.extend(targets.map(|to| to[folder.len()].as_str()).filter(|to| *to != from));
        }
        needs
    }
}

/// How many `use` items a name is followed through.
const FOLLOWED: usize = 8;

/// The names that each module of a crate brings in with `use`, with the paths that they stand for.
struct Names(BTreeMap<ModulePath, BTreeMap<String, Vec<String>>>);

impl Names {
    fn new(files: &[(ModulePath, String)]) -> Self {
        let known: BTreeSet<&ModulePath> = files.iter().map(|(path, _)| path).collect();
        let of = |(path, code): &(ModulePath, String)| {
            let is_child = |name: &str| {
                let child = [path.as_slice(), &[name.to_owned()]].concat();
                known.contains(&child)
            };
            (path.clone(), used_names(code, path, is_child).into_iter().collect())
        };
        Self(files.iter().map(of).collect())
    }

    /// Returns the module that owns the item at `path`, through re-exports.
    fn module_of(&self, mut path: Vec<String>) -> ModulePath {
        for _ in 0..FOLLOWED {
            let module = self.longest(&path);
            let Some(name) = path.get(module.len()) else { return module };
            let Some(target) = self.0.get(&module).and_then(|names| names.get(name)) else {
                return module;
            };
            path = [target, &path[module.len() + 1..]].concat();
        }
        self.longest(&path)
    }

    /// Returns the longest beginning of a path that is a module.
    fn longest(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        while !path.is_empty() && !self.0.contains_key(&path) {
            path.pop();
        }
        path
    }
}

/// Siblings that each module of a folder needs.
type Needs<'m> = BTreeMap<&'m str, BTreeSet<&'m str>>;

/// Calls `found` with the folder and the modules of each circle in `folder` and below.
fn circles_below(
    modules: &CrateModules,
    folder: &[String],
    found: &mut impl FnMut(&str, &[&str], &Needs<'_>),
) {
    let needs = modules.siblings(folder);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for name in needs.keys() {
        let circle: Vec<&str> = reach(&needs, name)
            .into_iter()
            .filter(|other| reach(&needs, other).contains(name))
            .collect();
        if circle.is_empty() || seen.contains(name) {
            continue;
        }
        seen.extend(&circle);
        let place = [std::slice::from_ref(&modules.source), folder].concat().join("/");
        found(&place, &circle, &needs);
    }
    for name in needs.keys() {
        let below = [folder, &[(*name).to_owned()]].concat();
        circles_below(modules, &below, found);
    }
}

/// Returns the modules that `from` needs, directly or through others, sorted.
fn reach<'m>(needs: &Needs<'m>, from: &str) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for next in needs.get(name).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

/// Names the imports of the circle, for people.
fn example(needs: &Needs<'_>, circle: &[&str]) -> String {
    let arrows = circle.iter().flat_map(|from| {
        let targets = needs.get(from).into_iter().flatten().filter(|to| circle.contains(to));
        targets.map(move |to| format!("{from} → {to}"))
    });
    arrows.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        found_except(files, &[])
    }

    fn found_except(files: &[(&str, &str)], allowed: &[Circle<'_>]) -> Vec<String> {
        circles_except(&Tree::from_files(files), allowed).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn allowed_circle_must_exist() {
        const FOLDER: &str = "crates/x/src";
        let circle = [
            ("crates/x/src/lib.rs", "mod a;\nmod b;\nmod c;"),
            ("crates/x/src/a.rs", "use crate::b::B;"),
            ("crates/x/src/b.rs", "use crate::a::A;"),
            ("crates/x/src/c.rs", ""),
        ];
        assert_eq!(found_except(&circle, &[(FOLDER, &["a", "b"])]), [""; 0]);
        assert_eq!(
            found_except(&circle, &[(FOLDER, &["a", "b", "c"])]),
            [
                "crates/x/src: has an import circle of `a`, `b`; a → b, b → a",
                "crates/x/src: has no import circle of `a`, `b`, `c`; remove it from `ALLOWED`",
            ]
        );
        assert_eq!(
            found_except(&circle[..2], &[(FOLDER, &["a", "b"])]),
            ["crates/x/src: has no import circle of `a`, `b`; remove it from `ALLOWED`"]
        );
    }

    #[test]
    fn modules_that_need_each_other_are_found() {
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\nmod c;"),
            ("crates/x/src/a.rs", "use crate::b::{B, inner::C};"),
            ("crates/x/src/b.rs", "fn f() { super::c::g() }"),
            ("crates/x/src/c.rs", "mod deep;"),
            ("crates/x/src/c/deep.rs", "use super::super::a;"),
        ]);
        let expected = "crates/x/src: has an import circle of `a`, `b`, `c`; a → b, b → c, c → a";
        assert_eq!(found, [expected]);
    }

    #[test]
    fn imports_through_the_parent_are_followed() {
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use b::B;\npub struct Own;"),
            ("crates/x/src/a.rs", "use crate::B;"),
            ("crates/x/src/b.rs", "use crate::a::A;\nuse crate::Own;"),
        ]);
        assert_eq!(found, ["crates/x/src: has an import circle of `a`, `b`; a → b, b → a"]);
    }

    #[test]
    fn renamed_and_nested_names_are_followed() {
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\npub(crate) use {\n    b::B as C\n};"),
            ("crates/x/src/a.rs", "use super::C;"),
            ("crates/x/src/b.rs", "mod part;\npub use part::B;"),
            ("crates/x/src/b/part.rs", "use crate::a::{self};"),
        ]);
        assert_eq!(found, ["crates/x/src: has an import circle of `a`, `b`; a → b, b → a"]);
    }

    #[test]
    fn parents_and_tests_make_no_circle() {
        let found = found(&[
            ("crates/x/src/lib.rs", "mod a;\nmod b;\npub use a::A;"),
            ("crates/x/src/a.rs", "mod part;\nuse self::part::Part;\nuse crate::b::B;"),
            ("crates/x/src/a/part.rs", "use super::A;"),
            ("crates/x/src/b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
