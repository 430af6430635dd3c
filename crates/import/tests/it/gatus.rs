//! Gatus: a folder with anchors, merge keys, variables, alerts and all kinds of endpoints.

use std::fs;
use std::path::Path;

use aloft_import::{Peer, SecretStyle};
use tempfile::tempdir;

use crate::support::{assert_applies, assert_data, data, import_of};

fn environment(name: &str) -> Option<String> {
    match name {
        "HOST" => Some("example.com".to_owned()),
        "API_TOKEN" => Some("very-secret".to_owned()),
        _ => None,
    }
}

#[test]
fn folder_is_imported() {
    let import = aloft_import::read(Peer::Gatus, &data("gatus"), &environment).unwrap();
    let written = import.write(SecretStyle::Named);
    assert_applies(&written);
    assert_data("gatus.yaml", &written.text);
    assert_data("gatus.txt", &written.preview.to_text());
    assert!(
        !written.text.contains("very-secret") && !written.preview.to_text().contains("very-secret")
    );
    assert!(written.secrets.contains("# SLACK_WEBHOOK_URL is not set where the import ran\n"));
    let inline = import.write(SecretStyle::Inline).text;
    assert!(inline.contains("Bearer very-secret") && inline.contains("{env: SLACK_WEBHOOK_URL}"));
}

#[test]
fn unusable_files_are_named_with_a_remedy() {
    let folder = tempdir().unwrap();
    let error_of = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let shown = format!("{}/", folder.path().display());
        import_of(Peer::Gatus, &path).unwrap_err().replace(&shown, "")
    };
    for (name, text, expected) in [
        (
            "a.yaml",
            "",
            "`a.yaml` is not a mapping; give the configuration file of Gatus, with `endpoints`",
        ),
        (
            "b.yaml",
            "web: {port: 80}",
            "`b.yaml` has no `endpoints`; give the configuration file of Gatus, or its folder",
        ),
        ("c.yaml", "endpoints:\n  - name: a\n   url: b", "`c.yaml`, line 3, column 4: "),
        (
            "d.yaml",
            "endpoints: []\nendpoints: []",
            "`d.yaml`, line 2, column 1: has the key `endpoints` twice",
        ),
    ] {
        let error = error_of(name, text);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn folder_without_files_is_refused() {
    let folder = tempdir().unwrap();
    let error = import_of(Peer::Gatus, folder.path()).unwrap_err();
    assert!(error.contains("has no file `.yaml` or `.yml`"), "{error}");
}

#[test]
fn value_in_two_files_is_refused() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("1.yaml"), "endpoints: []\nweb: {port: 1}").unwrap();
    fs::write(folder.path().join("2.yaml"), "web: {port: 2}").unwrap();
    let error = import_of(Peer::Gatus, Path::new(folder.path())).unwrap_err();
    assert!(error.contains("2.yaml` sets `web.port`, which another file sets too"), "{error}");
}
