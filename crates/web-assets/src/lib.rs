//! Build step of the crates that embed style sheets and scripts: it adds the colours of `palette.css`,
//! minifies, and writes the result for `include_str!`. Only build scripts use it.
//!
//! `palette` turns the two themes into rules, and `minify` removes what browsers do not need.
#![expect(clippy::print_stdout, reason = "Cargo reads the output of build scripts")]

mod minify;
mod palette;

use std::path::{Path, PathBuf};
use std::{env, fs};

pub use self::palette::Surface;

/// Folder of the sources in each crate.
const FOLDER: &str = "assets";

/// The assets of the crate that is being built.
#[derive(Debug)]
pub struct Assets {
    source: PathBuf,
    out: PathBuf,
}

impl Assets {
    /// Returns the assets of the crate whose build script is running.
    pub fn from_build_script() -> Self {
        let folder = |name| PathBuf::from(env::var_os(name).expect("Cargo sets it"));
        Self { source: folder("CARGO_MANIFEST_DIR").join(FOLDER), out: folder("OUT_DIR") }
    }

    /// Writes the style sheet `name` from its parts, in the order of the cascade, with the colours for
    /// this surface before them.
    pub fn write_style(&self, name: &str, parts: &[&str], surface: Surface) {
        let parts: String = parts.iter().map(|part| self.read(part)).collect();
        self.write(name, &minify::style(&(surface.palette(&parts) + &parts)));
    }

    /// Writes the script `name`.
    pub fn write_script(&self, name: &str) {
        self.write(name, &minify::script(&self.read(name)));
    }

    /// Writes the script `name` from its parts.
    pub fn write_scripts(&self, name: &str, parts: &[&str]) {
        let parts: String = parts.iter().map(|part| self.read(part)).collect();
        self.write(name, &minify::script(&parts));
    }

    fn read(&self, name: &str) -> String {
        let path = self.source.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        read(&path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.out.join(name);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
