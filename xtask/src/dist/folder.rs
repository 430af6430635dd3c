//! The folder of a release, and the names of its files. Nothing else is ever removed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::format::Format;
use super::{SUMS, VERSION, sbom_name};
use crate::release::Architecture;

/// Names of the files of releases of any version, beside the checksums.
const PATTERNS: [&str; 5] = [
    "aloft-*-linux-*.tar.gz",
    "aloft_*_*.deb",
    "aloft-*.rpm",
    "aloft-*-image-*.tar",
    "aloft-*.cdx.json",
];

/// Returns the names of the files of a release for these processors, beside the checksums.
pub(super) fn names(architectures: &[Architecture]) -> Vec<String> {
    let mut names = vec![sbom_name()];
    for architecture in architectures {
        names.push(format!("{}.tar.gz", archive_name(*architecture)));
        names.push(image_name(*architecture));
        names.extend(Format::ALL.iter().map(|format| format.file_name(VERSION, *architecture)));
    }
    names.sort();
    names
}

/// Returns the name of the archive without its ending, which is also that of the folder in it.
pub(super) fn archive_name(architecture: Architecture) -> String {
    format!("aloft-{VERSION}-linux-{}", architecture.name())
}

pub(super) fn image_name(architecture: Architecture) -> String {
    format!("aloft-{VERSION}-image-{}.tar", architecture.debian())
}

/// Returns the name of the checksums' signature.
pub(super) fn signature_name() -> String {
    format!("{SUMS}.minisig")
}

/// Checks that a folder may be emptied: it has only files of releases, and none of the inputs.
pub(super) fn check<'p>(folder: &Path, inputs: impl Iterator<Item = &'p Path>) -> Result<()> {
    removable(folder, inputs).map(drop)
}

/// Creates an empty folder. Files of another release would otherwise be among the checksums. Removes nothing if
/// one file must stay.
pub(super) fn empty<'p>(folder: &Path, inputs: impl Iterator<Item = &'p Path>) -> Result<()> {
    for path in removable(folder, inputs)? {
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))
}

fn removable<'p>(folder: &Path, inputs: impl Iterator<Item = &'p Path>) -> Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let real = folder.canonicalize()?;
    for input in inputs {
        let path = input.canonicalize();
        let path = path.with_context(|| format!("failed to find {}", input.display()))?;
        if path.starts_with(&real) {
            bail!("{} is in the folder to empty; choose another one with --out", input.display());
        }
    }
    let mut paths = Vec::new();
    let entries = fs::read_dir(folder);
    for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_file() || !is_of_release(&entry.file_name().to_string_lossy()) {
            bail!("{} is not a file of a release; choose another folder", path.display());
        }
        paths.push(path);
    }
    Ok(paths)
}

fn is_of_release(name: &str) -> bool {
    name == SUMS || name == signature_name() || PATTERNS.iter().any(|it| fits(name, it))
}

/// Returns whether a name fits a pattern, in which `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return name == pattern };
    let below = name.strip_prefix(start);
    below.is_some_and(|below| below.char_indices().any(|(at, _)| fits(&below[at..], rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_with_other_files_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let write = |name: &str| fs::write(file(name), "").unwrap();
        write("aloft_1-1_amd64.deb");
        write(SUMS);
        for name in ["notes.txt", "aloft", "aloft.db", "aloft.key", "aloft-old", "SHA256SUMS.txt"] {
            write(name);
            let refused = empty(folder.path(), std::iter::empty()).unwrap_err().to_string();
            assert!(refused.contains(&format!("{name} is not a file of a release")), "{refused}");
            assert!(file("aloft_1-1_amd64.deb").is_file() && file(SUMS).is_file());
            fs::remove_file(file(name)).unwrap();
        }
        empty(folder.path(), std::iter::empty()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn inputs_in_the_folder_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("aloft-1.rpm");
        fs::write(&program, "").unwrap();
        let refused = empty(folder.path(), [program.as_path()].into_iter()).unwrap_err();
        assert!(refused.to_string().contains("--out"), "{refused}");
        assert!(program.is_file());
    }

    #[test]
    fn own_files_are_those_of_releases() {
        for name in names(&Architecture::ALL) {
            assert!(is_of_release(&name), "{name}");
        }
    }
}
