//! Configurations: entries with one owner per resource, limits, and the end of their workspace.

use rules::configuration::{ConfigurationRecord, ConfiguredKey, ConfiguredResource};
use rules::limits;
use store::{Page, StoreError, WorkspaceEdit};

use crate::harness::{Home, a_workspace, at, for_each_engine, workspace_id};

const ALL: Page<i64> = Page { limit: 100, offset: 0, after: None };

fn key(key: &str) -> ConfiguredKey {
    ConfiguredKey { kind: "http_monitor", key: key.to_owned() }
}

fn entry(name: &str, id: &str) -> ConfiguredResource {
    let id = (!id.is_empty()).then(|| id.to_owned());
    ConfiguredResource { key: key(name), id }
}

fn record(name: &str, put: Vec<ConfiguredResource>, remove: &[&str]) -> ConfigurationRecord {
    let remove = remove.iter().copied().map(key).collect();
    ConfigurationRecord { name: name.to_owned(), put, remove }
}

impl Home {
    async fn entries(&self, workspace: u64, name: &str) -> Vec<String> {
        let configurations = self.store.configurations();
        let found = configurations.entries(workspace_id(workspace), name, ALL).await.unwrap();
        let line = |entry: ConfiguredResource| {
            format!("{}={}", entry.key.key, entry.id.unwrap_or_default())
        };
        found.rows.into_iter().map(|row| line(row.entry)).collect()
    }

    async fn record(&self, record: ConfigurationRecord, millis: i64) -> Result<(), StoreError> {
        self.store.configurations().record(workspace_id(1), record, at(millis)).await
    }
}

#[tokio::test]
async fn entries_are_replaced_by_key() {
    for_each_engine(async |home| {
        home.record(record("a", vec![entry("x", ""), entry("y", "mon_2")], &[]), 1).await.unwrap();
        home.record(record("a", vec![entry("x", "mon_1")], &[]), 2).await.unwrap();
        assert_eq!(home.entries(1, "a").await, ["y=mon_2", "x=mon_1"]);
        home.record(record("a", vec![entry("z", "mon_2")], &["y", "absent"]), 3).await.unwrap();
        assert_eq!(home.entries(1, "a").await, ["z=mon_2", "x=mon_1"], "the key was renamed");
        let listed = home.store.configurations().list(workspace_id(1)).await.unwrap();
        let [one] = &listed[..] else { panic!("{listed:?}") };
        assert_eq!((one.name.as_str(), one.resource_count), ("a", 2));
        assert_eq!(one.updated_at.as_millis(), at(3).at.as_millis());
    })
    .await;
}

#[tokio::test]
async fn resource_has_one_owner() {
    for_each_engine(async |home| {
        home.record(record("a", vec![entry("x", "mon_1")], &[]), 1).await.unwrap();
        for taken in [
            record("b", vec![entry("y", "mon_9"), entry("x", "mon_1")], &[]),
            record("a", vec![entry("other", "mon_1")], &[]),
        ] {
            let error = home.record(taken, 2).await.unwrap_err();
            assert!(
                matches!(&error, StoreError::Taken(why) if why.given.as_deref() == Some("mon_1"))
            );
        }
        assert_eq!(home.entries(1, "b").await, [""; 0], "nothing of a refused call is stored");
        let configurations = home.store.configurations();
        assert!(configurations.delete(workspace_id(1), "a".to_owned(), at(3)).await.unwrap());
        assert!(!configurations.delete(workspace_id(1), "a".to_owned(), at(4)).await.unwrap());
        home.record(record("b", vec![entry("x", "mon_1")], &[]), 5).await.unwrap();
        assert_eq!(home.entries(1, "b").await, ["x=mon_1"]);
    })
    .await;
}

#[tokio::test]
async fn recorded_resource_is_not_replaced() {
    for_each_engine(async |home| {
        home.record(record("a", vec![entry("x", "mon_1")], &[]), 1).await.unwrap();
        home.record(record("a", vec![entry("x", "mon_1")], &[]), 2).await.unwrap();
        for other in ["mon_2", ""] {
            let error = home.record(record("a", vec![entry("x", other)], &[]), 3).await;
            assert!(matches!(&error, Err(StoreError::Taken(_))), "{other}: {error:?}");
            assert_eq!(home.entries(1, "a").await, ["x=mon_1"]);
        }
        home.record(record("a", vec![entry("x", "")], &["x"]), 4).await.unwrap();
        home.record(record("a", vec![entry("x", "mon_2")], &[]), 5).await.unwrap();
        assert_eq!(home.entries(1, "a").await, ["x=mon_2"]);
    })
    .await;
}

#[tokio::test]
async fn configurations_are_limited() {
    for_each_engine(async |home| {
        for number in 0..limits::CONFIGURATIONS_MAX {
            let one = record(&format!("c{number}"), vec![entry("x", "")], &[]);
            home.record(one, 1).await.unwrap();
        }
        let error = home.record(record("more", vec![entry("x", "")], &[]), 2).await.unwrap_err();
        assert!(matches!(&error, StoreError::Refused(why) if why.field == "name"), "{error}");
        home.record(record("c0", vec![entry("y", "")], &["x"]), 3).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn deleted_workspace_has_no_entries() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let two = workspace_id(2);
        let one = record("a", vec![entry("x", "mon_1")], &[]);
        home.store.configurations().record(two, one.clone(), at(2)).await.unwrap();
        home.record(one, 2).await.unwrap();
        home.store.workspaces().edit(two, WorkspaceEdit::Delete, at(3)).await.unwrap();
        assert_eq!(home.entries(2, "a").await, [""; 0]);
        assert_eq!(home.entries(1, "a").await, ["x=mon_1"]);
    })
    .await;
}
