//! Checks code that belongs in one place: limits in the tables of `rules`, SQL in `store`, access
//! to the environment in `boot`, routes in lists.

use super::Finding;
use super::code::has_word;
use super::tree::{File, Tree};

/// Crates that read the tables, so they contain no numbers of the specification.
const READERS: [&str; 4] = ["contract", "server", "cli", "provider"];
/// Limits of the specification (§8.1) whose numbers have no other meaning.
const LIMITS: [&str; 5] = ["2048", "120000", "120_000", "45000", "45_000"];
/// A limit (of descriptions) that is also a size. It only counts next to a word that identifies it.
const KILO: &str = "1024";

/// Finds numbers of the specification outside of the tables. Sizes such as `2048 * 1024` do not
/// count.
pub(super) fn limits(tree: &Tree) -> Vec<Finding> {
    let reads = |file: &File| {
        READERS.iter().any(|name| file.path.starts_with(&format!("crates/{name}/src/")))
    };
    let mut findings = Vec::new();
    for (file, views) in tree.rust().filter(|(file, _)| reads(file) && !file.is_test()) {
        for (at, line) in views.product().filter(|(_, line)| is_limit(line)) {
            let message =
                "contains a limit of the specification; read it from the tables of `rules`";
            findings.push(Finding::line(&file.path, at, format!("{message} ({})", line.trim())));
        }
    }
    findings
}

fn is_limit(line: &str) -> bool {
    let size = line.contains(" * ") || line.contains("<<");
    let speaks_of_text =
        ["description", "DESCRIPTION", "chars"].iter().any(|word| line.contains(word));
    !size && LIMITS.iter().any(|limit| has_word(line, limit))
        || !size && speaks_of_text && has_word(line, KILO)
}

/// Libraries for SQL.
const SPEAK_SQL: [&str; 2] = ["sqlx", "rusqlite"];

/// Places that may use SQL: the store, the index of the documentation's search, which is a database in
/// memory without data of workspaces, and the import, which reads the databases of other programs.
const USE_SQL: [&str; 4] = [
    "crates/store/",
    "crates/documentation/Cargo.toml",
    "crates/documentation/src/search/index.rs",
    "crates/import/",
];

/// Checks that only `store`, the search index and the import name libraries for SQL, in code and in manifests.
pub(super) fn sql(tree: &Tree) -> Vec<Finding> {
    let outside = |file: &File| !USE_SQL.iter().any(|place| file.path.starts_with(place));
    let mut findings = Vec::new();
    for (file, views) in tree.rust().filter(|(file, _)| outside(file)) {
        let names = |line: &str| SPEAK_SQL.iter().any(|library| has_word(line, library));
        let named = views.code.lines().position(names);
        findings.extend(
            named.map(|at| Finding::line(&file.path, at + 1, "SQL belongs to `crates/store`")),
        );
    }
    let manifest = |file: &&File| file.path.ends_with("/Cargo.toml") && outside(file);
    for file in tree.files.iter().filter(manifest) {
        let names = |line: &str| SPEAK_SQL.iter().any(|library| line.starts_with(library));
        let named = file.text.lines().position(names);
        findings.extend(
            named.map(|at| Finding::line(&file.path, at + 1, "SQL belongs to `crates/store`")),
        );
    }
    findings
}

/// Files that may read the environment: the server's boot, and programs that are not the product.
const READ_THE_ENVIRONMENT: [&str; 8] = [
    "crates/server/src/boot",
    "crates/cli/src/main.rs",
    "crates/provider/src/main.rs",
    "crates/terraform-plugin/src/serve/environment.rs",
    "crates/testkit/",
    "crates/mcp/build.rs",
    "crates/web-assets/",
    "xtask/",
];

/// Checks that the environment is read once, at the start.
pub(super) fn environment(tree: &Tree) -> Vec<Finding> {
    let allowed =
        |file: &File| READ_THE_ENVIRONMENT.iter().any(|start| file.path.starts_with(start));
    let reads = |line: &str| {
        ["var", "vars", "var_os", "vars_os", "set_var", "remove_var"]
            .iter()
            .any(|name| has_word(line, &format!("env::{name}")))
            || line.trim_start().starts_with("use std::env")
    };
    let mut findings = Vec::new();
    for (file, views) in tree.rust().filter(|(file, _)| !allowed(file) && !file.is_test()) {
        for (at, _) in views.code.lines().enumerate().filter(|(_, line)| reads(line)) {
            let message =
                "only `crates/server/src/boot` may read the environment; pass the value instead";
            findings.push(Finding::line(&file.path, at + 1, message));
        }
    }
    findings
}

/// Router of the socket that only commands on the same machine reach.
const CONTROL_SOCKET: &str = "crates/server/src/control/socket.rs";

/// Checks that the server builds its routes from lists. Tests of hostile requests iterate over these
/// lists, so a route beside them would not be tested.
pub(super) fn routes(tree: &Tree) -> Vec<Finding> {
    let listed =
        |file: &File| file.path.starts_with("crates/server/src/") && file.path != CONTROL_SOCKET;
    let mut findings = Vec::new();
    for (file, views) in tree.rust().filter(|(file, _)| listed(file) && !file.is_test()) {
        for (at, _) in views.product().filter(|(_, line)| has_fixed_route(line)) {
            let message = "add the path to a list of routes, which `server::paths` returns";
            findings.push(Finding::line(&file.path, at, message));
        }
    }
    findings
}

/// Returns whether a line of code without texts adds a route with a text or a constant as its path.
fn has_fixed_route(line: &str) -> bool {
    let Some((_, arguments)) = line.split_once(".route(") else { return false };
    let path = arguments.split(',').next().unwrap_or_default().trim();
    path.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_as_a_number_is_found() {
        let bad = "//! A.\nfn a() {\n    url.len() > 2048;\n    description.len() > 1024;\n}\n";
        let found = Tree::found(&[("crates/server/src/a.rs", bad)], limits);
        let lines: Vec<_> = found.into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, [Some(3), Some(4)]);
        for line in ["timeout.unwrap_or(45_000)", "clamp(0, 120000)", "chars().count() <= 1024"] {
            assert_eq!(
                Tree::found(&[("crates/contract/src/a.rs", line)], limits).len(),
                1,
                "{line}"
            );
        }
    }

    #[test]
    fn sizes_comments_texts_and_tests_are_ignored() {
        let fine = "//! Up to 2048.\nconst PAGE: usize = 2048 * 1024;\nlet buffer = [0; 1024];\n\
                    let text = \"2048\";\n#[cfg(test)]\nmod tests {\n    assert(2048);\n}\n";
        let files = [
            ("crates/server/src/a.rs", fine),
            ("crates/server/tests/it/a.rs", "2048"),
            ("crates/rules/src/a.rs", "2048"),
        ];
        assert_eq!(Tree::found(&files, limits), []);
    }

    #[test]
    fn sql_outside_of_store_is_found() {
        let files = [
            ("crates/store/src/a.rs", "use sqlx::query;"),
            ("crates/server/src/a.rs", "// sqlx is elsewhere\nlet q = sqlx::query();"),
            ("crates/server/src/b.rs", "use rusqlite::Connection;"),
            ("crates/server/Cargo.toml", "[dependencies]\nsqlx.workspace = true\n"),
            ("Cargo.toml", "sqlx = \"1\"\n"),
        ];
        let found = Tree::found(&files, sql);
        let expected = [
            ("crates/server/src/a.rs".into(), Some(2)),
            ("crates/server/src/b.rs".into(), Some(1)),
            ("crates/server/Cargo.toml".into(), Some(2)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn route_outside_of_a_list_is_found() {
        let code = "//! A.\nfn a() {\n    router.route(\"/a\", get(a));\n    router.route(BASE, get(a));\n    \
                    router.route(path, get(a));\n    page.route();\n    router.route(\n}\n";
        let files =
            [("crates/server/src/a.rs", code), (CONTROL_SOCKET, code), ("xtask/src/a.rs", code)];
        let found = Tree::found(&files, routes);
        let lines: Vec<_> = found.into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, [Some(3), Some(4), Some(7)]);
    }

    #[test]
    fn environment_access_outside_boot_is_found() {
        let reads = "//! A.\nlet home = std::env::var(\"HOME\");";
        let files = [
            ("crates/server/src/boot.rs", reads),
            ("crates/server/src/boot/settings.rs", reads),
            ("crates/server/src/rpc/mod.rs", reads),
            ("crates/probe/src/lib.rs", "use std::env;"),
            ("crates/store/src/lib.rs", "const VERSION: &str = env!(\"CARGO_PKG_VERSION\");"),
        ];
        let found = Tree::found(&files, environment);
        let expected = [
            ("crates/server/src/rpc/mod.rs".into(), Some(2)),
            ("crates/probe/src/lib.rs".into(), Some(1)),
        ];
        assert_eq!(found, expected);
    }
}
