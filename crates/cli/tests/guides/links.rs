//! Finds dead links in all pages: to files, headings and pictures. For external links it checks
//! only the form, because tests do not use the network.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::document::Document;
use crate::repository;

/// Pages outside of `docs/`.
const BESIDE: [&str; 9] = [
    "README.md",
    "CHANGELOG.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "clients/go/README.md",
    "clients/python/README.md",
    "clients/typescript/README.md",
    "crates/terraform-plugin/README.md",
    "packaging/README.md",
];

/// Returns the paths of all pages in the repository.
pub(crate) fn pages() -> BTreeSet<String> {
    let there = BESIDE.into_iter().filter(|page| repository().join(page).exists());
    let mut pages: BTreeSet<String> = there.map(str::to_owned).collect();
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(repository().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if repository().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.insert(path.to_str().unwrap().to_owned());
            }
        }
    }
    pages
}

/// Returns why a link of a page is dead.
fn fault(document: &Document, link: &str) -> Option<String> {
    if let Some((scheme, rest)) = link.split_once(':') {
        let host = rest.trim_start_matches('/').split(['/', '#', '?']).next().unwrap_or_default();
        let good =
            matches!(scheme, "http" | "https") && rest.starts_with("//") && host.contains('.')
                || scheme == "mailto" && rest.contains('@');
        return (!good).then(|| "is not a valid address".to_owned());
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, it)| (path, Some(it)));
    let folder = Path::new(&document.path).parent().unwrap();
    let target = if path.is_empty() { document.path.clone() } else { inside(&folder.join(path))? };
    let there = repository().join(&target);
    let Some(anchor) = anchor else {
        return (!there.exists()).then(|| format!("points to {target}, which does not exist"));
    };
    let anchors = if there.is_file() { Document::read(&target).anchors() } else { Vec::new() };
    let known = anchors.iter().any(|it| it == anchor);
    (!known).then(|| format!("points to a heading that {target} does not have"))
}

/// Returns the path in the repository without `..`.
fn inside(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(name) => parts.push(name.to_str()?),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Some(parts.join("/"))
}

// issue 8, point 3: "dead links fail them"
#[test]
fn no_page_has_dead_links() {
    let mut dead = Vec::new();
    for page in pages() {
        let document = Document::read(&page);
        let links = document.links();
        let faults = links.iter().filter_map(|link| Some((link, fault(&document, link)?)));
        dead.extend(faults.map(|(link, why)| format!("{page}: `{link}` {why}")));
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn dead_links_are_found() {
    let document = Document::parse("docs/guides/a.md", "# Here\n");
    for good in
        ["../../README.md", "alerts.md#planned-work", "https://example.com/a#b", "../guides"]
    {
        assert_eq!(fault(&document, good), None, "{good}");
    }
    for dead in ["gone.md", "alerts.md#gone", "../gone/", "https:/example.com", "https://localhost"]
    {
        assert!(fault(&document, dead).is_some(), "{dead}");
    }
}
