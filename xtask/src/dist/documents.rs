//! Completions and manual pages, which the program prints itself. They are the same for every processor.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Completions and manual pages.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) bash: Vec<u8>,
    pub(super) zsh: Vec<u8>,
    pub(super) fish: Vec<u8>,
    /// Manual pages by file name, such as `aloft.1`.
    pub(super) pages: BTreeMap<String, Vec<u8>>,
}

impl Documents {
    /// Runs a program of this machine to get its documents.
    pub(super) fn of(program: &Path) -> Result<Self> {
        let program = program.to_string_lossy();
        let completions = |name: &str| {
            let script = shell::output(&program, &["completions", name])?;
            if script.is_empty() {
                bail!("`{program} completions {name}` printed nothing");
            }
            Ok(script.into_bytes())
        };
        let folder = tempfile::tempdir()?;
        shell::output(&program, &["man", "--into", &folder.path().display().to_string()])?;
        let mut pages = BTreeMap::new();
        for entry in fs::read_dir(folder.path())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let page = fs::read(&path).with_context(|| format!("failed to read {name}"))?;
            pages.insert(name, page);
        }
        if !pages.contains_key("aloft.1") {
            bail!("`{program} man` wrote no page aloft.1");
        }
        Ok(Self {
            bash: completions("bash")?,
            zsh: completions("zsh")?,
            fish: completions("fish")?,
            pages,
        })
    }
}
