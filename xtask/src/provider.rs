//! `cargo xtask provider install|package|docs`: installs the Terraform provider where
//! `terraform init` finds it, packages it as registries require, and generates its documentation.
//! Leaves signing a release to the owner of the key.

mod docs;
mod install;
mod package;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::release::{BuildPlan, GlibcVersion, check_glibc};
use crate::{setup, shell};

const USAGE: &str = "\
usage: cargo xtask provider install [--into FOLDER] [--built]
       cargo xtask provider package [--into FOLDER] [--built] [--target TRIPLE]
       cargo xtask provider docs [--check]";
/// Source address of the provider in configurations, below the host of a registry.
const SOURCE: [&str; 2] = ["aloft", "service"];
/// Name of the program in cargo.
const PROGRAM: &str = "terraform-provider-service";
/// Build profile for users (decision 0021).
const PROFILE: &str = "provider";
/// The glibc of the oldest systems that the provider runs on, such as CentOS 7 (2014).
const GLIBC: GlibcVersion = GlibcVersion(2, 17);
/// Version of every crate, and therefore of the provider.
const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) use docs::check as check_docs;

/// Builds the provider and installs or packages it by `words`, or writes its documentation.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    match words {
        ["docs"] => return docs::write(),
        ["docs", "--check"] => return docs::check(),
        _ => {}
    }
    let Some((command, rest)) = words.split_first() else { bail!("{USAGE}") };
    let options = ProviderOptions::read(rest)?;
    match *command {
        "install" if options.target.is_none() => {
            let mirror = options.into.clone().map_or_else(install::home, Ok)?;
            let (program, platform) = options.program()?;
            install::install(&program, &mirror, &platform)
        }
        "package" => {
            let folder = options.into.clone();
            let folder = folder.unwrap_or_else(|| shell::workspace().join("target/provider"));
            setup::for_provider_release()?;
            let (program, platform) = options.program()?;
            if platform.os == "linux" {
                match check_glibc(&program, GLIBC)? {
                    Some(glibc) => println!("runs on systems with glibc {glibc} or newer"),
                    None => println!("runs on every Linux: the program is static"),
                }
            }
            package::package(&program, &folder, &platform)
        }
        _ => bail!("{USAGE}"),
    }
}

/// Parsed arguments.
#[derive(Debug, Default, PartialEq)]
struct ProviderOptions {
    into: Option<PathBuf>,
    built: bool,
    target: Option<String>,
}

impl ProviderOptions {
    fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--built" => options.built = true,
                "--into" => options.into = Some(words.next().context(USAGE)?.into()),
                "--target" => options.target = Some((*words.next().context(USAGE)?).to_owned()),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }

    /// Returns the path of the program and its platform. Builds it unless an existing one is
    /// requested.
    fn program(&self) -> Result<(PathBuf, Platform)> {
        let triple = match &self.target {
            Some(triple) => triple.clone(),
            None => shell::output("rustc", &["--print", "host-tuple"])?.trim().to_owned(),
        };
        let platform = Platform::from_target(&triple)?;
        let zig = if platform.os == "linux" { setup::zigbuild()? } else { None };
        let plan = BuildPlan {
            package: "aloft-provider",
            program: PROGRAM,
            profile: PROFILE,
            triple: &triple,
            glibc: GLIBC,
            names_target: zig.is_some() || self.target.is_some(),
        };
        if !self.built {
            plan.build(zig)?;
        }
        Ok((plan.built(&platform.file(PROGRAM))?, platform))
    }
}

/// An operating system and a processor by Terraform's names.
#[derive(Debug, PartialEq)]
struct Platform {
    os: &'static str,
    arch: &'static str,
}

impl Platform {
    /// Returns the platform of a Rust target.
    fn from_target(triple: &str) -> Result<Self> {
        let known_as = |names: &[(&str, &'static str)]| {
            names.iter().find(|(name, _)| triple.contains(name)).map(|(_, known)| *known)
        };
        let os = known_as(&[
            ("-linux-", "linux"),
            ("-darwin", "darwin"),
            ("-windows-", "windows"),
            ("-freebsd", "freebsd"),
        ]);
        let arch = known_as(&[("x86_64-", "amd64"), ("aarch64-", "arm64")]);
        let platform = os.zip(arch).map(|(os, arch)| Self { os, arch });
        platform.with_context(|| format!("unknown platform `{triple}` in Terraform"))
    }

    /// Returns the file name of a program.
    fn file(&self, name: &str) -> String {
        format!("{name}{}", if self.os == "windows" { ".exe" } else { "" })
    }

    /// Returns the program's file name in a release.
    fn released(&self) -> String {
        self.file(&format!("{PROGRAM}_v{VERSION}"))
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}_{}", self.os, self.arch)
    }
}

/// Returns the error message for a file that could not be read.
fn reading(path: &Path) -> String {
    format!("failed to read {}; build it, or omit `--built`", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_have_the_names_of_terraform() {
        for (triple, name, file) in [
            ("x86_64-unknown-linux-gnu", "linux_amd64", "p"),
            ("aarch64-unknown-linux-musl", "linux_arm64", "p"),
            ("aarch64-apple-darwin", "darwin_arm64", "p"),
            ("x86_64-pc-windows-msvc", "windows_amd64", "p.exe"),
        ] {
            let platform = Platform::from_target(triple).unwrap();
            assert_eq!((platform.to_string().as_str(), platform.file("p").as_str()), (name, file));
        }
        assert!(Platform::from_target("wasm32-unknown-unknown").is_err());
    }

    #[test]
    fn arguments_are_parsed_and_unknown_ones_rejected() {
        let options = ProviderOptions::read(&["--into", "x", "--built"]).unwrap();
        assert_eq!(options, ProviderOptions { into: Some("x".into()), built: true, target: None });
        for words in [&["--into"][..], &["--build"], &["x"]] {
            assert!(ProviderOptions::read(words).is_err(), "{words:?}");
        }
        assert!(run(&[]).is_err() && run(&["install", "--target", "x"]).is_err());
    }
}
