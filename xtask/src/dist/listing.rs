//! The files in a package, as `dpkg-deb` and `rpm` list them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};

use super::format::Format;
use crate::shell;

/// Kind and rights of a file in a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedFile {
    pub(super) is_folder: bool,
    pub(super) mode: u32,
    pub(super) owner: String,
    pub(super) group: String,
}

/// Files by their absolute paths.
pub(super) type Listing = BTreeMap<String, ListedFile>;

/// Lists the files of a package with the program of its format.
pub(super) fn list(package: &Path, format: Format) -> Result<Listing> {
    let package = package.to_string_lossy();
    match format {
        Format::Deb => read_deb(&shell::output("dpkg-deb", &["--contents", &package])?),
        Format::Rpm => read_rpm(&shell::output("rpm", &["-qp", "--dump", &package])?),
    }
}

/// Reads lines such as `-rw-r--r-- root/root 610 2026-11-27 21:01 ./etc/aloft/aloft.toml`.
fn read_deb(text: &str) -> Result<Listing> {
    let mut listing = Listing::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (rights, owners) = (words.next(), words.next());
        let path = words.nth(3).and_then(|path| path.strip_prefix('.'));
        let owners = owners.and_then(|it| it.split_once('/'));
        let file = rights.zip(owners).zip(path);
        let ((rights, (owner, group)), path) =
            file.with_context(|| format!("dpkg-deb lists a file in an unknown form: {line}"))?;
        let (kind, rights) = rights.split_at_checked(1).context("a file without rights")?;
        let listed = ListedFile {
            is_folder: kind == "d",
            mode: mode(rights),
            owner: owner.to_owned(),
            group: group.to_owned(),
        };
        listing.insert(path.trim_end_matches('/').to_owned(), listed);
    }
    Ok(listing)
}

/// Reads nine characters such as `rw-r--r--`.
fn mode(rights: &str) -> u32 {
    rights.chars().take(9).fold(0, |mode, right| mode << 1 | u32::from(right != '-'))
}

/// Reads lines such as `/etc/aloft 4096 1795813317 0000 040750 root aloft 0 0 1 X`.
fn read_rpm(text: &str) -> Result<Listing> {
    const KIND: u32 = 0o170_000;
    const FOLDER: u32 = 0o040_000;
    let mut listing = Listing::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [path, _, _, _, mode, owner, group, ..] = words.as_slice() else {
            anyhow::bail!("rpm lists a file in an unknown form: {line}");
        };
        let mode = u32::from_str_radix(mode, 8)
            .with_context(|| format!("rpm lists a file with unknown rights: {line}"))?;
        let listed = ListedFile {
            is_folder: mode & KIND == FOLDER,
            mode: mode & 0o7777,
            owner: (*owner).to_owned(),
            group: (*group).to_owned(),
        };
        listing.insert((*path).to_owned(), listed);
    }
    Ok(listing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(is_folder: bool, mode: u32, group: &str) -> ListedFile {
        ListedFile { is_folder, mode, owner: "root".into(), group: group.into() }
    }

    #[test]
    fn listings_of_both_formats_are_read() {
        let deb = "drwxr-x--- root/aloft         0 2026-11-27 21:01 ./etc/aloft/\n\
                   -rw------- root/root       610 2026-11-27 21:01 ./etc/aloft/secrets\n";
        let rpm = "/etc/aloft 4096 1795813317 0000 040750 root aloft 0 0 1 X\n\
                   /etc/aloft/secrets 610 1795813317 8fe5 0100600 root root 1 0 1 X\n";
        let expected = Listing::from([
            ("/etc/aloft".to_owned(), listed(true, 0o750, "aloft")),
            ("/etc/aloft/secrets".to_owned(), listed(false, 0o600, "root")),
        ]);
        assert_eq!(read_deb(deb).unwrap(), expected);
        assert_eq!(read_rpm(rpm).unwrap(), expected);
    }

    #[test]
    fn unknown_forms_are_named() {
        assert!(read_deb("what").unwrap_err().to_string().contains("what"));
        assert!(read_rpm("/a 1 2").unwrap_err().to_string().contains("/a 1 2"));
    }
}
