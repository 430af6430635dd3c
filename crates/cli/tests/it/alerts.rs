//! `aloft channels`, `aloft incidents` and `aloft maintenance` on a running server, from the
//! alert to the end of the incident.

use serde_json::{Value, json};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::process::{Home, Server, call_service, http_monitor, until};

const NOTIFICATIONS: &str = "notification.v1.NotificationService";

/// A server with a monitor whose page is broken, and a webhook channel that is notified.
struct AlertFixture {
    home: Home,
    server: Server,
    key: String,
    monitor: String,
    channel: String,
    _page: HttpTarget,
    /// Runs the page.
    _runtime: tokio::runtime::Runtime,
}

impl AlertFixture {
    /// Creates the server with a paused monitor.
    fn set() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let page = runtime.block_on(HttpTarget::start());
        page.on("/", ScriptedResponse::status(503)).on("/hook", ScriptedResponse::ok("thanks"));
        let (home, key) = Home::with_key();
        let server = home.serve();
        let mut monitor = http_monitor("API", &page.url("/"), &["fly-ams"]);
        monitor["active"] = json!(false);
        let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        let monitor = text(&made["monitor"]["id"]);
        let channel = json!({ "notification": {
            "providerType": "webhook", "webhook": { "endpoint": page.url("/hook") }, "monitorIds": [monitor],
        }});
        let made =
            call_service(server.address, &key, NOTIFICATIONS, "CreateNotification", &channel);
        let channel = text(&made.unwrap().json()["notification"]["id"]);
        Self { home, server, key, monitor, channel, _page: page, _runtime: runtime }
    }

    /// Activates the monitor.
    fn begin(&self) {
        let monitor = json!({ "id": self.monitor, "active": true });
        let request = json!({ "monitor": monitor, "updateMask": "active" });
        self.server.rpc(&self.key, "UpdateHttpMonitor", &request);
    }

    /// Returns a command's exit code and its output on both streams.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let address = format!("http://{}/rpc", self.server.address);
        let variables = [("SERVICE_API_URL", &*address), ("SERVICE_API_TOKEN", &*self.key)];
        let ran = self.home.run_with(args, &variables);
        (ran.code, (ran.out + &ran.err).replace(&address, "URL"))
    }

    /// Returns the output of a command that must succeed.
    fn output(&self, args: &[&str]) -> String {
        let (code, printed) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {printed}");
        printed
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.output(&[args, &["--json"]].concat())).unwrap()
    }

    /// Waits for a delivery in this state.
    fn delivery(&self, state: &str) -> Value {
        let request = json!({ "state": state, "monitorId": self.monitor });
        until("a delivery", || {
            let (address, key) = (self.server.address, &self.key);
            let listed = call_service(address, key, NOTIFICATIONS, "ListDeliveries", &request);
            let listed = listed.unwrap().json();
            Some(listed["deliveries"][0].clone()).filter(Value::is_object)
        })
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

#[test]
fn incident_is_acknowledged_commented_and_resolved() {
    // issue 6, points 1 and 3
    let fixture = AlertFixture::set();
    let tested = fixture.output(&["channels", "test", &fixture.channel]);
    assert!(tested.starts_with("accepted, in ") && tested.contains("thanks"), "{tested}");
    fixture.begin();
    let delivery_id = text(&fixture.delivery("accepted")["id"]);
    let listed = fixture.output(&["channels", "deliveries", "--monitor", &fixture.monitor]);
    assert!(listed.contains(&delivery_id) && listed.contains("error"), "{listed}");
    let incident = text(&fixture.json(&["incidents", "list"])["incidents"][0]["id"]);
    assert_eq!(
        fixture.output(&["incidents", "acknowledge", &incident]),
        format!("{incident} is open, acknowledged by test\n")
    );
    let comment =
        fixture.output(&["incidents", "comment", &incident, "the disk\nis \u{1b}[31mfull"]);
    // Comments must not control the terminals of others.
    assert!(comment.ends_with("by test: the disk is  [31mfull\n"), "{comment:?}");
    assert_eq!(
        fixture.output(&["incidents", "resolve", &incident]),
        format!("{incident} is closed, resolved\n")
    );
    let shown = fixture.output(&["incidents", "show", &incident]);
    for what in ["acknowledged", "commented", "resolved", "status is 503, expected 2xx"] {
        assert!(shown.contains(what), "{what}: {shown}");
    }
    let (code, printed) = fixture.run(&["channels", "replay", &delivery_id]);
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("`id` must be a dead letter"), "{printed}");
}

#[test]
fn maintenance_is_planned_ended_and_deleted() {
    // issue 6, point 5
    let fixture = AlertFixture::set();
    let plan = ["maintenance", "plan", "--title", "Moving", "--for", "30m"];
    let planned = fixture.json(&[&plan[..], &["--monitor", &fixture.monitor]].concat());
    let id = text(&planned["id"]);
    assert_eq!(planned["status"], "active", "{planned}");
    fixture.begin();
    assert_eq!(fixture.delivery("waiting")["holdReason"], "maintenance");
    assert_eq!(fixture.output(&["maintenance", "end", &id]), format!("{id} is completed\n"));
    assert_eq!(fixture.delivery("accepted")["event"], "error");
    let listed = fixture.output(&["maintenance", "list", "--status", "completed"]);
    assert!(listed.contains(&id) && listed.contains("Moving"), "{listed}");
    assert_eq!(
        fixture.output(&["maintenance", "delete", &id, "--yes"]),
        format!("{id} was deleted\n")
    );
    assert_eq!(
        fixture.run(&[&plan[..], &["--monitor", "mon_1jkm00000000g"]].concat()),
        (
            Some(1),
            "error: planning the maintenance at URL: `maintenance.monitor_ids` may only name monitors of \
             this workspace (given: `mon_1jkm00000000g`)\n"
                .to_owned()
        )
    );
}
