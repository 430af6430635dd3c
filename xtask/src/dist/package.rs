//! Packages for Debian and for systems with rpm, by nfpm from one description. The same input gives the same
//! bytes.
//! Format: <https://nfpm.goreleaser.com/docs/configuration/>

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::contents::{FileKind, PackedFile};
use super::format::{Format, RELEASE};
use crate::release::{Architecture, GlibcVersion};
use crate::shell;

/// Shown by package managers, and in the changelog of Debian. An address of the project replaces it as soon as one exists.
const MAINTAINER: &str = "Aloft <aloft@localhost>";
const SUMMARY: &str = "uptime monitoring: checks, alerts and status pages";
const DESCRIPTION: &str = "\
Runs HTTP, TCP and DNS checks from regions, sends alerts and publishes
status pages. One program is the server, a probe and the command line.";
/// Facts about a package beside its files.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackageFacts<'a> {
    pub(super) version: &'a str,
    pub(super) architecture: Architecture,
    /// Oldest glibc that runs the program.
    pub(super) glibc: GlibcVersion,
    /// Time of all files in seconds since 1970.
    pub(super) seconds: u64,
}

impl PackageFacts<'_> {
    /// Returns the changelog that Debian requires, which names the one of the project.
    pub(super) fn debian_changelog(&self) -> Result<String> {
        let seconds = i64::try_from(self.seconds).context("the time of the release is too late")?;
        let time = jiff::Timestamp::from_second(seconds).context("the time of the release")?;
        let time = jiff::fmt::rfc2822::to_string(&time.to_zoned(jiff::tz::TimeZone::UTC))?;
        Ok(format!(
            "aloft ({}-{RELEASE}) stable; urgency=medium\n\n  * changelog.gz lists the changes.\n\n \
             -- {MAINTAINER}  {time}\n",
            self.version
        ))
    }
}

/// Writes a package to a file.
pub(super) fn write(
    files: &[PackedFile],
    format: Format,
    facts: &PackageFacts<'_>,
    into: &Path,
) -> Result<()> {
    let staged = tempfile::tempdir()?;
    for file in files {
        let path = staged.path().join(&file.path);
        fs::create_dir_all(path.parent().expect("the path has a folder"))?;
        fs::write(&path, &file.bytes)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    let description = staged.path().join("nfpm.json");
    fs::write(&description, describe(files, format, facts, staged.path()).to_string())?;
    let mut nfpm = shell::command("nfpm")?;
    nfpm.env("SOURCE_DATE_EPOCH", facts.seconds.to_string());
    nfpm.args(["package", "--packager", format.name(), "--config"]).arg(description);
    shell::finish(nfpm.arg("--target").arg(into))
}

/// Returns the description of a package for nfpm. JSON is valid YAML.
fn describe(
    files: &[PackedFile],
    format: Format,
    facts: &PackageFacts<'_>,
    staged: &Path,
) -> Value {
    let mut contents = folders(format);
    for file in files {
        let kind = match file.kind {
            FileKind::Plain => "",
            FileKind::Settings => "config|noreplace",
            FileKind::Licence => "license",
        };
        contents.push(json!({
            "src": staged.join(&file.path),
            "dst": format!("/{}", file.path),
            "type": kind,
            "file_info": { "mode": file.mode, "owner": "root", "group": "root" },
        }));
    }
    let script =
        |file: &str| shell::workspace().join(format!("packaging/linux/{}/{file}", format.name()));
    let scripts: serde_json::Map<String, Value> = format
        .scripts()
        .iter()
        .map(|(name, file)| ((*name).to_owned(), json!(script(file))))
        .collect();
    let depends = match format {
        Format::Deb => vec![format!("libc6 (>= {})", facts.glibc), "adduser".to_owned()],
        Format::Rpm => vec![format!("glibc >= {}", facts.glibc), "/usr/sbin/useradd".to_owned()],
    };
    let description = match format {
        // The first line is the summary.
        Format::Deb => format!("{SUMMARY}\n{DESCRIPTION}"),
        Format::Rpm => DESCRIPTION.to_owned(),
    };
    json!({
        "name": "aloft",
        "arch": facts.architecture.debian(),
        "platform": "linux",
        "version": facts.version,
        "release": RELEASE,
        "section": "net",
        "priority": "optional",
        "maintainer": MAINTAINER,
        "description": description,
        "license": "Apache-2.0",
        "disable_globbing": true,
        "depends": depends,
        "recommends": ["ca-certificates"],
        "contents": contents,
        "scripts": scripts,
        "deb": { "compression": "xz" },
        // Without it, the package has the name of the machine that built it.
        "rpm": { "compression": "xz", "buildhost": "localhost", "summary": SUMMARY },
    })
}

/// Returns the folders that belong to the package. dpkg does not know the group before its script runs, which then
/// sets the rights of both.
fn folders(format: Format) -> Vec<Value> {
    let folder = |path: &str, mode: u32, owner: &str, group: &str| {
        json!({
            "dst": path,
            "type": "dir",
            "file_info": { "mode": mode, "owner": owner, "group": group },
        })
    };
    match format {
        Format::Deb => vec![folder("/etc/aloft", 0o750, "root", "root")],
        Format::Rpm => vec![
            folder("/etc/aloft", 0o750, "root", "aloft"),
            folder("/var/lib/aloft", 0o700, "aloft", "aloft"),
        ],
    }
}
