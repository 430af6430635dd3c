//! Every change of a resource writes an audit entry, and a failed change writes none.

use store::{Actor, ApiKey, AuditContext, KeyHash};

use crate::harness::{a_workspace, at, for_each_engine, instant, key_id};

// design: §6 "Every change of a resource writes an audit row in the same transaction"
#[tokio::test]
async fn every_change_is_audited_with_its_actor() {
    for_each_engine(async |home| {
        let key = ApiKey {
            id: key_id(1),
            workspace: home.workspace,
            name: "ci".to_owned(),
            scope: None,
            created_at: instant(1),
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        home.store.keys().create(key, KeyHash::new("a"), at(1)).await.unwrap();
        let by_key = |millis| AuditContext { actor: Actor::Key(key_id(1)), at: instant(millis) };
        let monitor = home.monitor(2).await;
        let mut settings = monitor.settings.clone();
        settings.retry = 0;
        let monitor = home.store.monitors().update(monitor, settings, by_key(3)).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor.id, by_key(4)).await.unwrap();
        home.store.keys().revoke(home.workspace, key_id(1), at(5)).await.unwrap();
        let rows: Vec<String> = home
            .store
            .audit()
            .newest(home.workspace, 10)
            .await
            .unwrap()
            .into_iter()
            .map(|entry| {
                let row = [entry.actor, entry.action, entry.resource_id, entry.detail];
                row.join(" · ").trim_end_matches(" · ").to_owned()
            })
            .collect();
        insta::allow_duplicates! {
            insta::assert_snapshot!(rows.join("\n"), @r"
            command line · key.revoke · key_0000000000001
            key_0000000000001 · monitor.delete · mon_0000000000002
            key_0000000000001 · monitor.update · mon_0000000000002 · revision 2
            command line · monitor.create · mon_0000000000002 · revision 1
            command line · key.create · key_0000000000001 · ci
            command line · workspace.create · ws_0000000000001 · team-1
            ");
        }
    })
    .await;
}

#[tokio::test]
async fn failed_change_is_not_audited() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(1), at(1)).await.unwrap_err();
        let rows = home.store.audit().newest(home.workspace, 10).await.unwrap();
        assert_eq!(rows.len(), 1, "only the creation of the workspace: {rows:?}");
    })
    .await;
}
