//! The files of the archive and of the packages: their paths, permissions and bytes. `tarball` and `package` write
//! them.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};

use super::documents::Documents;
use super::format::Format;
use crate::shell;

/// Path of the program in the units of the repository, and in those of packages.
const PROGRAM_BY_HAND: &str = "/usr/local/bin/aloft";
const PROGRAM_OF_PACKAGES: &str = "/usr/bin/aloft";
/// First line of the units that names the guide, in the repository only.
const BY_HAND: &str = " docs/guides/run-it-for-real.md installs it.";
/// Units of systemd.
pub(super) const UNITS: [&str; 4] =
    ["aloft.service", "aloft-probe.service", "aloft-backup.service", "aloft-backup.timer"];
/// Settings, and their permissions in packages.
const SETTINGS: [(&str, u32); 3] = [("aloft.toml", 0o644), ("probe", 0o644), ("secrets", 0o600)];
/// Alerts and a dashboard: their paths in the repository and in a release.
const MONITORING: [(&str, &str); 2] =
    [("prometheus/alerts.yaml", "alerts.yaml"), ("grafana/aloft.json", "dashboard.json")];

/// Kind of a file in a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    Plain,
    /// Belongs to the operator: an upgrade keeps it, and a purge removes it.
    Settings,
    Licence,
}

/// A file of a release.
#[derive(Debug, PartialEq)]
pub(super) struct PackedFile {
    /// Without a slash at its start.
    pub(super) path: String,
    pub(super) mode: u32,
    pub(super) kind: FileKind,
    pub(super) bytes: Vec<u8>,
}

impl PackedFile {
    fn new(path: impl Into<String>, mode: u32, bytes: Vec<u8>) -> Self {
        Self { path: path.into(), mode, kind: FileKind::Plain, bytes }
    }

    fn with_kind(self, kind: FileKind) -> Self {
        Self { kind, ..self }
    }
}

/// Returns the files of the archive, whose reader installs them by hand.
pub(super) fn of_archive(program: &Path, documents: &Documents) -> Result<Vec<PackedFile>> {
    let mut files = vec![
        PackedFile::new("README.md", 0o644, read("packaging/linux/archive/README.md")?),
        PackedFile::new("LICENSE", 0o644, read("LICENSE")?),
        PackedFile::new("aloft", 0o755, read_program(program)?),
        PackedFile::new("completions/aloft.bash", 0o644, documents.bash.clone()),
        PackedFile::new("completions/_aloft", 0o644, documents.zsh.clone()),
        PackedFile::new("completions/aloft.fish", 0o644, documents.fish.clone()),
    ];
    for (name, page) in &documents.pages {
        files.push(PackedFile::new(format!("man/{name}"), 0o644, page.clone()));
    }
    for name in UNITS {
        files.push(PackedFile::new(format!("systemd/{name}"), 0o644, read_unit(name)?.into()));
    }
    for (name, mode) in SETTINGS {
        files.push(PackedFile::new(format!("settings/{name}"), mode, read_settings(name)?));
    }
    for (from, name) in MONITORING {
        let bytes = read(&format!("packaging/{from}"))?;
        files.push(PackedFile::new(format!("monitoring/{name}"), 0o644, bytes));
    }
    Ok(files)
}

/// Returns the files of a package, at their paths on a machine.
pub(super) fn of_package(
    program: &Path,
    documents: &Documents,
    format: Format,
    debian_changelog: &str,
) -> Result<Vec<PackedFile>> {
    let share =
        |path: &str, bytes: Vec<u8>| PackedFile::new(format!("usr/share/{path}"), 0o644, bytes);
    let mut files = vec![
        PackedFile::new("usr/bin/aloft", 0o755, read_program(program)?),
        share("bash-completion/completions/aloft", documents.bash.clone()),
        share(&format!("zsh/{}/_aloft", format.zsh_folder()), documents.zsh.clone()),
        share("fish/vendor_completions.d/aloft.fish", documents.fish.clone()),
    ];
    for (name, page) in &documents.pages {
        files.push(share(&format!("man/man1/{name}.gz"), gzip(page)?));
    }
    for name in UNITS {
        let unit = read_unit(name)?;
        let unit = unit.replace(PROGRAM_BY_HAND, PROGRAM_OF_PACKAGES).replace(BY_HAND, "");
        let path = format!("usr/lib/systemd/system/{name}");
        files.push(PackedFile::new(path, 0o644, unit.into_bytes()));
    }
    for (name, mode) in SETTINGS {
        let file = PackedFile::new(format!("etc/aloft/{name}"), mode, read_settings(name)?);
        files.push(file.with_kind(FileKind::Settings));
    }
    for (from, name) in MONITORING {
        files.push(share(&format!("aloft/{name}"), read(&format!("packaging/{from}"))?));
    }
    match format {
        Format::Deb => {
            files.push(share("doc/aloft/copyright", read("packaging/linux/deb/copyright")?));
            files.push(share("doc/aloft/changelog.gz", gzip(&read("CHANGELOG.md")?)?));
            let changelog = gzip(debian_changelog.as_bytes())?;
            files.push(share("doc/aloft/changelog.Debian.gz", changelog));
        }
        Format::Rpm => {
            let licence = share("licenses/aloft/LICENSE", read("LICENSE")?);
            files.push(licence.with_kind(FileKind::Licence));
            files.push(share("doc/aloft/CHANGELOG.md", read("CHANGELOG.md")?));
        }
    }
    Ok(files)
}

/// Compresses a text without a name or a time, so that the same text gives the same bytes.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = GzBuilder::new().write(Vec::new(), Compression::best());
    compressed.write_all(bytes)?;
    Ok(compressed.finish()?)
}

fn read_program(program: &Path) -> Result<Vec<u8>> {
    fs::read(program).with_context(|| format!("failed to read {}", program.display()))
}

fn read_unit(name: &str) -> Result<String> {
    let path = format!("packaging/systemd/{name}");
    String::from_utf8(read(&path)?).with_context(|| format!("{path} is not a text"))
}

fn read_settings(name: &str) -> Result<Vec<u8>> {
    read(&format!("packaging/linux/settings/{name}"))
}

fn read(path: &str) -> Result<Vec<u8>> {
    fs::read(shell::workspace().join(path)).with_context(|| format!("failed to read {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents() -> Documents {
        let pages = [("aloft.1".to_owned(), b".TH aloft".to_vec())].into();
        Documents { bash: b"b".to_vec(), zsh: b"z".to_vec(), fish: b"f".to_vec(), pages }
    }

    fn find<'f>(files: &'f [PackedFile], path: &str) -> &'f PackedFile {
        files.iter().find(|it| it.path == path).unwrap_or_else(|| panic!("no {path}"))
    }

    #[test]
    fn units_of_packages_start_the_packaged_program() {
        let program = std::env::current_exe().unwrap();
        for format in Format::ALL {
            let files = of_package(&program, &documents(), format, "").unwrap();
            for name in UNITS {
                let unit = find(&files, &format!("usr/lib/systemd/system/{name}"));
                let text = String::from_utf8(unit.bytes.clone()).unwrap();
                assert!(!text.contains(PROGRAM_BY_HAND) && !text.contains(BY_HAND), "{text}");
                assert_eq!(text.contains(PROGRAM_OF_PACKAGES), name.ends_with(".service"));
            }
        }
        let files = of_archive(&program, &documents()).unwrap();
        let unit = find(&files, "systemd/aloft.service");
        assert!(String::from_utf8(unit.bytes.clone()).unwrap().contains(PROGRAM_BY_HAND));
    }

    #[test]
    fn secrets_are_readable_by_root_only() {
        let program = std::env::current_exe().unwrap();
        let files = of_package(&program, &documents(), Format::Deb, "").unwrap();
        let secrets = find(&files, "etc/aloft/secrets");
        assert_eq!((secrets.mode, secrets.kind), (0o600, FileKind::Settings));
    }

    #[test]
    fn equal_texts_compress_to_equal_bytes() {
        let compressed = gzip(b"text").unwrap();
        assert_eq!(compressed, gzip(b"text").unwrap());
        assert_eq!(compressed[4..8], [0; 4], "the time");
    }
}
