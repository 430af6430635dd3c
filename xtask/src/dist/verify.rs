//! Verifies packages: those of a small program, as part of `cargo xtask packaging`, and those of a release
//! (`cargo xtask dist --verify`).

use std::collections::BTreeMap;
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
use super::{GLIBC, VERSION, check, sbom, tarball};
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
        let files = contents::of_package(&packed.program, &packed.documents, format, "")?;
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

/// Verifies a release in a folder: checksums, contents, and the life of the packages for this machine.
pub(super) fn verify(folder: &Path) -> Result<()> {
    setup::for_dist()?;
    if let Some(obstacle) = Machine::obstacle()? {
        bail!("cannot install the packages: {obstacle}");
    }
    super::check_sums(folder)?;
    sbom::validate(&folder.join(super::sbom_name()))?;
    let mut verified = 0;
    for architecture in Architecture::ALL {
        let name = format!("aloft-{VERSION}-linux-{}", architecture.name());
        if folder.join(format!("{name}.tar.gz")).is_file() {
            verify_programs(folder, &name, architecture)
                .with_context(|| format!("the release for {} is wrong", architecture.name()))?;
            verified += 1;
        }
    }
    if verified == 0 {
        bail!("{} has no release of version {VERSION}", folder.display());
    }
    println!("{}: the releases for {verified} processors are right", folder.display());
    Ok(())
}

fn verify_programs(folder: &Path, name: &str, architecture: Architecture) -> Result<()> {
    let unpacked = tempfile::tempdir()?;
    let mut tar = shell::command("tar")?;
    tar.args(["--extract", "--no-same-owner", "--file"]).arg(folder.join(format!("{name}.tar.gz")));
    shell::finish(tar.arg("--directory").arg(unpacked.path()))?;
    let root = unpacked.path().join(name);
    let program = root.join("aloft");
    super::check_program(&super::Program { path: program.clone(), architecture })?;
    let is_of_here = Architecture::of_this_machine() == Some(architecture);
    if is_of_here {
        let printed = shell::output(&program.to_string_lossy(), &["--version"])?;
        if printed.trim() != format!("aloft {VERSION}") {
            bail!("the program prints the version `{}`, expected {VERSION}", printed.trim());
        }
    }
    let documents = unpacked_documents(&root)?;
    for format in Format::ALL {
        let newer = folder.join(format.file_name(VERSION, architecture));
        let files = contents::of_package(&program, &documents, format, "")?;
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
        let documents = Documents { bash: text(), zsh: text(), fish: text(), pages };
        Ok(Self { program, architecture, documents })
    }

    /// Writes a package with this version, and returns its path.
    fn write(&self, format: Format, version: &str, folder: &Path) -> Result<PathBuf> {
        let architecture = self.architecture;
        let facts = PackageFacts { version, architecture, glibc: GLIBC, seconds: SECONDS };
        let changelog = facts.debian_changelog()?;
        let files = contents::of_package(&self.program, &self.documents, format, &changelog)?;
        let package = folder.join(format.file_name(version, architecture));
        package::write(&files, format, &facts, &package)?;
        Ok(package)
    }
}
