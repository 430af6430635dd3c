//! Checks what is in packages with the programs that install them: every file with its rights and owner, the
//! settings, and the scripts. `lifecycle` installs them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::contents::{FileKind, PackedFile};
use super::format::Format;
use super::listing::{Listing, list};
use crate::shell;

/// Checks that a package has exactly these files, settings and scripts.
pub(super) fn check(package: &Path, format: Format, files: &[PackedFile]) -> Result<()> {
    let listing = list(package, format)?;
    check_files(&listing, format, files)
        .and_then(|()| check_settings(package, format, files))
        .and_then(|()| check_scripts(package, format))
        .with_context(|| format!("{} is wrong", package.display()))
}

fn check_files(listing: &Listing, format: Format, files: &[PackedFile]) -> Result<()> {
    for file in files {
        let path = format!("/{}", file.path);
        let listed = listing.get(&path).with_context(|| format!("{path} is missing"))?;
        if listed.mode != file.mode || listed.owner != "root" || listed.group != "root" {
            bail!("{path} has wrong rights: {listed:?}, expected mode {:o} of root", file.mode);
        }
    }
    for (path, mode, owner, group) in folders(format) {
        let listed = listing.get(*path).with_context(|| format!("{path} is missing"))?;
        if !listed.is_folder
            || listed.mode != *mode
            || listed.owner != *owner
            || listed.group != *group
        {
            bail!("{path} has wrong rights: {listed:?}, expected {mode:o} of {owner}:{group}");
        }
    }
    let is_known = |path: &str| files.iter().any(|file| path[1..] == file.path);
    let further = listing.iter().find(|(path, listed)| !listed.is_folder && !is_known(path));
    further.map_or(Ok(()), |(path, _)| bail!("{path} does not belong to it"))
}

/// Returns the folders with rights of their own: path, mode, owner and group. dpkg gets them from the script.
fn folders(format: Format) -> &'static [(&'static str, u32, &'static str, &'static str)] {
    match format {
        Format::Deb => &[("/etc/aloft", 0o750, "root", "root")],
        Format::Rpm => {
            &[("/etc/aloft", 0o750, "root", "aloft"), ("/var/lib/aloft", 0o700, "aloft", "aloft")]
        }
    }
}

/// Checks that the package manager knows which files belong to the operator.
fn check_settings(package: &Path, format: Format, files: &[PackedFile]) -> Result<()> {
    let package = package.to_string_lossy();
    let listed = match format {
        Format::Deb => shell::output("dpkg-deb", &["--info", &package, "conffiles"])?,
        Format::Rpm => {
            // `n` means that an upgrade does not replace a changed file.
            let flags = "[%{FILENAMES} %{FILEFLAGS:fflags}\\n]";
            let flags = shell::output("rpm", &["-qp", "--queryformat", flags, &package])?;
            let kept = flags.lines().filter_map(|line| line.strip_suffix(" cn"));
            kept.collect::<Vec<_>>().join("\n")
        }
    };
    let mut listed: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
    listed.sort_unstable();
    let settings = files.iter().filter(|file| file.kind == FileKind::Settings);
    let mut expected: Vec<String> = settings.map(|file| format!("/{}", file.path)).collect();
    expected.sort();
    if listed != expected {
        bail!("its settings are {listed:?}, expected {expected:?}");
    }
    Ok(())
}

/// Checks that the scripts are those of the repository.
fn check_scripts(package: &Path, format: Format) -> Result<()> {
    let package = package.to_string_lossy();
    for (_, name) in format.scripts() {
        let path = format!("packaging/linux/{}/{name}", format.name());
        let expected = fs::read_to_string(shell::workspace().join(&path))
            .with_context(|| format!("failed to read {path}"))?;
        let found = match format {
            Format::Deb => shell::output("dpkg-deb", &["--info", &package, name])?,
            Format::Rpm => shell::output("rpm", &["-qp", "--scripts", &package])?,
        };
        if !found.contains(expected.trim()) {
            bail!("its script `{name}` differs from {path}");
        }
    }
    Ok(())
}
