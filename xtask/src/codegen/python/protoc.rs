//! Runs protoc with its generator for Python. Both are in the package grpcio-tools, which
//! `cargo xtask setup` installs, so that nobody needs a protoc of a certain version.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::{setup, shell};

/// Generates the modules of these files, by name.
pub(super) fn generate(proto: &Path, files: &[String]) -> Result<BTreeMap<String, String>> {
    let packages = setup::protoc_folder()?;
    let scratch = tempfile::tempdir()?;
    let mut command = shell::command("python3")?;
    command.env("PYTHONPATH", packages).args(["-m", "grpc_tools.protoc", "--proto_path"]);
    command.arg(proto).arg("--python_out").arg(scratch.path()).args(files);
    shell::finish(&mut command)?;
    let mut modules = BTreeMap::new();
    for file in files {
        let path = file.replace(".proto", "_pb2.py");
        let code = fs::read_to_string(scratch.path().join(&path))
            .with_context(|| format!("protoc generated no {path}"))?;
        let name = path.rsplit('/').next().unwrap_or(&path);
        modules.insert(name.to_owned(), relative(&code, files));
    }
    Ok(modules)
}

/// Makes imports of our own modules relative: they are not at the top, but in the client's package.
fn relative(code: &str, files: &[String]) -> String {
    let mut code = code.to_owned();
    for file in files {
        if let Some((folder, _)) = file.rsplit_once('/') {
            let absolute = format!("\nfrom {} import ", folder.replace('/', "."));
            code = code.replace(&absolute, "\nfrom . import ");
        }
    }
    code
}
