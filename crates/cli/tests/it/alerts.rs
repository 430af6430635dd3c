//! `aloft notifications`, `aloft incidents` and `aloft maintenance` as people use them: from the alert to
//! the end of the incident, beside a server.

use serde_json::{Value, json};
use testkit::target::{Answer, HttpTarget};

use crate::process::{Home, Server, call_service, http_monitor, until};

const NOTIFICATIONS: &str = "notification.v1.NotificationService";

/// A server with a monitor whose page is broken, and a webhook that is told of it.
struct Desk {
    home: Home,
    server: Server,
    key: String,
    monitor: String,
    channel: String,
    _page: HttpTarget,
    /// Serves the page.
    _runtime: tokio::runtime::Runtime,
}

impl Desk {
    /// The monitor does not run yet.
    fn set() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let page = runtime.block_on(HttpTarget::start());
        page.on("/", Answer::status(503)).on("/hook", Answer::ok("thanks"));
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

    /// The monitor runs from now on.
    fn begin(&self) {
        let monitor = json!({ "id": self.monitor, "active": true });
        let request = json!({ "monitor": monitor, "updateMask": "active" });
        self.server.rpc(&self.key, "UpdateHttpMonitor", &request);
    }

    /// What a command ended with, and said on both streams.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let address = format!("http://{}/rpc", self.server.address);
        let variables = [("SERVICE_API_URL", &*address), ("SERVICE_API_TOKEN", &*self.key)];
        let ran = self.home.run_with(args, &variables);
        (ran.code, (ran.out + &ran.err).replace(&address, "URL"))
    }

    /// What a command said that did what it was asked for.
    fn said(&self, args: &[&str]) -> String {
        let (code, said) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {said}");
        said
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.said(&[args, &["--json"]].concat())).unwrap()
    }

    /// The one delivery in this state, once there is one.
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
fn an_alert_is_seen_and_worked_on_to_its_end() {
    // issue 6, points 1 and 3
    let desk = Desk::set();
    let tested = desk.said(&["notifications", "test", &desk.channel]);
    assert!(tested.starts_with("accepted, in ") && tested.contains("thanks"), "{tested}");
    desk.begin();
    let told = text(&desk.delivery("accepted")["id"]);
    let listed = desk.said(&["notifications", "deliveries", "--monitor", &desk.monitor]);
    assert!(listed.contains(&told) && listed.contains("error"), "{listed}");
    let incident = text(&desk.json(&["incidents", "list"])["incidents"][0]["id"]);
    assert_eq!(
        desk.said(&["incidents", "acknowledge", &incident]),
        format!("{incident} is open, acknowledged by test\n")
    );
    let comment = desk.said(&["incidents", "comment", &incident, "the disk\nis \u{1b}[31mfull"]);
    // What somebody wrote sends nothing to the terminals of others.
    assert!(comment.ends_with("by test: the disk is  [31mfull\n"), "{comment:?}");
    assert_eq!(
        desk.said(&["incidents", "resolve", &incident]),
        format!("{incident} is closed, resolved\n")
    );
    let shown = desk.said(&["incidents", "show", &incident]);
    for what in ["acknowledged", "commented", "resolved", "status is 503, expected 2xx"] {
        assert!(shown.contains(what), "{what}: {shown}");
    }
    let (code, said) = desk.run(&["notifications", "replay", &told]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("`id` must be a dead letter"), "{said}");
}

#[test]
fn maintenance_is_planned_ended_and_deleted() {
    // issue 6, point 5
    let desk = Desk::set();
    let plan = ["maintenance", "plan", "--title", "Moving", "--for", "30m"];
    let planned = desk.json(&[&plan[..], &["--monitor", &desk.monitor]].concat());
    let id = text(&planned["id"]);
    assert_eq!(planned["status"], "active", "{planned}");
    desk.begin();
    assert_eq!(desk.delivery("waiting")["held"], "maintenance");
    assert_eq!(desk.said(&["maintenance", "end", &id]), format!("{id} is over\n"));
    assert_eq!(desk.delivery("accepted")["event"], "error");
    let listed = desk.said(&["maintenance", "list", "--status", "over"]);
    assert!(listed.contains(&id) && listed.contains("Moving"), "{listed}");
    assert_eq!(desk.said(&["maintenance", "delete", &id]), format!("{id} is deleted\n"));
    assert_eq!(
        desk.run(&[&plan[..], &["--monitor", "mon_none"]].concat()),
        (
            Some(1),
            "error: planning the maintenance at URL: `maintenance.monitor_ids` may only name monitors of \
             this workspace (given: `mon_none`)\n"
                .to_owned()
        )
    );
}
