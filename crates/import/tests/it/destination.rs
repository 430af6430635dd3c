//! Files of an import: their modes, refusals, and that no part of one stays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use aloft_import::{Destinations, Import, Peer, SecretStyle};
use tempfile::{TempDir, tempdir};

use crate::support::import_of;

const BACKUP: &str = r#"{"monitorList": [
    {"id": 1, "name": "Shop", "type": "http", "url": "https://example.com/", "interval": 60, "headers": "{\"X-Key\": \"k3y\"}"}
]}"#;

fn source() -> (TempDir, PathBuf, Import) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("kuma.json");
    fs::write(&path, BACKUP).unwrap();
    let import = import_of(Peer::UptimeKuma, &path).unwrap();
    (folder, path, import)
}

fn all_in(folder: &Path) -> Destinations {
    Destinations {
        output: Some(folder.join("aloft.yaml")),
        secrets: Some(folder.join("secrets.env")),
        history: Some(folder.join("history.jsonl")),
        force: false,
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode_of(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn files_with_secrets_are_private() {
    let (folder, path, import) = source();
    let destinations = all_in(folder.path());
    destinations.check(Peer::UptimeKuma, Some(&path)).unwrap();
    let written = import.write(SecretStyle::Named);
    let totals = destinations.write(&import, &written, SecretStyle::Named).unwrap();
    assert!(totals.is_some());
    let expected = ["aloft.yaml", "history.jsonl", "kuma.json", "secrets.env"];
    assert_eq!(names_in(folder.path()), expected);
    assert_eq!(mode_of(&folder.path().join("secrets.env")), 0o600);
    let inline =
        Destinations { output: Some(folder.path().join("inline.yaml")), ..Destinations::default() };
    let written = import.write(SecretStyle::Inline);
    inline.write(&import, &written, SecretStyle::Inline).unwrap();
    assert_eq!(mode_of(&folder.path().join("inline.yaml")), 0o600);
}

#[test]
fn existing_files_are_replaced_by_force_only() {
    let (folder, path, import) = source();
    let mut destinations = all_in(folder.path());
    let secrets = folder.path().join("secrets.env");
    fs::write(&secrets, "old").unwrap();
    fs::set_permissions(&secrets, fs::Permissions::from_mode(0o644)).unwrap();
    let error = destinations.check(Peer::UptimeKuma, Some(&path)).unwrap_err().to_string();
    assert!(
        error.ends_with("secrets.env` already exists; choose another file, or add `--force`"),
        "{error}"
    );
    destinations.force = true;
    destinations.check(Peer::UptimeKuma, Some(&path)).unwrap();
    let written = import.write(SecretStyle::Named);
    destinations.write(&import, &written, SecretStyle::Named).unwrap();
    assert_eq!(fs::read_to_string(&secrets).unwrap(), "MONITOR_SHOP_X_KEY=k3y\n");
    assert_eq!(mode_of(&secrets), 0o600);
}

#[test]
fn source_is_never_a_destination() {
    let (folder, path, _) = source();
    let link = folder.path().join("link.json");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let log = folder.path().join("kuma.json-wal");
    let kuma = Peer::UptimeKuma;
    let whole = folder.path().to_owned();
    let other = whole.join("kuma.db");
    fs::write(&other, "").unwrap();
    for (peer, source, output) in [
        (kuma, &path, &path),
        (kuma, &path, &link),
        (kuma, &path, &log),
        (kuma, &whole, &other),
        (Peer::Statuspage, &whole, &path),
    ] {
        let destinations =
            Destinations { output: Some(output.clone()), force: true, ..Destinations::default() };
        let error = destinations.check(peer, Some(source)).unwrap_err().to_string();
        assert!(error.contains("belongs to the source"), "{error}");
    }
    // An earlier result in the folder may be replaced.
    let earlier = whole.join("aloft.yaml");
    fs::write(&earlier, "").unwrap();
    let destinations =
        Destinations { output: Some(earlier), force: true, ..Destinations::default() };
    destinations.check(Peer::Statuspage, Some(&whole)).unwrap();
}

#[test]
fn one_file_for_two_things_is_refused() {
    let (folder, path, _) = source();
    let mut destinations = all_in(folder.path());
    destinations.secrets = Some(folder.path().join(".").join("aloft.yaml"));
    let error = destinations.check(Peer::UptimeKuma, Some(&path)).unwrap_err().to_string();
    assert!(error.contains("is the destination of two things; choose a file for each"), "{error}");
    destinations.secrets = Some(folder.path().to_owned());
    destinations.force = true;
    assert!(destinations.check(Peer::Gatus, None).unwrap_err().to_string().contains("is a folder"));
    destinations.secrets = Some(folder.path().join("missing/secrets.env"));
    assert!(
        destinations
            .check(Peer::Gatus, None)
            .unwrap_err()
            .to_string()
            .starts_with("failed to write `")
    );
}

#[test]
fn nothing_stays_after_an_error() {
    let (folder, _, import) = source();
    let destinations = all_in(folder.path());
    let written = import.write(SecretStyle::Named);
    // A folder of that name appears after the check.
    fs::create_dir_all(folder.path().join("aloft.yaml/inner")).unwrap();
    let error = destinations.write(&import, &written, SecretStyle::Named).unwrap_err().to_string();
    assert!(error.contains("failed to write `") && error.contains("aloft.yaml`"), "{error}");
    assert_eq!(names_in(folder.path()), ["aloft.yaml", "kuma.json"]);
}
