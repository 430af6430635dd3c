//! Compares the dependencies between our crates in the manifests with the allowed ones in
//! `ARCHITECTURE.md`.

use super::Finding;
use super::tree::{Package, Tree};

/// Each crate with its allowed direct dependencies. A crate may also name their dependencies.
const ALLOWED: &[(&str, &[&str])] = &[
    ("rules", &[]),
    ("domain", &["rules"]),
    ("proto", &[]),
    ("contract", &["rules", "proto"]),
    ("configuration", &["rules"]),
    ("probe", &["domain"]),
    ("remote", &["contract", "probe"]),
    ("store", &["domain"]),
    ("web", &["rules"]),
    ("web-assets", &[]),
    ("pages", &["domain", "probe", "store", "web", "web-assets"]),
    ("documentation", &["web", "web-assets"]),
    ("dashboard", &["contract", "domain", "store", "web", "web-assets"]),
    ("mcp", &["contract"]),
    (
        "server",
        &["contract", "dashboard", "documentation", "mcp", "pages", "probe", "remote", "store"],
    ),
    ("import", &["configuration"]),
    ("cli", &["configuration", "contract", "import", "server", "probe", "remote"]),
    ("terraform-plugin", &[]),
    ("provider", &["contract", "terraform-plugin"]),
    ("testkit", &["server", "contract", "cli"]),
    ("hot-paths", &["contract", "store"]),
    ("xtask", &["contract"]),
];
/// Crate that only tests may name.
const FOR_TESTS: &str = "testkit";

/// Checks that every crate is listed and names only allowed crates. Tests may also name the test
/// kit.
pub(super) fn check_dependencies(tree: &Tree) -> Vec<Finding> {
    tree.packages.iter().flat_map(against).collect()
}

fn against(package: &Package) -> Vec<Finding> {
    let name = package.name.as_str();
    let manifest = manifest_of(name);
    if !ALLOWED.iter().any(|(from, _)| *from == name) {
        let message = format!(
            "`{name}` has no allowed dependencies yet; list them in xtask/src/tidy/dependencies.rs"
        );
        return vec![Finding::file(&manifest, message)];
    }
    let reached = reach(name);
    let wrong = package.needs.iter().filter(|need| {
        let as_test = need.for_tests && need.name == FOR_TESTS;
        !as_test && !reached.contains(&need.name.as_str())
    });
    wrong
        .map(|need| {
            let message = format!("`{name}` may not depend on `{}`", need.name);
            Finding::file(&manifest, message)
        })
        .collect()
}

fn manifest_of(name: &str) -> String {
    if name == "xtask" { "xtask/Cargo.toml".into() } else { format!("crates/{name}/Cargo.toml") }
}

fn reach(from: &str) -> Vec<&'static str> {
    let mut reached = Vec::new();
    let mut open: Vec<&str> = vec![from];
    while let Some(name) = open.pop() {
        let arrows = ALLOWED.iter().filter(|(from, _)| *from == name).flat_map(|(_, to)| *to);
        for next in arrows {
            if !reached.contains(next) {
                reached.push(*next);
                open.push(next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::tree::Need;
    use super::*;

    fn naming(from: &str, to: &str, for_tests: bool) -> usize {
        let needs = vec![Need { name: to.into(), for_tests }];
        let packages = vec![Package { name: from.into(), needs }];
        check_dependencies(&Tree { packages, ..Tree::default() }).len()
    }

    #[test]
    fn reachable_crates_may_be_named() {
        for (from, to) in
            [("provider", "rules"), ("cli", "store"), ("server", "rules"), ("testkit", "cli")]
        {
            assert_eq!(naming(from, to, false), 0, "{from} → {to}");
        }
    }

    #[test]
    fn unreachable_crates_may_not_be_named() {
        let pairs = [
            ("provider", "server"),
            ("provider", "store"),
            ("rules", "domain"),
            ("domain", "contract"),
        ];
        for (from, to) in
            pairs.into_iter().chain([("probe", "store"), ("testkit", "terraform-plugin")])
        {
            assert_eq!(naming(from, to, false), 1, "{from} → {to}");
            assert_eq!(naming(from, to, true), 1, "{from} → {to} in tests");
        }
    }

    #[test]
    fn only_tests_may_name_the_test_kit() {
        assert_eq!(naming("server", "testkit", true), 0);
        assert_eq!(naming("server", "testkit", false), 1);
    }

    #[test]
    fn unlisted_crate_is_reported() {
        assert_eq!(naming("utils", "rules", false), 1);
    }
}
