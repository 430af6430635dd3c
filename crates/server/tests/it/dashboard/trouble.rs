//! A workspace in trouble, for tests of several screens: a monitor that is down, with an incident, and a
//! status page that shows it.

use rules::MonitorId;
use serde_json::{Value, json};
use testkit::person::Person;
use testkit::server::{Caller, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use crate::pipeline::{PERIOD, Watched};

/// A workspace whose monitor is down.
pub(super) struct Trouble {
    pub(super) watched: Watched,
    pub(super) ada: Person,
    pub(super) monitor: MonitorId,
    pub(super) incident: String,
    /// Answers until the test ends.
    pub(super) target: HttpTarget,
}

impl Trouble {
    /// Starts a server and lets its monitor fail.
    pub(super) async fn start() -> Self {
        Self::on(TestServer::start().await).await
    }

    /// Lets a monitor of a new server fail.
    pub(super) async fn on(server: TestServer) -> Self {
        let target = HttpTarget::start().await;
        target.on("/", ScriptedResponse::ok("fine"));
        let watched = Watched::on(server).await;
        let ada = Person::set_up(&watched.server).await;
        let monitor = watched.monitor(&target.url("/")).await;
        watched.stored.at_least(1, monitor).await;
        target.on("/", ScriptedResponse::status(503).body("The disk is full."));
        watched.server.advance(PERIOD);
        let incident = watched.stored.incident(monitor, |it| it.closed.is_none()).await;
        Self { watched, ada, monitor, incident: incident.id.to_string(), target }
    }

    /// Returns the path of the incident.
    pub(super) fn incident_path(&self) -> String {
        format!("/w/acme/incidents/{}", self.incident)
    }

    /// Creates a status page with the monitor as a component, and returns the IDs of both.
    pub(super) async fn page(&self) -> (String, String) {
        let owner = self.watched.server.caller(rules::Scope::Write);
        let page = json!({ "title": "Acme status", "slug": "acme" });
        let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
        let component = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": self.monitor.to_string(),
            "name": "API",
        });
        let component = made(&owner, "CreateComponent", "component", component).await;
        let id = |json: &Value| json["id"].as_str().unwrap().to_owned();
        let publish =
            owner.call(STATUS_PAGES, "PublishStatusPage", json!({ "id": id(&page) })).await;
        assert_eq!(publish.status, 200, "{publish}");
        (id(&page), id(&component))
    }
}

async fn made(owner: &Caller, method: &str, field: &str, resource: Value) -> Value {
    let reply = owner.call(STATUS_PAGES, method, json!({ field: resource })).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}
