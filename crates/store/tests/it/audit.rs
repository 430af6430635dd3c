//! Every change of a resource writes an audit entry, and a failed change writes none.

use serde_json::json;
use store::{
    Actor, ApiKey, AuditContext, AuditFilter, ExportFormat, FieldChanges, KeyHash, ResourceVersions,
};

use crate::harness::{a_workspace, at, for_each_engine, instant, key_id};
use crate::keys::a_key;

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
        let by_key = |millis| AuditContext::new(Actor::Key(key_id(1)), instant(millis));
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

fn changes() -> FieldChanges {
    let versions = [json!({ "name": "API" }), json!({ "name": "=cmd|\"x\"" })];
    let versions = versions.each_ref();
    FieldChanges::between(&ResourceVersions { complete: versions, redacted: versions })
}

// issue 18 point 2: "who, what, before and after, when, from where"
#[tokio::test]
async fn entry_has_origin_and_changed_fields() {
    for_each_engine(async |home| {
        let monitor = home.monitor(2).await;
        let settings = monitor.settings.clone();
        let from = AuditContext::new(Actor::Key(key_id(1)), instant(3))
            .from_address(Some([192, 0, 2, 1].into()));
        let update = from.with_changes(changes());
        home.store.monitors().update(monitor, settings, update).await.unwrap();
        let entries = home.store.audit().newest(home.workspace, 2).await.unwrap();
        assert_eq!(entries[0].address.as_deref(), Some("192.0.2.1"));
        assert_eq!(entries[0].changes, changes());
        assert_eq!(entries[1].address, None);
        assert_eq!(entries[1].changes, FieldChanges::default());
        assert_eq!(home.count("audit WHERE changes_sealed IS NOT NULL").await, 1);
    })
    .await;
}

#[tokio::test]
async fn export_quotes_formulas_and_has_every_entry() {
    for_each_engine(async |home| {
        let monitor = home.monitor(2).await;
        let settings = monitor.settings.clone();
        let update = at(3).with_changes(changes());
        home.store.monitors().update(monitor, settings, update).await.unwrap();
        let key = ApiKey { name: "=SUM(A1)".to_owned(), ..a_key(home, 1, None) };
        home.store.keys().create(key, KeyHash::new("a"), at(4)).await.unwrap();
        let export = async |format| {
            let filter = AuditFilter::default();
            let audit = home.store.audit();
            let page = audit.export(home.workspace, &filter, format, None).await.unwrap();
            assert_eq!(page.next, None);
            page.text
        };
        let csv = export(ExportFormat::Csv).await.replace("\r\n", "\n");
        let json_lines = export(ExportFormat::JsonLines).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(csv, @r#"
            at,actor,actor_name,action,resource_id,detail,address,changes
            "2027-01-15T08:00:00.004Z","command_line","","key.create","key_0000000000001","'=SUM(A1)","",""
            "2027-01-15T08:00:00.003Z","command_line","","monitor.update","mon_0000000000002","revision 1","","name: ""API"" to ""=cmd|\""x\"""""
            "2027-01-15T08:00:00.002Z","command_line","","monitor.create","mon_0000000000002","revision 1","",""
            "2027-01-15T08:00:00.000Z","command_line","","workspace.create","ws_0000000000001","team-1","",""
            "#);
            insta::assert_snapshot!(json_lines, @r#"
            {"at":"2027-01-15T08:00:00.004Z","actor":"command_line","actor_name":null,"action":"key.create","resource_id":"key_0000000000001","detail":"=SUM(A1)","address":null,"changes":[]}
            {"at":"2027-01-15T08:00:00.003Z","actor":"command_line","actor_name":null,"action":"monitor.update","resource_id":"mon_0000000000002","detail":"revision 1","address":null,"changes":[{"field":"name","before":"\"API\"","after":"\"=cmd|\\\"x\\\"\""}]}
            {"at":"2027-01-15T08:00:00.002Z","actor":"command_line","actor_name":null,"action":"monitor.create","resource_id":"mon_0000000000002","detail":"revision 1","address":null,"changes":[]}
            {"at":"2027-01-15T08:00:00.000Z","actor":"command_line","actor_name":null,"action":"workspace.create","resource_id":"ws_0000000000001","detail":"team-1","address":null,"changes":[]}
            "#);
        }
    })
    .await;
}

#[tokio::test]
async fn long_export_continues_where_it_stopped() {
    for_each_engine(async |home| {
        home.execute(
            "INSERT INTO audit (workspace_id, at, actor, action, resource_id, detail) \
             WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) \
             SELECT 'ws_0000000000001', i, 'server', 'monitor.update', 'mon_1', '' FROM n",
        )
        .await;
        let (mut lines, mut after, mut pages) = (0, None, 0);
        loop {
            let filter = AuditFilter::default();
            let audit = home.store.audit();
            let page = audit.export(home.workspace, &filter, ExportFormat::Csv, after).await;
            let page = page.unwrap();
            lines += page.text.lines().count();
            pages += 1;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!((lines, pages), (1 + 2_501, 3));
    })
    .await;
}
