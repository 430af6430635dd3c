//! The libraries that a program loads, for its image: those of this machine, or of the packages in which Debian
//! has the libraries of another processor.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::release::{Architecture, needed_libraries};
use crate::shell;

/// A library: its file on this machine, and its path in the image.
#[derive(Debug, PartialEq)]
pub(super) struct Library {
    pub(super) file: PathBuf,
    /// Relative to the root.
    pub(super) path: String,
}

/// Returns the libraries that a program loads, and its loader. A static program has none.
pub(super) fn libraries(binary: &Path, architecture: Architecture) -> Result<Vec<Library>> {
    if Architecture::of_this_machine() == Some(architecture) {
        let paths = loaded_here(binary)?.into_iter();
        return Ok(paths
            .map(|path| Library { path: path[1..].to_owned(), file: path.into() })
            .collect());
    }
    let mut needed = needed_libraries(binary)?;
    if needed.is_empty() {
        return Ok(Vec::new());
    }
    let folder = foreign_folder(architecture);
    let loader = loader(architecture);
    let loader_name = loader.rsplit('/').next().unwrap_or(loader).to_owned();
    needed.retain(|name| *name != loader_name);
    // glibc's other libraries need only this one.
    if !needed.iter().any(|name| name == "libc.so.6") {
        needed.push("libc.so.6".into());
    }
    let mut found = vec![Library { file: folder.join(&loader_name), path: loader.into() }];
    for name in needed {
        let path = format!("lib/{}-linux-gnu/{name}", architecture.name());
        found.push(Library { file: folder.join(name), path });
    }
    found.iter().try_for_each(|library| check_exists(&library.file, architecture))?;
    Ok(found)
}

/// Checks that this machine has the libraries of a processor, before a program is built for it.
pub(crate) fn check_libraries(architecture: Architecture) -> Result<()> {
    if Architecture::of_this_machine() == Some(architecture) {
        return Ok(());
    }
    check_exists(&foreign_folder(architecture).join("libc.so.6"), architecture)
}

fn check_exists(library: &Path, architecture: Architecture) -> Result<()> {
    if library.is_file() {
        return Ok(());
    }
    bail!(
        "{} not found; install Debian's package `libc6-{}-cross`",
        library.display(),
        architecture.debian()
    )
}

/// Returns the folder in which Debian has the libraries of another processor.
fn foreign_folder(architecture: Architecture) -> PathBuf {
    format!("/usr/{}-linux-gnu/lib", architecture.name()).into()
}

/// Returns the path of the loader of programs, which each program contains.
fn loader(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "lib64/ld-linux-x86-64.so.2",
        Architecture::Aarch64 => "lib/ld-linux-aarch64.so.1",
    }
}

/// Returns the paths of the libraries that a program of this machine loads, and of its loader.
fn loaded_here(binary: &Path) -> Result<Vec<String>> {
    let mut ldd = shell::command("ldd")?;
    let output = ldd.arg(binary).output().context("failed to start ldd")?;
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if err.contains("not a dynamic executable") || out.contains("statically linked") {
        return Ok(Vec::new());
    }
    if !output.status.success() {
        bail!("ldd {} failed: {err}", binary.display());
    }
    library_paths(&out)
}

/// Reads the output of `ldd`.
fn library_paths(listed: &str) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for line in listed.lines() {
        let (name, found) = line.split_once("=>").unwrap_or(("", line));
        if found.contains("not found") {
            bail!("the library `{}` of the program is missing on this machine", name.trim());
        }
        // The kernel provides `linux-vdso.so.1`, which has no path.
        let path = found.split_whitespace().next().unwrap_or_default();
        if path.starts_with('/') {
            paths.push(path.to_owned());
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_library_is_named() {
        let listed = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x2)\n\t\
                      /lib64/ld.so.2 (0x3)\n";
        assert_eq!(library_paths(listed).unwrap(), ["/lib/x/libc.so.6", "/lib64/ld.so.2"]);
        let error = library_paths("\tlibgone.so.1 => not found\n").unwrap_err();
        assert!(error.to_string().contains("`libgone.so.1`"), "{error}");
    }
}
