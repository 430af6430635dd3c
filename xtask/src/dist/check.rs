//! Checks what is in packages with the programs that install them: every file with its rights and owner, the
//! settings, and the scripts. `lifecycle` installs them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::contents::{FileKind, PackedFile};
use super::format::Format;
use super::listing::{Listing, list};
use crate::release::sha256;
use crate::shell;

/// Checks that a package has exactly these files, settings and scripts.
pub(super) fn check(package: &Path, format: Format, files: &[PackedFile]) -> Result<()> {
    let listing = list(package, format)?;
    check_files(&listing, format, files)
        .and_then(|()| check_settings(package, format, files))
        .and_then(|()| check_bytes(package, format, files))
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
        Format::Rpm => &[
            ("/etc/aloft", 0o750, "root", "aloft"),
            ("/var/lib/aloft", 0o700, "aloft", "aloft"),
            ("/usr/share/aloft", 0o755, "root", "root"),
            ("/usr/share/doc/aloft", 0o755, "root", "root"),
            ("/usr/share/licenses/aloft", 0o755, "root", "root"),
        ],
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

/// Checks the bytes of each file: those of a `.deb` themselves, and the checksums in a `.rpm`.
fn check_bytes(package: &Path, format: Format, files: &[PackedFile]) -> Result<()> {
    let package = package.to_string_lossy();
    let unpacked = tempfile::tempdir()?;
    let mut sums = BTreeMap::new();
    match format {
        Format::Deb => {
            let into = unpacked.path().to_string_lossy();
            shell::output("dpkg-deb", &["--extract", &package, &into])?;
            for file in files {
                let bytes = fs::read(unpacked.path().join(&file.path))
                    .with_context(|| format!("failed to read /{}", file.path))?;
                sums.insert(format!("/{}", file.path), sha256(&bytes));
            }
        }
        Format::Rpm => {
            let form = "[%{FILENAMES} %{FILEDIGESTS}\\n]";
            let listed = shell::output("rpm", &["-qp", "--queryformat", form, &package])?;
            let listed = listed.lines().filter_map(|line| line.split_once(' '));
            sums.extend(listed.map(|(path, sum)| (path.to_owned(), sum.to_owned())));
        }
    }
    for file in files {
        let path = format!("/{}", file.path);
        if sums.get(&path) != Some(&sha256(&file.bytes)) {
            bail!("{path} has other contents than in this repository and in the archive");
        }
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
            Format::Rpm => {
                let tag = format!("%{{{}}}", rpm_tag(name)?);
                shell::output("rpm", &["-qp", "--queryformat", &tag, &package])?
            }
        };
        if found.trim() != expected.trim() {
            bail!("its script `{name}` differs from {path}");
        }
    }
    Ok(())
}

/// Returns the name of rpm for a script.
fn rpm_tag(script: &str) -> Result<&'static str> {
    Ok(match script {
        "pre" => "PREIN",
        "post" => "POSTIN",
        "preun" => "PREUN",
        "postun" => "POSTUN",
        unknown => bail!("rpm has no script `{unknown}`"),
    })
}
