//! Lists longer than one page of the service, `aloft monitors` and `aloft missed`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{Missed, MissedReason};
use rules::{MonitorId, Region, Scope};
use serde_json::{Value, json};
use store::Batch;
use testkit::server::{
    Caller, MAINTENANCES, MONITORS, START, STATUS_PAGES, STATUS_REPORTS, TestServer,
};

use crate::process::{Home, Ran};

/// More entries than one page of the service has.
const ENTRIES: usize = 103;

/// A server in this process, and commands on it.
struct ListFixture {
    server: TestServer,
    home: Home,
    owner: Caller,
}

impl ListFixture {
    async fn start() -> Self {
        let server = TestServer::start().await;
        let owner = server.caller(Scope::Write);
        Self { server, home: Home::new(), owner }
    }

    fn run(&self, args: &[&str]) -> Ran {
        let address = format!("http://{}/rpc", self.server.address());
        let key = self.owner.key().unwrap();
        let variables = [("SERVICE_API_URL", &*address), ("SERVICE_API_TOKEN", key)];
        tokio::task::block_in_place(|| self.home.run_with(args, &variables))
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|why| panic!("{why}: {}{}", ran.out, ran.err))
    }

    async fn create(&self, service: &str, method: &str, request: Value) -> Value {
        let reply = self.owner.call(service, method, request).await;
        assert_eq!(reply.status, 200, "{method}: {reply}");
        reply.json()
    }
}

// issue 16: "Make missed slots listable"
#[tokio::test(flavor = "multi_thread")]
async fn missed_lists_slots_with_reasons() {
    let fixture = ListFixture::start().await;
    let monitor = json!({ "name": "api", "uri": "example.com:443", "periodicity": "30s" });
    let monitor = json!({ "monitor": monitor });
    let monitor = fixture.create(MONITORS, "CreateTcpMonitor", monitor).await;
    let id = monitor["monitor"]["id"].as_str().unwrap();
    let monitor = MonitorId::parse(id).unwrap();
    let slot = |number: u64, region, reason| {
        Missed::slot(monitor, region, START - Duration::from_mins(10 * number), reason)
    };
    let old = (2..=ENTRIES as u64).map(|number| slot(number, Region::FlyAms, MissedReason::Down));
    let missed = old.chain([slot(1, Region::FlySin, MissedReason::Overloaded)]).collect();
    let batch = Batch { missed, ..Batch::default() };
    fixture.server.running().app().store.commit(Arc::new(batch)).await.unwrap();

    let first = fixture.run(&["missed", id, "--limit", "2"]);
    insta::assert_snapshot!(first.out, @r"
    FIRST                 LAST                  SLOTS  REGION   REASON
    2026-11-20 23:50 UTC  2026-11-20 23:50 UTC  1      fly-sin  overloaded
    2026-11-20 23:40 UTC  2026-11-20 23:40 UTC  1      fly-ams  down
    ");
    assert_eq!(first.err, "there are more; a higher --limit shows them\n");
    let one = fixture.run(&["missed", id, "--reason", "overloaded", "--region", "fly-sin"]);
    assert_eq!((one.out.lines().count(), &*one.err), (2, ""), "{}", one.out);
    let all = fixture.run(&["missed", id, "--limit", "1000"]);
    assert_eq!((all.out.lines().count(), &*all.err), (ENTRIES + 1, ""));
    let json = fixture.json(&["missed", id, "--limit", "101"]);
    assert_eq!(json["missed"].as_array().unwrap().len(), 101);
    let none = fixture.run(&["missed", id, "--limit", "0"]);
    assert_eq!(none.code, Some(2), "{}", none.err);
}

// issue 18, point 3: "Tags exist on monitors in contract, provider and CLI"
#[tokio::test(flavor = "multi_thread")]
async fn monitors_are_listed_by_tags() {
    let fixture = ListFixture::start().await;
    let mut ids = Vec::new();
    for (name, tags, active) in [
        ("api", json!(["Prod", "team web"]), true),
        ("db", json!(["prod"]), false),
        ("old", json!([]), false),
    ] {
        let monitor = json!({
            "name": name, "uri": "127.0.0.1:9", "periodicity": "1h", "tags": tags, "active": active,
        });
        let monitor = json!({ "monitor": monitor });
        let created = fixture.create(MONITORS, "CreateTcpMonitor", monitor).await;
        ids.push(created["monitor"]["id"].as_str().unwrap().to_owned());
        // IDs sort by the time of their creation.
        fixture.server.advance(Duration::from_secs(1));
    }
    let shown = |args: &[&str]| {
        let ran = fixture.run(&[&["monitors", "list"], args].concat());
        let named = ran.out.replace(&ids[0], "mon_1").replace(&ids[1], "mon_2");
        (named.replace(&ids[2], "mon_3"), ran.err)
    };
    let (all, _) = shown(&[]);
    // The first monitor runs, so its status depends on its checks.
    assert_eq!(all.lines().count(), 4, "{all}");
    assert!(all.contains("mon_3") && all.contains("Prod, team web"), "{all}");
    let (tagged, _) = shown(&["--tag", "PROD"]);
    let names: Vec<_> = tagged.lines().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(names, ["NAME", "db", "api"]);
    insta::assert_snapshot!(shown(&["--tag", "prod", "--limit", "1"]).0, @"
    MONITOR            KIND  STATUS  TAGS  NAME
    mon_2  tcp   paused  prod  db
    ");
    assert_eq!(
        shown(&["--tag", "prod", "--limit", "1"]).1,
        "1 of 2; a higher --limit shows more\n"
    );
    let both = fixture.json(&["monitors", "list", "--tag", "prod", "--tag", "Team Web"]);
    assert_eq!((&both["totalSize"], &both["tcpMonitors"][0]["id"]), (&json!(1), &json!(ids[0])));
    let refused = fixture.run(&["monitors", "list", "--tag", ""]);
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("`tags` has a tag that must have 1 to 64 characters"),
        "{}",
        refused.err
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_reach_entries_beyond_one_page() {
    let fixture = ListFixture::start().await;
    let page = json!({ "statusPage": { "title": "Status", "slug": "status" } });
    let page = fixture.create(STATUS_PAGES, "CreateStatusPage", page).await;
    let page = &page["statusPage"]["id"];
    let monitor = json!({ "name": "api", "uri": "example.com:443", "periodicity": "30s" });
    let monitor = fixture.create(MONITORS, "CreateTcpMonitor", json!({ "monitor": monitor })).await;
    let monitor = &monitor["monitor"]["id"];
    for number in 0..ENTRIES {
        let title = format!("entry {number}");
        let report = json!({
            "statusReport": { "pageId": page, "title": title },
            "update": { "status": "resolved", "text": "Over." },
        });
        fixture.create(STATUS_REPORTS, "CreateStatusReport", report).await;
        let template = json!({ "template": { "name": title } });
        fixture.create(STATUS_REPORTS, "CreateReportTemplate", template).await;
        let window = json!({
            "title": title, "startsAt": "2026-12-01T00:00:00Z", "duration": "1h",
            "monitorIds": [monitor],
        });
        fixture.create(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": window })).await;
        let email = format!("user{number}@example.com");
        let subscriber =
            json!({ "subscriber": { "pageId": page, "email": email }, "confirm": false });
        fixture.create(STATUS_PAGES, "AddSubscriber", subscriber).await;
        let page = json!({ "statusPage": { "title": title, "slug": format!("page-{number}") } });
        fixture.create(STATUS_PAGES, "CreateStatusPage", page).await;
    }
    for (command, field) in [
        ("reports", "statusReports"),
        ("maintenance", "maintenances"),
        ("subscribers", "subscribers"),
    ] {
        let few = fixture.run(&[command, "list"]);
        assert_eq!(few.out.lines().count(), 21, "{command}: {}", few.out);
        assert_eq!(few.err, format!("20 of {ENTRIES}; a higher --limit shows more\n"), "{command}");
        let all = fixture.run(&[command, "list", "--limit", "500"]);
        assert_eq!((all.out.lines().count(), &*all.err), (ENTRIES + 1, ""), "{command}");
        let listed = fixture.json(&[command, "list", "--limit", "102"]);
        let ids: BTreeSet<_> =
            listed[field].as_array().unwrap().iter().map(|it| it["id"].to_string()).collect();
        assert_eq!((ids.len(), &listed["totalSize"]), (102, &json!(ENTRIES)), "{command}");
    }
    let templates = fixture.json(&["reports", "templates", "list"]);
    assert_eq!(templates["templates"].as_array().unwrap().len(), ENTRIES);
    let pages = fixture.json(&["pages", "list"]);
    assert_eq!(pages["statusPages"].as_array().unwrap().len(), ENTRIES + 1);
}
