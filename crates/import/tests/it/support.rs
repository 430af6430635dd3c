//! Test data, and the check that every configuration is valid YAML.

use std::fs;
use std::path::{Path, PathBuf};

use aloft_import::{Import, Peer, SecretStyle};

/// Returns a file of the test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Unpacks a compressed file of the test data into a folder.
pub(crate) fn unpacked(name: &str, folder: &Path, as_name: &str) -> PathBuf {
    let packed = fs::File::open(data(name)).unwrap();
    let path = folder.join(as_name);
    let mut file = fs::File::create(&path).unwrap();
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut file).unwrap();
    path
}

/// Imports a source without environment variables.
pub(crate) fn import_of(peer: Peer, path: &Path) -> Result<Import, String> {
    aloft_import::read(peer, path, &|_| None).map_err(|error| error.to_string())
}

/// Returns configuration and preview, after a check that a second import gives the same.
pub(crate) fn configuration(peer: Peer, path: &Path) -> (String, String) {
    let written = import_of(peer, path).unwrap().write(SecretStyle::Named);
    let again = import_of(peer, path).unwrap().write(SecretStyle::Named);
    assert_eq!(written.text, again.text);
    (written.text, written.preview.to_text())
}

/// Compares a text with a file of the test data. `ALOFT_TEST_DATA=write` writes the file instead.
pub(crate) fn assert_data(name: &str, text: &str) {
    let path = data(name);
    if std::env::vars().any(|(variable, value)| variable == "ALOFT_TEST_DATA" && value == "write") {
        fs::write(&path, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap_or_default(), "{name}");
}
