//! The provider's documentation: each schema has a page and an example, each argument a sentence, and the pages
//! match the schemas. `cargo xtask provider docs` writes them.

#![expect(clippy::unwrap_used, reason = "helpers of tests, which clippy takes for the product's")]

use std::path::{Path, PathBuf};

use aloft_provider::ServiceProvider;
use terraform_plugin::Provider as _;
use terraform_plugin::docs::{Documentation, Files, examples};
use terraform_plugin::schema::Presence;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform")
}

fn all_examples() -> Files {
    examples(&root().join("examples")).unwrap()
}

fn documentation() -> Documentation {
    Documentation::generate("service", &ServiceProvider::default(), &all_examples())
}

/// Returns the name of a resource in the file name of its page.
fn short(name: &str) -> &str {
    name.strip_prefix("service_").unwrap_or(name)
}

#[test]
fn pages_match_the_schemas() {
    let outdated = documentation().outdated(&root()).unwrap();
    assert_eq!(outdated, [""; 0], "run `cargo xtask provider docs`");
}

#[test]
fn each_schema_has_a_page_and_an_example() {
    let documentation = documentation();
    let offered = ServiceProvider::default().catalog().described();
    let named = [
        ("resources", offered.resources.keys().collect::<Vec<_>>()),
        ("data-sources", offered.data_sources.keys().collect()),
        ("functions", offered.functions.keys().collect()),
        ("list-resources", offered.lists.keys().collect()),
        ("ephemeral-resources", offered.ephemerals.keys().collect()),
        ("actions", offered.actions.keys().collect()),
    ];
    let pages = named.iter().flat_map(|(folder, names)| {
        names.iter().map(move |name| format!("{folder}/{}.md", short(name)))
    });
    let mut pages: Vec<_> = pages.chain(["index.md".to_owned()]).collect();
    pages.sort();
    assert_eq!(documentation.pages.keys().cloned().collect::<Vec<_>>(), pages);
    for (path, page) in &documentation.pages {
        assert!(page.contains("## Example Usage\n\n```terraform\n"), "{path} has no example");
    }
    assert_eq!(documentation.missing, [""; 0]);
    assert_eq!(documentation.unused, [""; 0]);
}

#[test]
fn each_argument_has_a_sentence() {
    for (path, text) in documentation().pages {
        for line in text.lines().filter(|line| line.starts_with("- `")) {
            let (_, described) = line.split_once(") ").unwrap_or_else(|| panic!("{path}: {line}"));
            assert!(described.ends_with(['.', ')']), "{path}: {line}");
        }
    }
}

#[test]
fn import_examples_name_the_same_object() {
    let examples = all_examples();
    for (name, identity) in ServiceProvider::default().catalog().described().identities {
        let file = |file: &str| examples[&format!("resources/{name}/{file}")].as_str();
        let (_, command) = file("import.sh").trim().split_once("import ").unwrap();
        let (to, id) = command.split_once(' ').unwrap();
        assert!(file("resource.tf").contains(&to.replace('.', "\" \"")), "{name}: {to}");
        let by_id = format!("import {{\n  to = {to}\n  id = \"{id}\"\n}}\n");
        assert_eq!(file("import-by-string-id.tf"), by_id);
        // The last part of an ID is that of the object.
        let mut parts = id.rsplit('/');
        let by_identity = file("import-by-identity.tf");
        assert!(by_identity.contains(&format!("  to = {to}\n")), "{by_identity}");
        for attribute in identity.attributes.keys() {
            let part = parts.next().unwrap();
            let named = |line: &&str| line.split(" = ").next().map(str::trim) == Some(attribute);
            let line = by_identity.lines().find(named).unwrap();
            assert!(line.ends_with(&format!(" = \"{part}\"")), "{line}");
        }
        assert_eq!(parts.next(), None, "{name}");
    }
}

/// Terraform 1.11 cannot parse these examples, so the schema is compared.
#[test]
fn list_and_action_examples_match_the_schema() {
    let examples = all_examples();
    let offered = ServiceProvider::default().catalog().described();
    let lists = offered.lists.iter().map(|it| ("list-resources", "list-resource.tfquery.hcl", it));
    let actions = offered.actions.iter().map(|it| ("actions", "action.tf", it));
    for (folder, file, (name, schema)) in lists.chain(actions) {
        let example = &examples[&format!("{folder}/{name}/{file}")];
        assert!(example.contains(&format!(" \"{name}\" \"")), "{example}");
        let config = example.split_once("config {\n").map_or("", |(_, rest)| rest);
        let config = config.split_once("\n  }\n").map_or(config, |(config, _)| config);
        let documented: Vec<_> =
            config.lines().map(|line| line.split(" = ").next().unwrap().trim()).collect();
        let known = &schema.body.attributes;
        assert!(
            documented.iter().all(|argument| known.contains_key(*argument)),
            "{name}: {documented:?}"
        );
        let required = known.iter().filter(|(_, it)| it.presence == Presence::Required);
        for (argument, _) in required {
            assert!(documented.contains(&argument.as_str()), "{name}: `{argument}` is missing");
        }
    }
}
