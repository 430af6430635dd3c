//! Renders the Helm chart with several sets of values, and checks it: by Helm's own rules, by the schemas of
//! the oldest and the newest Kubernetes, and that it refuses values that cannot work.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::uses::{Uses, entries, members};
use super::{documents, files};
use crate::{setup, shell};

const CHART: &str = "packaging/helm/aloft";
/// Sets of values that work, and sets that the chart refuses.
const VALUES: &str = "packaging/helm/values";
const REFUSED: &str = "packaging/helm/refused";
/// First line of a refused set, before a part of the message.
const BECAUSE: &str = "# Refused: ";
/// Versions of Kubernetes: the oldest that the chart supports, and the newest that the schemas have.
const KUBERNETES: [&str; 2] = ["1.25", "1.37"];

pub(super) fn check(uses: &mut Uses) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for values in files(VALUES)? {
        let values = values.display().to_string();
        shell::run("helm", &["lint", "--strict", "--quiet", CHART, "--values", &values])?;
        for version in KUBERNETES {
            let rendered = folder.path().join(format!("{version}.yaml"));
            fs::write(&rendered, shell::output("helm", &template(version, &values))?)?;
            validate(version, &rendered)?;
            for document in documents(&rendered)? {
                read_uses(uses, &document)?;
            }
        }
    }
    for values in files(REFUSED)? {
        must_refuse(&values)?;
    }
    Ok(())
}

fn template<'a>(version: &'a str, values: &'a str) -> [&'a str; 7] {
    ["template", "aloft", CHART, "--kube-version", version, "--values", values]
}

/// Validates objects. Unknown fields are errors.
fn validate(version: &str, rendered: &Path) -> Result<()> {
    let mut python = shell::command("python3")?;
    python.env("PYTHONPATH", shell::tools().join(setup::KUBERNETES_FOLDER));
    python.args(["-m", "kubernetes_validate", "--strict", "--quiet", "-k", version]).arg(rendered);
    shell::finish(&mut python)
}

/// Checks that Helm fails with the message that the first line of the file names.
fn must_refuse(values: &Path) -> Result<()> {
    let text = fs::read_to_string(values)?;
    let because = text.lines().next().and_then(|line| line.strip_prefix(BECAUSE));
    let because =
        because.with_context(|| format!("{} must begin with `{BECAUSE}`", values.display()))?;
    let path = values.display().to_string();
    let mut helm = shell::command("helm")?;
    let output = helm.args(template(KUBERNETES[1], &path)).output();
    let output = output.context("failed to start helm")?;
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.success() || !message.contains(because) {
        bail!("helm did not refuse {path} with `{because}`: {message}");
    }
    Ok(())
}

/// Records the commands, variables and settings of an object.
fn read_uses(uses: &mut Uses, document: &Value) -> Result<()> {
    if let Some(file) = document["data"]["aloft.toml"].as_str() {
        uses.read_settings(file)?;
    }
    for container in members(&document["spec"]["template"]["spec"]["containers"]) {
        uses.read_words(&container["args"])?;
        for variable in members(&container["env"]) {
            let mut named = entries(variable);
            let name = named.find(|(key, _)| *key == "name").and_then(|(_, value)| value.as_str());
            let name = name.context("a variable has no name")?;
            uses.read_environment(std::iter::once((name, &variable["value"])))?;
        }
    }
    Ok(())
}
