//! `cargo xtask dist`: makes a release of the program: archives, packages, images, an SBOM, checksums and a
//! signature. Equal programs give equal files. `check` looks into the packages, and `lifecycle` installs, upgrades
//! and removes them in a copy of this machine.

mod check;
mod contents;
mod documents;
mod format;
mod lifecycle;
mod listing;
mod machine;
mod options;
mod package;
mod sbom;
mod signature;
mod tarball;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::documents::Documents;
use self::format::Format;
use self::options::DistOptions;
use self::package::PackageFacts;
use self::signature::{Signed, SigningKey};
pub(crate) use self::verify::check_packages;
use crate::release::{Architecture, BuildPlan, GlibcVersion, check_glibc, sums_of};
use crate::{packaging, setup, shell};

/// Version of every crate.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The glibc of the oldest systems that run the program: Debian 10 and RHEL 8 (2018 and 2019).
const GLIBC: GlibcVersion = GlibcVersion(2, 28);
/// Build profile of releases (decision 0056).
const PROFILE: &str = "dist";
const SUMS: &str = "SHA256SUMS";
/// Variable with the time of all files, in seconds since 1970: <https://reproducible-builds.org/specs/source-date-epoch/>
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// A program to release.
#[derive(Debug)]
struct Program {
    path: PathBuf,
    architecture: Architecture,
}

/// Makes or verifies a release by `words`.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    match words {
        ["--sign", folder] => return sign_release(&std::path::absolute(folder)?),
        ["--check"] => return check_packages(),
        ["--verify"] => return verify::verify(&default_folder()),
        ["--verify", folder] => return verify::verify(&std::path::absolute(folder)?),
        _ => {}
    }
    let options = DistOptions::read(words)?;
    setup::for_dist()?;
    let key = SigningKey::from_environment()?;
    let programs = programs(&options)?;
    let documents = documents(&options, &programs)?;
    let seconds = seconds()?;
    let into = options.into.as_deref().map_or_else(|| Ok(default_folder()), std::path::absolute)?;
    empty(&into)?;
    for program in &programs {
        write_packages(program, &documents, seconds, &into)?;
    }
    let architectures: Vec<Architecture> = programs.iter().map(|it| it.architecture).collect();
    sbom::write(&into.join(sbom_name()), VERSION, &architectures, seconds)?;
    finish(&into, &key)
}

/// Writes the checksums of all files of a release and their signature, and lists the files.
fn finish(into: &Path, key: &SigningKey) -> Result<()> {
    let sums = sums_of(into, |_| true)?;
    let file = into.join(SUMS);
    fs::write(&file, &sums).with_context(|| format!("failed to write {}", file.display()))?;
    println!("\n{}:", into.display());
    for line in sums.lines() {
        let (_, name) = line.split_once("  ").context("a checksum without a name")?;
        println!("{:>12} bytes  {name}", fs::metadata(into.join(name))?.len());
    }
    sign(into, key)
}

/// Signs the checksums of a release if there is a key.
fn sign(folder: &Path, key: &SigningKey) -> Result<()> {
    match key.sign(&folder.join(SUMS), &format!("aloft {VERSION}"))? {
        Signed::Yes => println!("{SUMS}.minisig signs {SUMS}, and so every file"),
        Signed::WithoutKey => println!(
            "Nothing is signed: set ALOFT_SIGNING_KEY or ALOFT_SIGNING_KEY_FILE to sign {SUMS}"
        ),
    }
    Ok(())
}

/// Signs a release that was made without a key.
fn sign_release(folder: &Path) -> Result<()> {
    let key = SigningKey::from_environment()?;
    if !key.is_given() {
        bail!("no key signs the release: set ALOFT_SIGNING_KEY or ALOFT_SIGNING_KEY_FILE");
    }
    check_sums(folder)?;
    sign(folder, &key)
}

/// Compares the files of a release with its checksums.
fn check_sums(folder: &Path) -> Result<()> {
    if !folder.join(SUMS).is_file() {
        bail!("{} has no {SUMS}; `cargo xtask dist` makes a release", folder.display());
    }
    let mut sums = shell::command("sha256sum")?;
    shell::finish(sums.args(["--check", "--strict", "--quiet", SUMS]).current_dir(folder))
}

fn sbom_name() -> String {
    format!("aloft-{VERSION}.cdx.json")
}

/// Returns the programs to pack: those that exist, or one built for each target.
fn programs(options: &DistOptions) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for binary in &options.binaries {
        // Programs run in the folder of the workspace.
        let path = std::path::absolute(binary).context("the program has no absolute path")?;
        let architecture = Architecture::of_program(&path)?;
        programs.push(Program { path, architecture });
    }
    let targets = if programs.is_empty() { options.targets() } else { Vec::new() };
    // Builds take long, so everything else that can be missing is checked before.
    options.check_documents()?;
    targets.iter().try_for_each(|target| packaging::check_libraries(*target))?;
    for architecture in targets {
        programs.push(build(architecture)?);
    }
    for program in &programs {
        check_program(program)?;
    }
    Ok(programs)
}

fn build(architecture: Architecture) -> Result<Program> {
    setup::for_provider_release()?;
    let triple = architecture.triple();
    let plan = BuildPlan {
        package: "aloft",
        program: "aloft",
        profile: PROFILE,
        triple: &triple,
        glibc: GLIBC,
        names_target: true,
    };
    let mut zig = setup::zigbuild()?.context("Zig is not installed: run `cargo xtask setup`")?;
    for secret in signature::SECRETS {
        zig.env_remove(secret);
    }
    plan.build(Some(zig)).with_context(|| {
        format!("failed to build for {triple}; `rustup target add {triple}` installs its library")
    })?;
    Ok(Program { path: plan.built("aloft")?, architecture })
}

/// Checks that a program runs on the oldest systems, and prints its size.
fn check_program(program: &Program) -> Result<()> {
    let Program { path, architecture } = program;
    let found = Architecture::of_program(path)?;
    if found != *architecture {
        bail!("{} is for {}, not for {}", path.display(), found.name(), architecture.name());
    }
    let glibc = check_glibc(path, GLIBC)?;
    let glibc = glibc.map_or_else(|| "no glibc".into(), |it| format!("glibc {it} or newer"));
    let bytes = fs::metadata(path)?.len();
    println!("{}: {} bytes, {}, needs {glibc}", path.display(), bytes, architecture.name());
    Ok(())
}

/// Returns the documents that a program for this machine prints.
fn documents(options: &DistOptions, programs: &[Program]) -> Result<Documents> {
    let here = Architecture::of_this_machine();
    let of_here = programs.iter().find(|it| Some(it.architecture) == here);
    let program = options.documents_from.as_deref().or(of_here.map(|it| it.path.as_path()));
    let program = program.context(options::NO_DOCUMENTS)?;
    Documents::of(&std::path::absolute(program)?)
}

/// Writes the archive, the packages and the image of one program.
fn write_packages(
    program: &Program,
    documents: &Documents,
    seconds: u64,
    into: &Path,
) -> Result<()> {
    let Program { path, architecture } = program;
    let folder = format!("aloft-{VERSION}-linux-{}", architecture.name());
    let files = contents::of_archive(path, documents)?;
    let archive = tarball::compressed(&files, &folder, seconds)?;
    fs::write(into.join(format!("{folder}.tar.gz")), archive)?;
    let facts =
        PackageFacts { version: VERSION, architecture: *architecture, glibc: GLIBC, seconds };
    for format in Format::ALL {
        let files = contents::of_package(path, documents, format, &facts.debian_changelog()?)?;
        let package = into.join(format.file_name(VERSION, *architecture));
        package::write(&files, format, &facts, &package)?;
    }
    let image = into.join(format!("aloft-{VERSION}-image-{}.tar", architecture.debian()));
    packaging::write_image(path, &image)?;
    Ok(())
}

fn default_folder() -> PathBuf {
    shell::workspace().join("target/dist-packages")
}

/// Returns the time of all files: that of the variable, or of the newest commit.
fn seconds() -> Result<u64> {
    let text = match std::env::var(EPOCH) {
        Ok(text) => text,
        Err(_) => shell::output("git", &["log", "-1", "--format=%ct"])
            .with_context(|| format!("no time for the files: set {EPOCH}, or run in a clone"))?,
    };
    text.trim().parse().with_context(|| format!("{EPOCH} must be seconds since 1970: `{text}`"))
}

/// Creates an empty folder. Files of another release would otherwise be among the checksums. Removes nothing if
/// one file is not of a release.
fn empty(folder: &Path) -> Result<()> {
    let is_of_release = |name: &str| name.starts_with("aloft") || name.starts_with(SUMS);
    fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let paths = entries.collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
    let name_of = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(other) = paths.iter().find(|path| !path.is_file() || !is_of_release(&name_of(path)))
    {
        bail!("{} is not a file of a release; choose another folder", other.display());
    }
    for path in paths {
        fs::remove_file(&path).with_context(|| format!("failed to remove {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_with_other_files_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        for name in ["aloft_1.deb", SUMS, "notes.txt"] {
            fs::write(file(name), "").unwrap();
        }
        let refused = empty(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("notes.txt is not a file of a release"), "{refused}");
        assert!(file("aloft_1.deb").is_file() && file(SUMS).is_file());
        fs::remove_file(file("notes.txt")).unwrap();
        empty(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
