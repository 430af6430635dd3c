//! Which of our crates may name which: the arrows of `ARCHITECTURE.md`, held against the manifests.

use super::Finding;
use super::tree::{Package, Tree};

/// Each crate and those it points to. What can be reached by arrows may be named directly.
const ARROWS: &[(&str, &[&str])] = &[
    ("rules", &[]),
    ("domain", &["rules"]),
    ("contract", &["rules"]),
    ("probe", &["domain"]),
    ("store", &["domain"]),
    ("server", &["contract", "probe", "store", "domain"]),
    ("cli", &["contract", "server", "probe"]),
    ("terraform-plugin", &[]),
    ("provider", &["contract", "terraform-plugin"]),
    ("testkit", &["server", "contract", "cli"]),
    ("hot-paths", &["contract", "store"]),
    ("xtask", &["contract"]),
];
/// The crate that only tests may name.
const FOR_TESTS: &str = "testkit";

/// Every crate has its arrows, and names only what they reach; tests may name the test kit too.
pub(super) fn follow(tree: &Tree) -> Vec<Finding> {
    tree.packages.iter().flat_map(against).collect()
}

fn against(package: &Package) -> Vec<Finding> {
    let name = package.name.as_str();
    let manifest = manifest_of(name);
    if !ARROWS.iter().any(|(from, _)| *from == name) {
        let message =
            format!("`{name}` has no arrows yet: say what it may name in xtask/src/tidy/arrows.rs");
        return vec![Finding::file(&manifest, message)];
    }
    let reached = reach(name);
    let wrong = package.needs.iter().filter(|need| {
        let as_test = need.for_tests && need.name == FOR_TESTS;
        !as_test && !reached.contains(&need.name.as_str())
    });
    wrong
        .map(|need| {
            let message = format!("no arrow leads from `{name}` to `{}`", need.name);
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
        let arrows = ARROWS.iter().filter(|(from, _)| *from == name).flat_map(|(_, to)| *to);
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
        follow(&Tree { packages, ..Tree::default() }).len()
    }

    #[test]
    fn what_arrows_reach_may_be_named() {
        for (from, to) in
            [("provider", "rules"), ("cli", "store"), ("server", "rules"), ("testkit", "cli")]
        {
            assert_eq!(naming(from, to, false), 0, "{from} → {to}");
        }
    }

    #[test]
    fn what_no_arrow_reaches_may_not() {
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
    fn only_tests_name_the_test_kit() {
        assert_eq!(naming("server", "testkit", true), 0);
        assert_eq!(naming("server", "testkit", false), 1);
    }

    #[test]
    fn a_new_crate_needs_its_arrows() {
        assert_eq!(naming("utils", "rules", false), 1);
    }
}
