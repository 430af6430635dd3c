//! The input of the checks: every file that git tracks or would track, and the workspace's packages
//! as cargo reports them. The only part of tidy that accesses the disk.

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

/// A file with its text. Binary files have an empty text.
pub(super) struct File {
    /// Path relative to the workspace, with `/`.
    pub(super) path: String,
    pub(super) text: String,
    pub(super) bytes: u64,
    /// Code and comments of a Rust file.
    pub(super) rust: Option<Views>,
}

/// One of our crates with its dependencies on others of ours.
#[derive(Debug)]
pub(super) struct Package {
    /// Name of its folder: `crates/rules` is `rules`.
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
        // Git lists a file in conflict once per side.
        let paths: BTreeSet<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            let on_disk = shell::workspace().join(path);
            // Skips deleted files that are still in the index, and links, whose targets are read
            // themselves.
            if !on_disk.symlink_metadata().is_ok_and(|about| about.is_file()) {
                continue;
            }
            let bytes = fs::read(&on_disk).with_context(|| format!("failed to read {path}"))?;
            files.push(File::new(path, bytes));
        }
        let arguments = ["metadata", "--format-version", "1", "--no-deps"];
        let metadata = shell::output(&shell::cargo(), &arguments)?;
        Ok(Self { files, packages: packages(&metadata)? })
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Returns whether a file or a folder with this path exists.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let below =
            |file: &File| file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        self.files.iter().any(|file| file.path == path || below(file))
    }

    /// Iterates over hand-written Rust files with their code and comments.
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

    /// Returns the extension, or the whole path if there is none.
    pub(super) fn ending(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns whether the file is in a folder for generated code.
    pub(super) fn is_generated(&self) -> bool {
        self.path.split('/').any(|part| part == "gen")
    }

    /// Returns whether the file contains only tests: in a crate's `tests` folder, or a `tests.rs`.
    pub(super) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }
}

fn packages(metadata: &str) -> Result<Vec<Package>> {
    let metadata: Value =
        serde_json::from_str(metadata).context("failed to parse cargo's metadata")?;
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
    /// Creates a small tree of text files for tests of the checks.
    pub(super) fn from_files(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File::new(path, text.as_bytes().to_vec());
        Self { files: files.iter().map(file).collect(), packages: Vec::new() }
    }

    /// Returns the paths and lines that a check finds in a small tree.
    pub(super) fn found(
        files: &[(&str, &str)],
        check: fn(&Self) -> Vec<super::Finding>,
    ) -> Vec<(String, Option<usize>)> {
        check(&Self::from_files(files))
            .into_iter()
            .map(|finding| (finding.path, finding.line))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_folder_names_and_own_dependencies() {
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
    fn folder_exists_if_it_contains_a_file() {
        let tree = Tree::from_files(&[("docs/decisions/0001-one-binary.md", "")]);
        assert!(tree.has("docs/decisions/") && tree.has("docs/decisions/0001-one-binary.md"));
        assert!(!tree.has("docs/decision") && !tree.has("decisions"));
    }
}
