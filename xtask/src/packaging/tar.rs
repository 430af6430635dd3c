//! Writes archives in the POSIX format `ustar`, the same bytes for the same input: with one time for all
//! files, without names of users, or an order that depends on the machine. The caller adds folders before the
//! files in them.

use std::fmt::Write as _;

use anyhow::{Result, bail};

/// Size of a block.
const BLOCK: usize = 512;
/// Maximum length of a name without its prefix, in bytes.
const NAME_MAX: usize = 100;

/// Kind of an entry, as its byte in the header.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum EntryKind {
    File = b'0',
    Folder = b'5',
}

/// Owner and permissions of an entry. User and group have the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rights {
    pub(crate) owner: u32,
    pub(crate) mode: u32,
}

impl Rights {
    /// Rights of files that everybody reads and only root writes.
    pub(crate) const READABLE: Self = Self { owner: 0, mode: 0o644 };
    /// Rights of programs and folders that everybody uses and only root writes.
    pub(crate) const USABLE: Self = Self { owner: 0, mode: 0o755 };
}

/// An archive in memory.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    /// Time of all entries in seconds since 1970.
    seconds: u64,
}

impl Archive {
    /// Creates an archive whose entries all have this time, in seconds since 1970.
    pub(crate) fn at(seconds: u64) -> Self {
        Self { bytes: Vec::new(), seconds }
    }

    pub(crate) fn folder(&mut self, path: &str, rights: Rights) -> Result<()> {
        self.entry(&format!("{path}/"), rights, EntryKind::Folder, &[])
    }

    pub(crate) fn file(&mut self, path: &str, rights: Rights, bytes: &[u8]) -> Result<()> {
        self.entry(path, rights, EntryKind::File, bytes)
    }

    /// Returns the bytes, with the two empty blocks that end an archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }

    fn entry(&mut self, path: &str, rights: Rights, kind: EntryKind, bytes: &[u8]) -> Result<()> {
        let mut header = Vec::with_capacity(BLOCK);
        if path.len() > NAME_MAX || path.starts_with('/') {
            bail!("`{path}` must be relative, and have at most {NAME_MAX} bytes");
        }
        let mut field = |text: &str, length: usize| {
            header.extend_from_slice(text.as_bytes());
            header.resize(header.len() + length - text.len(), 0);
        };
        field(path, NAME_MAX);
        field(&format!("{:07o}", rights.mode), 8);
        field(&format!("{:07o}", rights.owner), 8);
        field(&format!("{:07o}", rights.owner), 8);
        field(&format!("{:011o}", bytes.len()), 12);
        field(&format!("{:011o}", self.seconds), 12);
        // The sum counts its own field as spaces.
        field("        ", 8);
        field(char::from(kind as u8).encode_utf8(&mut [0; 4]), 1);
        field("", 100);
        field("ustar\u{0}00", 8);
        field("", 247);
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        let mut text = String::new();
        write!(text, "{sum:06o}\u{0} ")?;
        header[148..156].copy_from_slice(text.as_bytes());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(BLOCK), 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::shell;

    #[test]
    fn archive_is_unpacked_by_tar() {
        let mut archive = Archive::default();
        archive.folder("a", Rights::USABLE).unwrap();
        archive.file("a/b", Rights { owner: 0, mode: 0o640 }, &[7; 513]).unwrap();
        archive.file("c", Rights::READABLE, b"").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("archive.tar");
        fs::write(&file, archive.finish()).unwrap();
        let (file, into) = (file.display().to_string(), folder.path().display().to_string());
        shell::output("tar", &["-xpf", &file, "--no-same-owner", "-C", &into]).unwrap();
        assert_eq!(fs::read(folder.path().join("a/b")).unwrap(), [7; 513]);
        let mode = fs::metadata(folder.path().join("a/b")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert_eq!(fs::read(folder.path().join("c")).unwrap(), b"");
    }

    #[test]
    fn absolute_and_long_paths_are_refused() {
        for path in ["/etc/passwd", &"a".repeat(NAME_MAX + 1)] {
            assert!(Archive::default().file(path, Rights::READABLE, b"").is_err(), "{path}");
        }
    }
}
