//! Compares documents with the repository: paths and tests that they name exist, the map names
//! every crate and stage, and the glossary contains every noun.

use super::Finding;
use super::modules::{STAGED, stages_in};
use super::tree::{File, Tree};

/// Path of the architecture map.
const MAP: &str = "ARCHITECTURE.md";
/// Path of the list of gaps in the specification, with the tests of our choices.
const GAPS: &str = "docs/spec-gaps.md";
/// Limits of the service. The comment of each cites its source.
const LIMITS: &str = "crates/rules/src/limits.rs";
/// Heading of the limits in [`GAPS`] that the specification does not have.
const BEYOND: &str = "\n## Limits beyond the specification\n";
/// Nouns that the glossary must contain. A new noun needs an entry here and there.
const NOUNS: [&str; 28] = [
    "monitor",
    "check",
    "attempt",
    "observation",
    "result",
    "verdict",
    "incident",
    "event",
    "channel",
    "message",
    "delivery",
    "page",
    "scenario",
    "report",
    "update",
    "document",
    "domain",
    "certificate",
    "subscriber",
    "recipient",
    "component",
    "group",
    "region",
    "probe",
    "workspace",
    "key",
    "scope",
    "caller",
];
/// Extensions that identify a word without a folder as a file name.
const ENDINGS: [&str; 9] =
    [".rs", ".md", ".toml", ".proto", ".yaml", ".json", ".ts", ".sql", ".lock"];
/// File names that denote a kind of file and not one of ours.
const NOT_OURS: [&str; 4] = ["aloft.toml", "aloft.yaml", "build.rs", "values.json"];

/// Checks that paths between back-ticks and relative links exist.
pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in documents(tree) {
        for (at, line) in prose(document) {
            let named = spans(line).into_iter().filter(|span| is_path(tree, span));
            let wrong = named.flat_map(expand).filter(|path| !exists(tree, document, path));
            let links = links(line).into_iter().map(str::to_owned);
            let dead = links.filter(|link| !tree.has(&beside(document, link)));
            for path in wrong.chain(dead) {
                findings.push(Finding::line(
                    &document.path,
                    at,
                    format!("`{path}` does not exist"),
                ));
            }
        }
    }
    findings
}

/// Checks that `path/to/file.rs::a_test` names a function of that file.
pub(super) fn tests(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in documents(tree) {
        for (at, line) in prose(document) {
            let named = spans(line).into_iter().filter(|span| !span.contains('<'));
            let named = named.filter_map(|span| span.split_once(".rs::"));
            for (path, name) in named {
                let path = format!("{path}.rs");
                let there =
                    tree.file(&path).is_some_and(|file| file.text.contains(&format!("fn {name}(")));
                if !there {
                    let message = format!("`{name}` not found in `{path}`");
                    findings.push(Finding::line(&document.path, at, message));
                }
            }
        }
    }
    findings
}

/// Checks that each gap of the specification names a test, or is not in this release.
pub(super) fn gaps(tree: &Tree) -> Vec<Finding> {
    let text = tree.file(GAPS).map_or("", |file| file.text.as_str());
    let rows = text.lines().enumerate().filter(|(_, line)| line.starts_with("| §"));
    let open = rows.filter(|(_, line)| {
        let held_by = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        held_by.trim().is_empty() && !line.to_lowercase().contains("not in this release")
    });
    open.map(|(at, _)| Finding::line(GAPS, at + 1, "names no test")).collect()
}

/// Checks that the list of gaps names every limit that does not come from the specification, and no
/// other.
pub(super) fn limits(tree: &Tree) -> Vec<Finding> {
    let text = tree.file(GAPS).map_or("", |file| file.text.as_str());
    let section = text.split_once(BEYOND).map_or("", |(_, section)| section);
    let section = section.split_once("\n## ").map_or(section, |(own, _)| own);
    let is_constant = |span: &&str| {
        span.contains('_') && span.chars().all(|c| c.is_ascii_uppercase() || c == '_')
    };
    let named: Vec<&str> = section.lines().flat_map(spans).filter(is_constant).collect();
    let source = tree.file(LIMITS).map_or("", |file| file.text.as_str());
    let own = limits_beyond_specification(source);
    let missing = own.iter().filter(|limit| !named.contains(limit));
    let missing = missing.map(|limit| format!("does not name the limit `{limit}`"));
    let unknown = named.iter().filter(|limit| !own.contains(limit));
    let unknown = unknown.map(|limit| format!("`{limit}` is not a limit beyond the specification"));
    missing.chain(unknown).map(|message| Finding::file(GAPS, message)).collect()
}

/// Returns the constants whose comment does not cite the specification, as in `(§8.1)`.
fn limits_beyond_specification(source: &str) -> Vec<&str> {
    let mut limits = Vec::new();
    let mut is_specified = false;
    for line in source.lines() {
        if let Some(constant) = line.strip_prefix("pub const ") {
            let name = constant.split(':').next().filter(|_| !is_specified);
            limits.extend(name);
        }
        is_specified = line.starts_with("///") && (is_specified || line.contains("(§"));
    }
    limits
}

/// Checks that a `README.md` in a folder of documents lists all of them.
pub(super) fn listed(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in documents(tree) {
        let folder = index.path.strip_suffix("README.md").unwrap_or_default();
        if folder.is_empty() {
            continue;
        }
        let names = tree.files.iter().filter_map(|file| file.path.strip_prefix(folder));
        let pages = names.filter(|name| !name.contains('/') && *name != "README.md");
        for name in pages.filter(|name| !index.text.contains(&format!("({name})"))) {
            findings.push(Finding::file(&index.path, format!("does not list `{name}`")));
        }
    }
    findings
}

/// Checks that the map names every crate by its folder, and every stage.
pub(super) fn map(tree: &Tree) -> Vec<Finding> {
    let Some(map) = tree.file(MAP) else {
        return vec![Finding::file(MAP, "the architecture map is missing")];
    };
    let crates = tree.packages.iter().map(|package| match package.name.as_str() {
        "xtask" => "`xtask/`".to_owned(),
        name => format!("`crates/{name}/`"),
    });
    let stages = STAGED.iter().flat_map(|folder| stages_in(tree, folder));
    let stages = stages.map(|stage| format!("**{stage}**"));
    let missing = crates.chain(stages).filter(|name| !map.text.contains(name.as_str()));
    missing.map(|name| Finding::file(MAP, format!("does not name {name}"))).collect()
}

/// Checks that every noun has its line: `- **noun**: what it is`.
pub(super) fn glossary(tree: &Tree) -> Vec<Finding> {
    let glossary = glossary_text(tree);
    let has = |noun: &&str| glossary.contains(&format!("\n- **{noun}**: "));
    let missing = NOUNS.iter().filter(|noun| !has(noun));
    missing
        .map(|noun| Finding::file(MAP, format!("the glossary has no entry for `{noun}`")))
        .collect()
}

/// Returns the nouns of the glossary.
pub(super) fn glossary_entries(tree: &Tree) -> impl Iterator<Item = &str> {
    let lines = glossary_text(tree).lines().filter_map(|line| line.strip_prefix("- **"));
    lines.filter_map(|line| line.split_once("**")).map(|(noun, _)| noun)
}

fn glossary_text(tree: &Tree) -> &str {
    let text = tree.file(MAP).map_or("", |map| map.text.as_str());
    let glossary = text.split_once("\n## Glossary").map_or("", |(_, rest)| rest);
    glossary.split_once("\n## ").map_or(glossary, |(own, _)| own)
}

fn documents(tree: &Tree) -> impl Iterator<Item = &File> {
    let top = ["README.md", "CONTRIBUTING.md", MAP];
    tree.files.iter().filter(move |file| {
        top.contains(&file.path.as_str()) || file.path.starts_with("docs/") && file.ending() == "md"
    })
}

/// Returns the lines outside of fenced blocks, numbered from one.
fn prose(document: &File) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in document.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// Returns the texts between back-ticks.
fn spans(line: &str) -> Vec<&str> {
    line.split('`').skip(1).step_by(2).collect()
}

/// Returns the targets of links into the repository.
fn links(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let inside = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    inside.filter_map(|target| target.split('#').next()).collect()
}

/// Returns whether a text is a path in the repository, and not a URL, a type or a command.
fn is_path(tree: &Tree, span: &str) -> bool {
    let strange = |letter: char| letter.is_whitespace() || "()=\"'".contains(letter);
    if span.contains("::")
        || span.contains("://")
        || span.starts_with('/')
        || span.contains(strange)
    {
        return false;
    }
    let first = span.split('/').next().unwrap_or_default();
    if span.contains('/') {
        return FOLDERS.contains(&first) || tree.has(first);
    }
    ENDINGS.iter().any(|ending| span.len() > ending.len() && span.ends_with(ending))
}

/// Top-level folders, even if a document names them before they exist.
const FOLDERS: [&str; 7] = ["crates", "docs", "proto", "xtask", "clients", ".ci", ".cargo"];

/// Expands `a/{b,c}/d` to two paths. Cuts a path at a placeholder (`<kind>`, `*`, `…`).
fn expand(span: &str) -> Vec<String> {
    if let Some((before, rest)) = span.split_once('{')
        && let Some((choices, after)) = rest.split_once('}')
    {
        let each = choices.split(',').map(|choice| format!("{before}{}{after}", choice.trim()));
        return each.flat_map(|path| expand(&path)).collect();
    }
    let known = span.split(['<', '*', '…']).next().unwrap_or(span);
    let folder = if known.len() < span.len() {
        known.rsplit_once('/').map_or("", |(folder, _)| folder)
    } else {
        known
    };
    if folder.is_empty() { Vec::new() } else { vec![folder.to_owned()] }
}

/// Returns whether a path exists from the top, next to the document, or, for a file name, anywhere.
fn exists(tree: &Tree, document: &File, path: &str) -> bool {
    let anywhere = || tree.files.iter().any(|file| file.path.ends_with(&format!("/{path}")));
    let bare = !path.contains('/') && anywhere();
    NOT_OURS.contains(&path) || tree.has(path) || tree.has(&beside(document, path)) || bare
}

/// Converts a path relative to the document to one from the top.
fn beside(document: &File, path: &str) -> String {
    let mut parts: Vec<&str> = document.path.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::tree::Package;
    use super::*;

    const CODE: (&str, &str) = ("crates/rules/src/shape.rs", "//! A.\nfn texts_are_counted() {}\n");

    fn lines(text: &str, check: fn(&Tree) -> Vec<Finding>) -> Vec<Option<usize>> {
        let found = Tree::found(&[("docs/recipes/a.md", text), ("docs/b.md", ""), CODE], check);
        found.into_iter().map(|(_, line)| line).collect()
    }

    #[test]
    fn missing_path_is_found() {
        let text = "`crates/rules/src/shape.rs`\n`crates/rules/src/gone.rs`\n`crates/rules/src/{shape,gone}.rs`\n\
                    `gone.rs`\n`shape.rs`\n[b](../b.md) [c](c.md)\n`docs/decisions/`\n";
        assert_eq!(lines(text, paths), [Some(2), Some(3), Some(4), Some(6), Some(7)]);
    }

    #[test]
    fn only_plain_paths_are_checked() {
        let text = "`/v1/whoami` `rules::Shape` `cargo xtask test` `application/json` `https://a.b/c.md`\n\
                    `crates/rules/src/<kind>/` `crates/*`\n```\n`crates/gone`\n```\n[x](https://a.b)\n";
        assert_eq!(lines(text, paths), []);
    }

    #[test]
    fn missing_test_is_found() {
        let text = "`crates/rules/src/shape.rs::texts_are_counted`\n`crates/rules/src/shape.rs::texts`\n\
                    `crates/gone.rs::texts_are_counted`\n";
        assert_eq!(lines(text, tests), [Some(2), Some(3)]);
    }

    #[test]
    fn gap_without_a_test_is_found() {
        let rows = "| Where | Held by |\n| §1 | A | `a.rs::b` |\n| §2 | A | |\n| §3 | Not in this release. | |\n";
        assert_eq!(Tree::found(&[(GAPS, rows)], gaps), [(GAPS.to_owned(), Some(3))]);
    }

    #[test]
    fn limits_and_their_list_are_compared() {
        let source = "/// Length (§8.1):\n/// text.\npub const NAME_MAX: u32 = 1;\n\
                      /// Weight (ours).\npub const PLAN_WEIGHT_MAX: u32 = 1;\n\
                      /// Pause (design §5).\npub const FIRST_PAUSE: u32 = 1;\n";
        let list = "`NAME_MAX`\n\n## Limits beyond the specification\n\nPause `FIRST_PAUSE`,\n\
                    `NAME_MAX`, `OLD_MAX` and `ALOFT`.\n\n## More\n\n`PLAN_WEIGHT_MAX`\n";
        let tree = Tree::from_files(&[(LIMITS, source), (GAPS, list)]);
        let found: Vec<_> = limits(&tree).into_iter().map(|finding| finding.message).collect();
        let expected = [
            "does not name the limit `PLAN_WEIGHT_MAX`",
            "`NAME_MAX` is not a limit beyond the specification",
            "`OLD_MAX` is not a limit beyond the specification",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn page_missing_in_index_is_found() {
        let index = ("docs/decisions/README.md", "[one](0001-one.md)");
        let pages = [index, ("docs/decisions/0001-one.md", ""), ("docs/decisions/0002-two.md", "")];
        let found: Vec<_> =
            listed(&Tree::from_files(&pages)).into_iter().map(|f| f.message).collect();
        assert_eq!(found, ["does not list `0002-two.md`"]);
    }

    #[test]
    fn crate_or_stage_missing_in_map_is_found() {
        let mut tree = Tree::from_files(&[
            (MAP, "`crates/rules/` and **check**"),
            ("crates/domain/src/judge.rs", ""),
        ]);
        let package = |name: &str| Package { name: name.into(), needs: Vec::new() };
        tree.packages = vec![package("rules"), package("domain"), package("xtask")];
        let found: Vec<String> = map(&tree).into_iter().map(|finding| finding.message).collect();
        assert_eq!(
            found,
            ["does not name `crates/domain/`", "does not name `xtask/`", "does not name **judge**"]
        );
    }

    #[test]
    fn noun_missing_in_glossary_is_found() {
        let all = NOUNS.map(|noun| format!("- **{noun}**: what it is\n")).concat();
        let full = format!("# Map\n\n## Glossary\n{all}\n## Next\n");
        assert_eq!(Tree::found(&[(MAP, &full)], glossary), []);
        let less = full.replace("- **verdict**: what it is\n", "");
        assert_eq!(Tree::found(&[(MAP, &less)], glossary).len(), 1);
        let elsewhere = format!("{less}- **verdict**: after the glossary\n");
        assert_eq!(Tree::found(&[(MAP, &elsewhere)], glossary).len(), 1);
    }
}
