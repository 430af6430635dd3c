//! The list of the libraries in the program (SBOM) with their licences, from what cargo resolved.
//! Format: `CycloneDX` 1.6, <https://cyclonedx.org/docs/1.6/json/>

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::release::Architecture;
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
    let mut arguments = vec!["metadata".to_owned(), "--format-version=1".into(), "--locked".into()];
    for architecture in architectures {
        arguments.push(format!("--filter-platform={}", architecture.triple()));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let metadata = serde_json::from_str(&shell::output(&shell::cargo(), &arguments)?)?;
    let lock = fs::read_to_string(shell::workspace().join("Cargo.lock"))
        .context("failed to read Cargo.lock")?;
    let time = jiff::Timestamp::from_second(seconds).context("the time of the release")?;
    let sbom = describe(&metadata, &checksums(&lock)?, version, &time.to_string())?;
    fs::write(into, format!("{sbom:#}\n"))
        .with_context(|| format!("failed to write {}", into.display()))
}

/// Validates an SBOM by the schema of the format.
pub(super) fn validate(file: &Path) -> Result<()> {
    let mut python = shell::command("python3")?;
    python.env("PYTHONPATH", shell::tools().join(setup::KUBERNETES_FOLDER));
    shell::finish(python.arg(VALIDATE).arg(setup::sbom_schemas()).arg(file))
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

/// Returns the SBOM of the packages that `cargo metadata` resolved.
fn describe(metadata: &Value, sums: &Checksums, version: &str, time: &str) -> Result<Value> {
    let packages = list(&metadata["packages"]);
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let is_root = |package: &&&Value| package["name"] == ROOT;
    let root = by_id.values().find(is_root).context("cargo resolved no crate `aloft`")?;
    let nodes = list(&metadata["resolve"]["nodes"]);
    let edges: BTreeMap<&str, Vec<&str>> = nodes
        .iter()
        .filter_map(|node| Some((node["id"].as_str()?, linked(node, &by_id))))
        .collect();
    let root_id = root["id"].as_str().context("the crate `aloft` has no ID")?;
    let mut components = BTreeMap::new();
    let mut dependencies = BTreeMap::new();
    for id in reachable(root_id, &edges) {
        let package = by_id.get(id).with_context(|| format!("cargo describes no package {id}"))?;
        let reference = purl(package);
        let needed = edges.get(id).into_iter().flatten().filter_map(|it| by_id.get(it));
        let needed: BTreeSet<String> = needed.map(|package| purl(package)).collect();
        dependencies.insert(reference.clone(), needed);
        if id != root_id {
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

/// Returns the IDs of the packages that a package links: neither tests, nor build scripts, nor macros.
fn linked<'m>(node: &'m Value, by_id: &BTreeMap<&str, &Value>) -> Vec<&'m str> {
    let mut linked = Vec::new();
    for dependency in list(&node["deps"]) {
        let is_linked = list(&dependency["dep_kinds"]).iter().any(|it| it["kind"].is_null());
        let Some(id) = dependency["pkg"].as_str().filter(|_| is_linked) else { continue };
        let is_macro = by_id.get(id).is_some_and(|package| is_macro(package));
        if !is_macro {
            linked.push(id);
        }
    }
    linked
}

fn is_macro(package: &Value) -> bool {
    let targets = list(&package["targets"]).iter();
    targets.flat_map(|target| list(&target["kind"])).any(|kind| kind == "proc-macro")
}

/// Returns the packages that a package links, directly or not, and the package itself.
fn reachable<'m>(root: &'m str, edges: &BTreeMap<&'m str, Vec<&'m str>>) -> BTreeSet<&'m str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    reached
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
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    if let Some(sum) = sums.get(&(text("name"), text("version"))) {
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
        let found = describe(&metadata, &checksums(lock).unwrap(), "1.0.0", "t").unwrap();
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
