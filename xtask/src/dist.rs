//! `cargo xtask dist`: makes a release of the program: archives, packages, images, an SBOM, checksums and a
//! signature. Equal programs give equal files. `check` looks into the packages, and `lifecycle` installs, upgrades
//! and removes them in a copy of this machine.

mod check;
mod contents;
mod documents;
mod folder;
mod format;
mod image;
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
use self::signature::SigningKey;
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
/// Maximum size of a program, so that growth is noticed. Decision 0076 has the measured sizes.
const BYTES_MAX: u64 = 48_000_000;
/// Latest time that archives can contain.
const SECONDS_MAX: u64 = 0o77_777_777_777;
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
        ["--verify", words @ ..] => {
            let options = DistOptions::read_verify(words)?;
            return verify::verify(&options.folder()?, &options.targets());
        }
        _ => {}
    }
    let options = DistOptions::read(words)?;
    let into = options.folder()?;
    folder::check(&into, options.inputs())?;
    setup::for_packages()?;
    let programs = programs(&options)?;
    let documents = documents(&options, &programs)?;
    let seconds = seconds()?;
    folder::empty(&into, options.inputs())?;
    for program in &programs {
        write_packages(program, &documents, seconds, &into)?;
    }
    let architectures: Vec<Architecture> = programs.iter().map(|it| it.architecture).collect();
    sbom::write(&into.join(sbom_name()), VERSION, &architectures, seconds)?;
    finish(&into)
}

/// Writes the checksums of all files of a release, and lists the files.
fn finish(into: &Path) -> Result<()> {
    let sums = sums_of(into, |_| true)?;
    let file = into.join(SUMS);
    fs::write(&file, &sums).with_context(|| format!("failed to write {}", file.display()))?;
    println!("\n{}:", into.display());
    for line in sums.lines() {
        let (_, name) = line.split_once("  ").context("a checksum without a name")?;
        println!("{:>12} bytes  {name}", fs::metadata(into.join(name))?.len());
    }
    println!("Nothing is signed yet; `cargo xtask dist --sign {}` does it", into.display());
    Ok(())
}

/// Signs the checksums of a release. A step of its own, so that nothing is built with the key in the environment.
fn sign_release(folder: &Path) -> Result<()> {
    let key = SigningKey::from_environment()?;
    setup::for_signing()?;
    check_sums(folder)?;
    key.sign(&folder.join(SUMS), &format!("aloft {VERSION}"))?;
    println!("{SUMS}.minisig signs {SUMS}, and so every file");
    Ok(())
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
        if programs.iter().any(|it: &Program| it.architecture == architecture) {
            bail!("{} is the second program for {}", path.display(), architecture.name());
        }
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
    let zig = setup::zigbuild()?.context("Zig is not installed: run `cargo xtask setup`")?;
    plan.build(Some(zig)).with_context(|| {
        format!("failed to build for {triple}; `rustup target add {triple}` installs its library")
    })?;
    Ok(Program { path: plan.built("aloft")?, architecture })
}

/// Checks the version and the size of a program, and that it runs on the oldest systems.
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
    if bytes > BYTES_MAX {
        bail!("{} has more than {BYTES_MAX} bytes: find the cause (decision 0056)", path.display());
    }
    check_version(program)
}

/// Checks that a program has the version of the release, if this machine runs it.
fn check_version(program: &Program) -> Result<()> {
    if Architecture::of_this_machine() != Some(program.architecture) {
        return Ok(());
    }
    let printed = shell::output(&program.path.to_string_lossy(), &["--version"])?;
    if printed.trim() != format!("aloft {VERSION}") {
        let path = program.path.display();
        bail!("{path} prints the version `{}`, expected `aloft {VERSION}`", printed.trim());
    }
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
    let folder = folder::archive_name(*architecture);
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
    packaging::write_image(path, &into.join(folder::image_name(*architecture)))?;
    Ok(())
}

/// Returns the time of all files: that of the variable, or of the newest commit.
fn seconds() -> Result<u64> {
    let text = match std::env::var(EPOCH) {
        Ok(text) => text,
        Err(_) => shell::output("git", &["log", "-1", "--format=%ct"])
            .with_context(|| format!("no time for the files: set {EPOCH}, or run in a clone"))?,
    };
    parse_seconds(&text)
}

fn parse_seconds(text: &str) -> Result<u64> {
    let text = text.trim();
    let seconds = text.parse().ok().filter(|seconds| *seconds <= SECONDS_MAX);
    seconds.with_context(|| {
        format!("{EPOCH} must be seconds since 1970, at most {SECONDS_MAX}: `{text}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_beyond_archives_is_refused() {
        assert_eq!(parse_seconds("8589934591\n").unwrap(), SECONDS_MAX);
        for text in ["8589934592", "-1", "today"] {
            let refused = parse_seconds(text).unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
        }
    }
}
