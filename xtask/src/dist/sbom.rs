//! The list of the libraries in the program (SBOM) with their licences, from what cargo links.
//! Format: `CycloneDX` 1.6, <https://cyclonedx.org/docs/1.6/json/>

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::release::{Architecture, LinkedCrates, linked_crates, metadata};
use crate::{setup, shell};

/// Crate of the program.
const ROOT: &str = "aloft";
/// Program that compares an SBOM with the schema of the format.
const VALIDATE: &str = "xtask/src/dist/validate_sbom.py";

/// Writes the SBOM of the program for these processors to a file.
pub(super) fn write(
    into: &Path,
    version: &str,
    architectures: &[Architecture],
    seconds: u64,
) -> Result<()> {
    let seconds = i64::try_from(seconds).context("the time of the release is too late")?;
    let linked = linked_crates(architectures)?;
    let lock = fs::read_to_string(shell::workspace().join("Cargo.lock"))
        .context("failed to read Cargo.lock")?;
    let time = jiff::Timestamp::from_second(seconds).context("the time of the release")?;
    let sbom = describe(&metadata()?, &linked, &checksums(&lock)?, version, &time.to_string())?;
    fs::write(into, format!("{sbom:#}\n"))
        .with_context(|| format!("failed to write {}", into.display()))
}

/// Validates an SBOM by the schema of the format, and checks that it has no crate that `deny.toml` bans.
pub(super) fn validate(file: &Path) -> Result<()> {
    let text =
        fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let sbom: Value = serde_json::from_str(&text)
        .with_context(|| format!("{} is not valid JSON", file.display()))?;
    let banned = banned()?;
    if let Some(name) = names(&sbom).find(|name| banned.iter().any(|it| it == name)) {
        bail!("{} lists the crate `{name}`, which deny.toml bans", file.display());
    }
    let mut python = shell::command("python3")?;
    python.env("PYTHONPATH", shell::tools().join(setup::KUBERNETES_FOLDER));
    shell::finish(python.arg(VALIDATE).arg(setup::sbom_schemas()).arg(file))
}

/// Returns the time of the files of a release, in seconds since 1970.
pub(super) fn seconds_of(file: &Path) -> Result<u64> {
    let text =
        fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
    let sbom: Value = serde_json::from_str(&text)?;
    let time = sbom["metadata"]["timestamp"].as_str().context("the SBOM has no time")?;
    let time: jiff::Timestamp = time.parse().context("the time of the SBOM")?;
    Ok(time.as_second().try_into()?)
}

fn names(sbom: &Value) -> impl Iterator<Item = &str> {
    list(&sbom["components"]).iter().filter_map(|component| component["name"].as_str())
}

/// Returns the crates that `deny.toml` bans.
fn banned() -> Result<Vec<String>> {
    let text = fs::read_to_string(shell::workspace().join("deny.toml"))
        .context("failed to read deny.toml")?;
    let rules: toml::Table = toml::from_str(&text).context("failed to parse deny.toml")?;
    let banned = rules.get("bans").and_then(|bans| bans.get("deny")?.as_array());
    let banned = banned.context("deny.toml bans no crates")?;
    let name = |rule: &toml::Value| Some(rule.get("crate")?.as_str()?.to_owned());
    Ok(banned.iter().filter_map(name).collect())
}

/// Checksums of the packages of registries, by name and version.
type Checksums = BTreeMap<(String, String), String>;

fn checksums(lock: &str) -> Result<Checksums> {
    let lock: toml::Table = toml::from_str(lock).context("failed to parse Cargo.lock")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let mut checksums = Checksums::new();
    for package in packages.context("Cargo.lock lists no packages")? {
        let text = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        if let (Some(name), Some(version), Some(sum)) =
            (text("name"), text("version"), text("checksum"))
        {
            checksums.insert((name, version), sum);
        }
    }
    Ok(checksums)
}

/// Returns the SBOM of the linked crates.
fn describe(
    metadata: &Value,
    linked: &LinkedCrates,
    sums: &Checksums,
    version: &str,
    time: &str,
) -> Result<Value> {
    let is_linked = |package: &&Value| linked.contains(&identity(package));
    let packages = list(&metadata["packages"]).iter().filter(is_linked);
    let by_id: BTreeMap<&str, &Value> =
        packages.filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let is_root = |package: &&&Value| package["name"] == ROOT;
    let root = by_id.values().find(is_root).context("cargo resolved no crate `aloft`")?;
    let nodes = list(&metadata["resolve"]["nodes"]);
    let edges: BTreeMap<&str, BTreeSet<String>> = nodes
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, needed(node, &by_id))))
        .collect();
    let mut components = BTreeMap::new();
    let mut dependencies = BTreeMap::new();
    for (id, package) in &by_id {
        let reference = purl(package);
        dependencies.insert(reference.clone(), edges.get(id).cloned().unwrap_or_default());
        if package["name"] != ROOT {
            components.insert(reference, component(package, "library", sums));
        }
    }
    let dependencies: Vec<Value> = dependencies
        .into_iter()
        .map(|(reference, needed)| json!({ "ref": reference, "dependsOn": needed }))
        .collect();
    let tool = json!({ "type": "application", "name": "cargo xtask dist", "version": version });
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time,
            "tools": { "components": [tool] },
            "component": component(root, "application", sums),
        },
        "components": components.into_values().collect::<Vec<_>>(),
        "dependencies": dependencies,
    }))
}

/// Returns the addresses of the linked crates that a crate needs.
fn needed(node: &Value, by_id: &BTreeMap<&str, &Value>) -> BTreeSet<String> {
    let is_needed = |dependency: &&Value| {
        list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
    };
    let needed = list(&node["deps"]).iter().filter(is_needed);
    needed.filter_map(|it| by_id.get(it["pkg"].as_str()?)).map(|package| purl(package)).collect()
}

fn identity(package: &Value) -> (String, String) {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    (text("name"), text("version"))
}

fn component(package: &Value, kind: &str, sums: &Checksums) -> Value {
    let reference = purl(package);
    let mut component = json!({
        "type": kind,
        "bom-ref": reference,
        "name": package["name"],
        "version": package["version"],
        "licenses": [licence(package)],
        "purl": reference,
    });
    if let Some(sum) = sums.get(&identity(package)) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if let Some(repository) = package["repository"].as_str() {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

/// Returns the licence as an expression of SPDX. Old crates separate alternatives by `/`.
fn licence(package: &Value) -> Value {
    match package["license"].as_str() {
        Some(expression) => {
            let alternatives: Vec<&str> = expression.split('/').map(str::trim).collect();
            json!({ "expression": alternatives.join(" OR ") })
        }
        None => json!({ "license": { "name": "a licence file in the package" } }),
    }
}

/// Returns the address of a package: <https://github.com/package-url/purl-spec>.
fn purl(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default();
    format!("pkg:cargo/{}@{}", text("name"), text("version").replace('+', "%2B"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: Option<&str>, kind: &str) -> Value {
        json!({ "id": name, "name": name, "version": "1.0.0+a", "license": licence,
            "repository": null, "targets": [{ "kind": [kind] }] })
    }

    #[test]
    fn banned_crates_are_read() {
        assert!(banned().unwrap().contains(&"ring".to_owned()));
    }

    fn edge(name: &str, kind: Option<&str>) -> Value {
        json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] })
    }

    #[test]
    fn sbom_lists_linked_crates_only() {
        let metadata = json!({
            "packages": [
                package("aloft", Some("Apache-2.0"), "bin"),
                package("linked", Some("MIT/Apache-2.0"), "lib"),
                package("below", None, "lib"),
                package("derive", Some("MIT"), "proc-macro"),
                package("tested", Some("MIT"), "lib"),
                package("other", Some("MIT"), "lib"),
            ],
            "resolve": { "nodes": [
                { "id": "aloft", "deps": [
                    edge("linked", None), edge("derive", None), edge("tested", Some("dev")),
                ] },
                { "id": "linked", "deps": [edge("below", None), edge("other", Some("build"))] },
            ] },
        });
        let lock = "[[package]]\nname = \"linked\"\nversion = \"1.0.0+a\"\nchecksum = \"ab\"\n";
        let linked = ["aloft", "linked", "below"].map(|name| (name.into(), "1.0.0+a".into()));
        let sums = checksums(lock).unwrap();
        let found = describe(&metadata, &linked.into(), &sums, "1.0.0", "t").unwrap();
        let components = list(&found["components"]);
        let names: Vec<_> = components.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["below", "linked"]);
        assert_eq!(components[1]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(components[1]["hashes"][0]["content"], "ab");
        assert_eq!(components[1]["purl"], "pkg:cargo/linked@1.0.0%2Ba");
        assert_eq!(found["metadata"]["component"]["name"], "aloft");
        assert_eq!(found["dependencies"][0]["dependsOn"][0], "pkg:cargo/linked@1.0.0%2Ba");
    }
}
