//! What the checks look at: every file that git tracks or would track, and the workspace's packages
//! as cargo sees them. The only part of tidy that touches the disk.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde_json::Value;

use super::code::{self, Views};
use crate::shell;

/// The repository, read once.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    pub(super) packages: Vec<Package>,
}

/// A file with its text, or without one when it is not UTF-8.
pub(super) struct File {
    /// Relative to the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) bytes: u64,
    /// A Rust file's code and comments, apart.
    pub(super) rust: Option<Views>,
}

/// One of our crates and those of ours that it names.
#[derive(Debug)]
pub(super) struct Package {
    /// Its folder: `crates/rules` is `rules`.
    pub(super) name: String,
    pub(super) needs: Vec<Need>,
}

/// A line of a crate's manifest that names another crate of ours.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) name: String,
    pub(super) for_tests: bool,
}

impl Tree {
    pub(super) fn read() -> Result<Self> {
        let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = shell::output("git", &list)?;
        // A file in conflict is listed once per side.
        let paths: BTreeSet<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let on_disk = shell::workspace().join(path);
            // Removed, but not yet from the index; or a link, which is read where it points to.
            if !on_disk.symlink_metadata().is_ok_and(|about| about.is_file()) {
                continue;
            }
            let bytes = fs::read(&on_disk).with_context(|| format!("cannot read {path}"))?;
            files.push(File::new(path, bytes));
        }
        let arguments = ["metadata", "--format-version", "1", "--no-deps"];
        let metadata = shell::output(&shell::cargo(), &arguments)?;
        Ok(Self { files, packages: packages(&metadata)? })
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file or a folder of this path exists.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below =
            |file: &File| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.files.iter().any(|file| file.path == path || below(file))
    }

    /// Rust files written by hand, with their code and comments.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&File, &Views)> {
        let by_hand = self.files.iter().filter(|file| !file.is_generated());
        by_hand.filter_map(|file| file.rust.as_ref().map(|views| (file, views)))
    }
}

impl File {
    fn new(path: &str, bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let text = String::from_utf8(bytes).unwrap_or_default();
        let mut file = Self { path: path.to_owned(), text, bytes: size, rust: None };
        file.rust = (file.ending() == "rs").then(|| code::views(&file.text));
        file
    }

    /// What follows the last dot of its name; the whole path without one.
    pub(super) fn ending(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// In a folder for generated code.
    pub(super) fn is_generated(&self) -> bool {
        self.path.split('/').any(|part| part == "gen")
    }

    /// Nothing but tests: a crate's `tests` folder, or a `tests.rs` beside the code.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

fn packages(metadata: &str) -> Result<Vec<Package>> {
    let metadata: Value = serde_json::from_str(metadata).context("cannot read cargo's metadata")?;
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let list = metadata["packages"].as_array().context("cargo's metadata has no packages")?;
    Ok(list.iter().map(|package| package_of(package, root)).collect())
}

fn package_of(package: &Value, root: &str) -> Package {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let folder = manifest.strip_suffix("/Cargo.toml").unwrap_or(manifest);
    let listed = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = |need: &Value| {
        let path = need["path"].as_str()?;
        let inside = path.starts_with(root);
        let for_tests = need["kind"].as_str() == Some("dev");
        inside.then(|| Need { name: last_part(path).to_owned(), for_tests })
    };
    Package { name: last_part(folder).to_owned(), needs: listed.iter().filter_map(ours).collect() }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
impl Tree {
    /// A small tree of text files, for the tests of the checks.
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File::new(path, text.as_bytes().to_vec());
        Self { files: files.iter().map(file).collect(), packages: Vec::new() }
    }

    /// The paths (with lines) that a check finds in a small tree.
    pub(super) fn found(
        files: &[(&str, &str)],
        check: fn(&Self) -> Vec<super::Finding>,
    ) -> Vec<(String, Option<usize>)> {
        check(&Self::of(files)).into_iter().map(|finding| (finding.path, finding.line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_by_folder_and_keep_only_our_own_dependencies() {
        let metadata = r#"{"workspace_root":"/w","packages":[{"manifest_path":"/w/crates/cli/Cargo.toml",
            "dependencies":[{"name":"aloft-rules","path":"/w/crates/rules","kind":null},
                {"name":"aloft-testkit","path":"/w/crates/testkit","kind":"dev"},
                {"name":"serde","kind":null}]}]}"#;
        let packages = packages(metadata).unwrap();
        assert_eq!(packages[0].name, "cli");
        let needs: Vec<_> =
            packages[0].needs.iter().map(|n| (n.name.as_str(), n.for_tests)).collect();
        assert_eq!(needs, [("rules", false), ("testkit", true)]);
    }

    #[test]
    fn a_folder_exists_when_a_file_lies_in_it() {
        let tree = Tree::of(&[("docs/decisions/0001-one-binary.md", "")]);
        assert!(tree.has("docs/decisions/") && tree.has("docs/decisions/0001-one-binary.md"));
        assert!(!tree.has("docs/decision") && !tree.has("decisions"));
    }
}
