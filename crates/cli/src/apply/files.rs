//! Reads configuration files, and the variables and files that they refer to.

use std::fs::{self, File};
use std::io::{self, Read, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use configuration::{Configuration, Document, FILE_BYTES_MAX, FILES_MAX, Sources, VALUE_BYTES_MAX};
use server::boot;

/// Name of standard input.
const STDIN: &str = "-";
/// Name of standard input in messages.
const STDIN_SHOWN: &str = "stdin";
/// Endings of the files of a folder.
const ENDINGS: [&str; 2] = ["yaml", "yml"];

/// Maximum size of all files together, in bytes.
const TOTAL_BYTES_MAX: usize = 16 * FILE_BYTES_MAX;

/// Reads the configuration of these files and folders.
pub(super) fn read(paths: &[PathBuf]) -> Result<Configuration> {
    let (mut documents, mut bytes) = (Vec::new(), 0);
    let mut add = |document: Document| {
        bytes += document.text.len();
        if bytes > TOTAL_BYTES_MAX {
            bail!(
                "the files have more than {TOTAL_BYTES_MAX} bytes together; split them into \
                 configurations with a `name` each"
            );
        }
        documents.push(document);
        Ok(())
    };
    for path in paths {
        if path == Path::new(STDIN) {
            let text =
                read_text(stdin().lock(), FILE_BYTES_MAX).context("reading standard input")?;
            add(Document { name: STDIN_SHOWN.to_owned(), folder: PathBuf::new(), text })?;
        } else if path.is_dir() {
            for path in files_of(path)? {
                add(document(&path)?)?;
            }
        } else {
            add(document(path)?)?;
        }
    }
    let sources = Sources { variable: &boot::variable, file: &read_value };
    Ok(configuration::read(&documents, sources)?)
}

fn document(path: &Path) -> Result<Document> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("opening `{shown}`"))?;
    let text = read_text(file, FILE_BYTES_MAX).with_context(|| format!("reading `{shown}`"))?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(Document { name: shown.to_string(), folder, text })
}

/// Returns the YAML files of a folder, in order of their names.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let shown = folder.display();
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("reading the folder `{shown}`"))? {
        let path = entry.with_context(|| format!("reading the folder `{shown}`"))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| ENDINGS.contains(&ending)) && path.is_file() {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            bail!("the folder `{shown}` has more than {FILES_MAX} files; merge some");
        }
    }
    if files.is_empty() {
        bail!("the folder `{shown}` has no file that ends in .yaml or .yml; correct the path");
    }
    files.sort();
    Ok(files)
}

/// Reads the file of a value.
fn read_value(path: &Path) -> io::Result<String> {
    read_text(File::open(path)?, VALUE_BYTES_MAX).map_err(io::Error::other)
}

/// Reads a text of at most this size.
fn read_text(source: impl Read, bytes_max: usize) -> Result<String> {
    let mut bytes = Vec::new();
    source.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        bail!("it is larger than {bytes_max} bytes");
    }
    String::from_utf8(bytes).map_err(|why| {
        let line =
            why.as_bytes()[..why.utf8_error().valid_up_to()].split(|byte| *byte == b'\n').count();
        anyhow!("line {line} is not UTF-8; convert the file")
    })
}
