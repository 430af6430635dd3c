//! Checks an image of a release: its checksums, its processor, and the program in it.
//! Format: <https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md>

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::packaging::PROGRAM_IN_IMAGE;
use crate::release::{Architecture, sha256};
use crate::shell;

/// Checks that an image contains this program for this processor.
pub(super) fn check(image: &Path, program: &Path, architecture: Architecture) -> Result<()> {
    let unpacked = tempfile::tempdir()?;
    check_layout(image, program, architecture, unpacked.path())
        .with_context(|| format!("{} is wrong", image.display()))
}

fn check_layout(
    image: &Path,
    program: &Path,
    architecture: Architecture,
    unpacked: &Path,
) -> Result<()> {
    untar(image, unpacked, &[])?;
    let index = parse(&fs::read(unpacked.join("index.json")).context("it has no index.json")?)?;
    let manifest = parse(&blob(unpacked, &index["manifests"][0])?)?;
    let config = parse(&blob(unpacked, &manifest["config"])?)?;
    if config["architecture"] != architecture.debian() {
        bail!("it is for {}, not for {}", config["architecture"], architecture.debian());
    }
    let layer = unpacked.join("layer.tar");
    fs::write(&layer, blob(unpacked, &manifest["layers"][0])?)?;
    untar(&layer, unpacked, &[PROGRAM_IN_IMAGE])?;
    if fs::read(unpacked.join(PROGRAM_IN_IMAGE))? != fs::read(program)? {
        bail!("its program differs from that of the archive");
    }
    Ok(())
}

fn untar(archive: &Path, into: &Path, paths: &[&str]) -> Result<()> {
    let (archive, into) = (archive.to_string_lossy(), into.to_string_lossy());
    let arguments = ["--extract", "--no-same-owner", "--file", &archive, "--directory", &into];
    shell::output("tar", &[&arguments[..], paths].concat()).map(drop)
}

/// Reads the file that a descriptor names, and checks it.
fn blob(unpacked: &Path, descriptor: &Value) -> Result<Vec<u8>> {
    let digest = descriptor["digest"].as_str().and_then(|it| it.strip_prefix("sha256:"));
    let digest = digest.context("a file of it has no checksum")?;
    let bytes = fs::read(unpacked.join("blobs/sha256").join(digest))
        .with_context(|| format!("it has no file {digest}"))?;
    let found = sha256(&bytes);
    if found != digest {
        bail!("its file {digest} has the checksum {found}");
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).context("it has a file that is not valid JSON")
}
