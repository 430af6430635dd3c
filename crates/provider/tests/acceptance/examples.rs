//! Every example of the documentation, unchanged: applied, planned again, imported, destroyed.

use std::fs;
use std::path::PathBuf;

use crate::world::World;

/// Returns the examples of a folder with the names of their resources.
pub(crate) fn examples(folder: &str, file: &str) -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform/examples");
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        found.push((name, fs::read_to_string(entry.path().join(file)).unwrap()));
    }
    found.sort();
    found
}

#[tokio::test]
async fn resource_examples_apply_and_import() {
    let examples = examples("resources", "resource.tf");
    let names: Vec<_> = examples.iter().map(|(name, _)| name.as_str()).collect();
    let mut tables: Vec<_> = rules::tables::RESOURCES.iter().map(|table| table.name).collect();
    tables.sort_unstable();
    assert_eq!(names, tables);
    let world = World::start().await;
    for (_, example) in examples {
        let state = world.settle(&example).await;
        // A write-only value cannot be read: its version costs an update.
        let written_only = ["service_notification.push", "service_status_page.customers"];
        world.import_all(&example, &state, &written_only).await;
        world.destroy().await;
    }
}

#[tokio::test]
async fn provider_example_applies() {
    let world = World::start().await;
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/terraform/examples");
    let example = fs::read_to_string(root.join("provider/provider.tf")).unwrap();
    let here = example.replace("127.0.0.1:8080", &world.server.address().to_string());
    assert_ne!(here, example);
    let whoami = "data \"service_whoami\" \"this\" {}\n";
    world.terraform.configure(&(here + whoami)).unwrap();
    let applied = world.terraform.apply().await.unwrap();
    assert_eq!(applied.state.value("data.service_whoami.this", "slug"), "acme");
}

#[tokio::test]
async fn data_source_examples_apply() {
    let world = World::start().await;
    for (_, example) in examples("data-sources", "data-source.tf") {
        world.settle(&example).await;
        world.destroy().await;
    }
}
