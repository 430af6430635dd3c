//! The archive for every Linux: one folder with the program and what belongs to it.

use std::collections::BTreeSet;

use anyhow::Result;

use super::contents::{PackedFile, gzip};
use crate::packaging::{Archive, Rights};

/// Returns the compressed archive of these files in a folder.
pub(super) fn compressed(files: &[PackedFile], folder: &str, seconds: u64) -> Result<Vec<u8>> {
    gzip(&tarball(files, folder, seconds)?)
}

fn tarball(files: &[PackedFile], folder: &str, seconds: u64) -> Result<Vec<u8>> {
    let mut archive = Archive::at(seconds);
    archive.folder(folder, Rights::USABLE)?;
    let folders = files.iter().filter_map(|it| it.path.rsplit_once('/'));
    for (below, _) in folders.collect::<BTreeSet<_>>() {
        archive.folder(&format!("{folder}/{below}"), Rights::USABLE)?;
    }
    for file in files {
        // Everybody may unpack the archive: permissions of secrets come with their installation.
        let mode = if file.mode & 0o111 == 0 { 0o644 } else { 0o755 };
        archive.file(&format!("{folder}/{}", file.path), Rights { owner: 0, mode }, &file.bytes)?;
    }
    Ok(archive.finish())
}
