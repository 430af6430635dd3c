//! The texts of the licences of the crates that the program links, and of what they contain. Most licences require
//! that a program comes with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Architecture, linked_crates, metadata};

/// Starts of the names of files with licences, in lower case.
const NAMES: [&str; 6] = ["licen", "copying", "notice", "copyright", "unlicense", "ofl"];
/// Endings of files with source code.
const SOURCES: [&str; 7] = ["rs", "c", "h", "py", "go", "js", "toml"];
/// Folders of a crate that do not become part of a program.
const SKIPPED: [&str; 7] =
    ["target", "tests", "node_modules", "benches", "examples", "fuzz", ".git"];
const HEAD: &str = "\
Licences of the libraries in the program aloft

Each text follows the crates that contain it. The SBOM of the release has the licence of each crate.
";

/// Returns one text with all licences, each once.
pub(crate) fn third_party_licences() -> Result<Vec<u8>> {
    let linked = linked_crates(&Architecture::ALL)?;
    let metadata = metadata()?;
    let mut crates_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut without = BTreeSet::new();
    for package in metadata["packages"].as_array().context("cargo lists no packages")? {
        let text = |name: &str| package[name].as_str().unwrap_or_default();
        if !linked.contains(&(text("name").to_owned(), text("version").to_owned())) {
            continue;
        }
        let name = format!("{} {}", text("name"), text("version"));
        let texts = texts_of(package)?;
        // Crates of the workspace have the licence of Aloft, and only what they contain has others.
        if texts.is_empty() && !package["source"].is_null() {
            without.insert(format!("{name}: {}", text("license")));
        }
        for text in texts {
            crates_of.entry(text).or_default().insert(name.clone());
        }
    }
    Ok(format(&crates_of, &without)?.into_bytes())
}

fn format(
    crates_of: &BTreeMap<String, BTreeSet<String>>,
    without: &BTreeSet<String>,
) -> Result<String> {
    let line = "-".repeat(80);
    let mut all = HEAD.to_owned();
    if !without.is_empty() {
        write!(all, "\nThese crates have no text of their licence:\n")?;
        without.iter().try_for_each(|it| writeln!(all, "  {it}"))?;
    }
    let mut sections: Vec<_> =
        crates_of.iter().map(|(text, crates)| (Vec::from_iter(crates), text)).collect();
    sections.sort();
    for (crates, text) in sections {
        let names = crates.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ");
        write!(all, "\n{line}\n{names}\n\n{}\n", text.trim_end())?;
    }
    Ok(all)
}

/// Returns the texts of the licences in the folder of a crate.
fn texts_of(package: &Value) -> Result<BTreeSet<String>> {
    let manifest = Path::new(package["manifest_path"].as_str().context("a crate has no path")?);
    let mut files = Vec::new();
    find(manifest.parent().context("a crate has no folder")?, &mut files)?;
    let mut texts = BTreeSet::new();
    for file in files {
        let bytes =
            fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
        texts.insert(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
    }
    Ok(texts)
}

/// Finds the files with licences in a folder and in those below.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder);
    for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
        let entry = entry?;
        let (kind, path) = (entry.file_type()?, entry.path());
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if kind.is_dir() && !SKIPPED.contains(&name.as_str()) {
            find(&path, files)?;
        } else if kind.is_file() && is_licence(&name) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_licence(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    NAMES.iter().any(|start| name.starts_with(start)) && !SOURCES.contains(&ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_not_licences() {
        for (name, expected) in [
            ("license-mit", true),
            ("copying", true),
            ("licence.md", true),
            ("license.rs", false),
            ("readme.md", false),
        ] {
            assert_eq!(is_licence(name), expected, "{name}");
        }
    }

    #[test]
    fn equal_texts_appear_once() {
        let crates = ["a 1.0.0", "b 2.0.0"].map(str::to_owned).into();
        let all =
            format(&[("The text".to_owned(), crates)].into(), &["c 3.0.0: MIT".into()].into());
        let all = all.unwrap();
        assert!(all.contains("a 1.0.0, b 2.0.0\n\nThe text\n"), "{all}");
        assert!(all.contains("no text of their licence:\n  c 3.0.0: MIT"), "{all}");
    }
}
