//! The Terraform of the reference: every block of `docs/reference/`, unchanged, in one configuration.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use crate::world::World;

/// Returns every Terraform block once.
fn blocks() -> BTreeSet<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let blocks = text.split("\n```terraform\n").skip(1);
        found.extend(blocks.map(|rest| rest.split("```").next().unwrap().to_owned()));
    }
    found
}

// issue 8, point 3: "per method a runnable example as curl, TypeScript and, where it applies, Terraform"
#[tokio::test]
async fn blocks_of_the_reference_apply() {
    let blocks = blocks();
    for table in rules::tables::RESOURCES {
        let resource = format!("resource \"{}\"", table.name);
        assert!(blocks.iter().any(|block| block.starts_with(&resource)), "{resource}");
    }
    for table in rules::tables::DATA_SOURCES {
        let data = format!("data \"{}\"", table.name);
        assert!(blocks.iter().any(|block| block.starts_with(&data)), "{data}");
    }
    let world = World::start().await;
    world.settle(&blocks.into_iter().collect::<Vec<_>>().join("\n")).await;
    world.destroy().await;
}
