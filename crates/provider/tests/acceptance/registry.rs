//! The documentation as a registry checks it: `tfplugindocs validate` on the pages and the schema that
//! Terraform reads from the provider.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::tools::{terraform_hosts, tfplugindocs};
use tokio::process::Command;

use crate::world::World;

/// Copies the pages, and leaves the examples.
fn copy_pages(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
        if path.is_dir() && name != "examples" {
            copy_pages(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// Returns the schema as `terraform` prints it, under the name by which `tfplugindocs` looks for
/// it.
async fn schema(world: &World) -> String {
    world.configure("");
    let printed = world.terraform.run(&["providers", "schema", "-json"]).await.unwrap();
    let mut schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    let ours = schema["provider_schemas"]["registry.terraform.io/aloft/service"].take();
    assert!(ours["list_resource_schemas"].is_object(), "{:?}", printed.stderr);
    schema["provider_schemas"] = serde_json::json!({ "service": ours });
    schema.to_string()
}

#[tokio::test]
async fn tfplugindocs_accepts_the_documentation() {
    // issue 16 point 18
    let newest = terraform_hosts().into_iter().find(|host| host.name == "terraform-1.15").unwrap();
    let world = World::start_on(&newest).await;
    let folder = tempfile::tempdir().unwrap();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform");
    copy_pages(&root, &folder.path().join("docs"));
    let file = folder.path().join("schema.json");
    fs::write(&file, schema(&world).await).unwrap();
    let validate = async || {
        let mut command = Command::new(tfplugindocs());
        command.args(["validate", "--provider-name", "service", "--provider-dir"]);
        command.arg(folder.path()).arg("--providers-schema").arg(&file);
        command.output().await.unwrap()
    };
    let output = validate().await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // It compares the pages with the schema.
    fs::remove_file(folder.path().join("docs/resources/http_monitor.md")).unwrap();
    let output = validate().await;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && stderr.contains("service_http_monitor"), "{stderr}");
}
