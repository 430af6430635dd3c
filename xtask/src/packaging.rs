//! Checks the files of `packaging/` with the programs that read them, and builds the image.
//! `chart` renders and checks the Helm chart, `rules` the alerts and the dashboard, and `uses` lists the
//! command lines, variables and settings of all files. The tests of the crate `cli` compare this list with the
//! program. `image` builds an image without a daemon, from the archive of `tar`.

mod chart;
mod image;
mod libraries;
mod rules;
mod tar;
mod units;
mod uses;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

pub(crate) use self::image::{run as run_image, write_image};
pub(crate) use self::libraries::check_libraries;
pub(crate) use self::tar::{Archive, Rights};
use self::uses::Uses;
use crate::{setup, shell};

/// File with what all others use.
const USES: &str = "packaging/uses.txt";

/// Checks all files, and writes or compares the list of what they use.
pub(crate) fn run(check_only: bool) -> Result<()> {
    setup::for_packaging()?;
    let mut uses = Uses::default();
    units::check(&mut uses)?;
    check_settings(&mut uses)?;
    uses.read_containerfile(&read("packaging/Containerfile")?)?;
    check_compose(&mut uses)?;
    chart::check(&mut uses)?;
    rules::check()?;
    image::check()?;
    let (text, path) = (uses.text(), shell::workspace().join(USES));
    if !check_only {
        return fs::write(path, text).context("failed to write the list");
    }
    if fs::read_to_string(path).unwrap_or_default() != text {
        bail!("{USES} is outdated: run `cargo xtask packaging`");
    }
    Ok(())
}

/// Records the settings of packages, with those that operators enable by removing a `# `.
fn check_settings(uses: &mut Uses) -> Result<()> {
    uses.read_settings(&uncommented(&read("packaging/linux/settings/aloft.toml")?, " = "))?;
    let secrets = uncommented(&read("packaging/linux/settings/secrets")?, "=");
    let variables: Vec<(&str, Value)> = secrets
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name, Value::from(value)))
        .collect();
    uses.read_environment(variables.iter().map(|(name, value)| (*name, value)))
}

/// Returns the assignments of a file, including those behind a `# `.
fn uncommented(text: &str, assigns: &str) -> String {
    let is_name = |it: &str| it.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
    let lines = text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let assignments =
        lines.filter(|line| line.split_once(assigns).is_some_and(|(name, _)| is_name(name)));
    assignments.fold(String::new(), |text, line| text + line + "\n")
}

/// Checks the compose file, and the secrets that its script creates.
fn check_compose(uses: &mut Uses) -> Result<()> {
    let folder = tempfile::tempdir()?;
    for name in ["compose.yaml", "prepare"] {
        let from = shell::workspace().join("packaging/compose").join(name);
        fs::copy(from, folder.path().join(name))
            .with_context(|| format!("failed to copy {name}"))?;
    }
    let prepare = folder.path().join("prepare").display().to_string();
    let probe = ["probe", "prb_028t5cy4tqkff", "token", "fly-ams", "fly-fra"];
    for arguments in [&[][..], &probe] {
        shell::run(&prepare, arguments)?;
        let file = folder.path().join("secrets/nats.conf").display().to_string();
        shell::run("nats-server", &["-t", "-c", &file])?;
    }
    uses.read_settings(&fs::read_to_string(folder.path().join("secrets/aloft.toml"))?)?;
    let file = folder.path().join("compose.yaml").display().to_string();
    let model = shell::output("compose-spec", &["-format", "json", &file])?;
    let model: Value = serde_json::from_str(&model).context("failed to parse the compose file")?;
    for service in uses::members(&model["services"]) {
        if service["image"].as_str().is_some_and(|image| image.starts_with("aloft:")) {
            uses.read_words(&service["command"])?;
            uses.read_health(&service["healthcheck"]["test"])?;
            uses.read_environment(uses::entries(&service["environment"]))?;
        }
    }
    Ok(())
}

fn read(path: &str) -> Result<String> {
    fs::read_to_string(shell::workspace().join(path))
        .with_context(|| format!("failed to read {path}"))
}

/// Returns the paths of the files in a folder, in order.
fn files(folder: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(shell::workspace().join(folder));
    let entries = entries.with_context(|| format!("failed to read {folder}"))?;
    let mut files: Vec<PathBuf> =
        entries.map(|entry| Ok(entry?.path())).collect::<Result<_, std::io::Error>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    if files.is_empty() {
        bail!("{folder} has no files");
    }
    Ok(files)
}

/// Returns the documents of a YAML file as JSON, read by the library of the validator of Kubernetes.
fn documents(file: &Path) -> Result<Vec<Value>> {
    const PROGRAM: &str = "import json, sys, yaml; \
        print(json.dumps([it for it in yaml.safe_load_all(open(sys.argv[1])) if it]))";
    let mut python = shell::command("python3")?;
    python.env("PYTHONPATH", shell::tools().join(setup::KUBERNETES_FOLDER));
    python.args(["-c", PROGRAM]).arg(file);
    let output = python.output().context("failed to start python3")?;
    if !output.status.success() {
        bail!("{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("failed to parse the documents")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commented_settings_count_as_settings() {
        let text = "# Where: a, b = c.\na = 1\n# b_c = \"2\"\n";
        assert_eq!(uncommented(text, " = "), "a = 1\nb_c = \"2\"\n");
    }
}
