//! Test data, and the check that every configuration is valid YAML.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use aloft_import::{Import, Peer, SecretStyle, Written};
use configuration::{Document, Sources};

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
    let import = import_of(peer, path).unwrap();
    let written = import.write(SecretStyle::Named);
    assert_applies(&written);
    assert_applies(&import.write(SecretStyle::Inline));
    let again = import_of(peer, path).unwrap().write(SecretStyle::Named);
    assert_eq!(written.text, again.text);
    (written.text, written.preview.to_text())
}

/// Checks that `aloft apply` takes a configuration with the values of its secrets.
pub(crate) fn assert_applies(written: &Written) {
    if written.preview.objects.iter().any(|entry| entry.name == "the whole configuration") {
        return;
    }
    let values = values_of(&written.secrets);
    // A variable that the source names and that is not set has an address in tests.
    let variable = |name: &str| {
        Some(values.get(name).cloned().unwrap_or_else(|| format!("https://unset.example/{name}")))
    };
    let sources =
        Sources { variable: &variable, file: &|_| Err(std::io::ErrorKind::NotFound.into()) };
    let document = Document {
        name: "aloft.yaml".to_owned(),
        folder: PathBuf::new(),
        text: written.text.clone(),
    };
    let read = configuration::read(&[document], sources);
    assert!(read.is_ok(), "{}\n{}", read.err().unwrap(), written.text);
}

/// Reads the lines `NAME=value` as a shell does.
fn values_of(lines: &str) -> HashMap<String, String> {
    let mut values = HashMap::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let line = rest.split('\n').next().unwrap();
        if line.starts_with('#') {
            rest = &rest[line.len() + 1..];
            continue;
        }
        let (name, mut after) = rest.split_once('=').unwrap();
        let mut value = String::new();
        while !after.starts_with('\n') {
            let (part, next) = if let Some(quoted) = after.strip_prefix('\'') {
                quoted.split_once('\'').unwrap()
            } else if after.starts_with("\\'") {
                after[1..].split_at(1)
            } else {
                after.split_at(after.find(['\'', '\\', '\n']).unwrap())
            };
            value.push_str(part);
            after = next;
        }
        values.insert(name.to_owned(), value);
        rest = &after[1..];
    }
    values
}

/// Compares a text with a file of the test data. `ALOFT_TEST_DATA=write` writes the file instead.
pub(crate) fn assert_data(name: &str, text: &str) {
    let path = data(name);
    if std::env::vars().any(|(variable, value)| variable == "ALOFT_TEST_DATA" && value == "write") {
        fs::write(&path, text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(&path).unwrap_or_default(), "{name}");
}
