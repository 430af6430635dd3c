//! Verifies packages: those of a small program, as part of `cargo xtask packaging`, and those of a release
//! (`cargo xtask dist --verify`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::contents;
use super::documents::Documents;
use super::format::Format;
use super::lifecycle::{self, Upgrade};
use super::machine::Machine;
use super::package::{self, PackageFacts};
use super::signature::SigningKey;
use super::{GLIBC, SUMS, VERSION, check, folder, image, sbom, tarball};
use crate::release::Architecture;
use crate::{setup, shell};

/// Version of the package that is upgraded.
const OLDER: &str = "0.0.1";
/// Time of the files in packages of checks.
const SECONDS: u64 = 1_000_000_000;
/// Workflow that makes a release.
const WORKFLOW: &str = ".github/workflows/release.yml";
/// A program that does nothing, in place of one that takes minutes to build.
const STAND_IN: &str = "int main(void) { return 0; }\n";

/// Packs a small program, checks what is in the packages, and installs them if this machine permits it. Checks the
/// workflow of releases, too.
pub(crate) fn check_packages() -> Result<()> {
    setup::for_dist()?;
    shell::run("actionlint", &[WORKFLOW])?;
    check_signature()?;
    let folder = tempfile::tempdir()?;
    let packed = StandIn::build(folder.path())?;
    let archive = || {
        let files = contents::of_archive(&packed.program, &packed.documents)?;
        tarball::compressed(&files, "aloft", SECONDS)
    };
    if archive()? != archive()? {
        bail!("two archives of the same program differ");
    }
    let sbom = folder.path().join(super::sbom_name());
    sbom::write(&sbom, VERSION, &Architecture::ALL, SECONDS)?;
    sbom::validate(&sbom)?;
    let obstacle = Machine::obstacle()?;
    for format in Format::ALL {
        let newer = packed.write(format, VERSION, folder.path())?;
        let again = folder.path().join("again");
        fs::rename(&newer, &again)?;
        packed.write(format, VERSION, folder.path())?;
        if fs::read(&newer)? != fs::read(&again)? {
            bail!("two packages of the same program differ: {}", newer.display());
        }
        let changelog = packed.facts(VERSION).debian_changelog()?;
        let files = contents::of_package(&packed.program, &packed.documents, format, &changelog)?;
        check::check(&newer, format, &files)?;
        if let Some(obstacle) = &obstacle {
            println!("{} was not installed: {obstacle}", newer.display());
            continue;
        }
        let older = packed.write(format, OLDER, folder.path())?;
        lifecycle::check(format, Upgrade { older: &older, newer: &newer })?;
    }
    Ok(())
}

/// Signs a file with a new key, and verifies the signature.
fn check_signature() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (public, secret, file) = (path("public"), path("secret"), folder.path().join("file"));
    fs::write(&file, "text")?;
    shell::output("minisign", &["-G", "-W", "-p", &public, "-s", &secret])?;
    SigningKey::from_file(secret.into()).sign(&file, "aloft")?;
    shell::run("minisign", &["-V", "-q", "-p", &public, "-m", &file.display().to_string()])
}

/// Verifies a release for these processors in a folder: its files, checksums, contents, and the life of the packages
/// for this machine.
pub(super) fn verify(folder: &Path, architectures: &[Architecture]) -> Result<()> {
    setup::for_dist()?;
    if let Some(obstacle) = Machine::obstacle()? {
        bail!("cannot install the packages: {obstacle}");
    }
    super::check_sums(folder)?;
    check_names(folder, architectures)?;
    let sbom = folder.join(super::sbom_name());
    sbom::validate(&sbom)?;
    let seconds = sbom::seconds_of(&sbom)?;
    for architecture in architectures {
        verify_programs(folder, *architecture, seconds)
            .with_context(|| format!("the release for {} is wrong", architecture.name()))?;
    }
    println!("{}: the release for {} processors is right", folder.display(), architectures.len());
    Ok(())
}

/// Checks that the checksums and the folder have exactly the files of a release.
fn check_names(release: &Path, architectures: &[Architecture]) -> Result<()> {
    let expected: BTreeSet<String> = folder::names(architectures).into_iter().collect();
    let sums = fs::read_to_string(release.join(SUMS))?;
    let summed = sums.lines().filter_map(|line| Some(line.split_once("  ")?.1.to_owned()));
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(release)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != SUMS && name != folder::signature_name() {
            found.insert(name);
        }
    }
    for (place, names) in [(SUMS, summed.collect()), ("the folder", found)] {
        if let Some(name) = expected.symmetric_difference(&names).next() {
            let fault = if names.contains(name) { "does not belong to" } else { "is missing in" };
            bail!(
                "{}: {name} {fault} {place}; a release for fewer processors needs --target",
                release.display()
            );
        }
    }
    Ok(())
}

fn verify_programs(release: &Path, architecture: Architecture, seconds: u64) -> Result<()> {
    let name = folder::archive_name(architecture);
    let unpacked = tempfile::tempdir()?;
    let mut tar = shell::command("tar")?;
    tar.args(["--extract", "--no-same-owner", "--file"])
        .arg(release.join(format!("{name}.tar.gz")));
    shell::finish(tar.arg("--directory").arg(unpacked.path()))?;
    let root = unpacked.path().join(&name);
    let program = root.join("aloft");
    super::check_program(&super::Program { path: program.clone(), architecture })?;
    image::check(&release.join(folder::image_name(architecture)), &program, architecture)?;
    let is_of_here = Architecture::of_this_machine() == Some(architecture);
    let facts = PackageFacts { version: VERSION, architecture, glibc: GLIBC, seconds };
    let documents = unpacked_documents(&root)?;
    for format in Format::ALL {
        let newer = release.join(format.file_name(VERSION, architecture));
        let changelog = facts.debian_changelog()?;
        let files = contents::of_package(&program, &documents, format, &changelog)?;
        check::check(&newer, format, &files)?;
        if is_of_here {
            let older = StandIn::build(unpacked.path())?.write(format, OLDER, unpacked.path())?;
            lifecycle::check(format, Upgrade { older: &older, newer: &newer })?;
        }
    }
    Ok(())
}

/// Reads the completions and manual pages of an unpacked archive.
fn unpacked_documents(root: &Path) -> Result<Documents> {
    let read = |path: &str| {
        fs::read(root.join(path)).with_context(|| format!("the archive has no file {path}"))
    };
    let mut pages = BTreeMap::new();
    for entry in fs::read_dir(root.join("man")).context("the archive has no manual pages")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        pages.insert(name, fs::read(path)?);
    }
    Ok(Documents {
        bash: read("completions/aloft.bash")?,
        zsh: read("completions/_aloft")?,
        fish: read("completions/aloft.fish")?,
        pages,
        licences: read("THIRD-PARTY-LICENSES")?,
    })
}

/// A program that does nothing, with documents.
#[derive(Debug)]
struct StandIn {
    program: PathBuf,
    architecture: Architecture,
    documents: Documents,
}

impl StandIn {
    fn build(folder: &Path) -> Result<Self> {
        let (source, program) = (folder.join("stand-in.c"), folder.join("stand-in"));
        fs::write(&source, STAND_IN)?;
        let mut compiler = shell::command("cc")?;
        shell::finish(compiler.arg("-static").arg("-o").arg(&program).arg(&source))?;
        let architecture = Architecture::of_program(&program)?;
        let text = || b"# aloft\n".to_vec();
        let pages = [("aloft.1".to_owned(), b".TH aloft 1\n".to_vec())].into();
        let documents =
            Documents { bash: text(), zsh: text(), fish: text(), pages, licences: text() };
        Ok(Self { program, architecture, documents })
    }

    fn facts<'a>(&self, version: &'a str) -> PackageFacts<'a> {
        PackageFacts { version, architecture: self.architecture, glibc: GLIBC, seconds: SECONDS }
    }

    /// Writes a package with this version, whose settings differ if it is the older one, and returns its path.
    fn write(&self, format: Format, version: &str, folder: &Path) -> Result<PathBuf> {
        let facts = self.facts(version);
        let changelog = facts.debian_changelog()?;
        let mut files = contents::of_package(&self.program, &self.documents, format, &changelog)?;
        if version == OLDER {
            let settings = files.iter_mut().find(|file| file.path == "etc/aloft/aloft.toml");
            settings.context("the package has no settings")?.bytes.extend(b"# older\n");
        }
        let package = folder.join(format.file_name(version, self.architecture));
        package::write(&files, format, &facts, &package)?;
        Ok(package)
    }
}
