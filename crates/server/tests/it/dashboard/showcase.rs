//! A workspace as a real team has it, for pictures and checks of every screen: `monitors` are its
//! monitors, `past` stores what happened to them, and `evidence` what their checks saw.

mod evidence;
mod monitors;
mod past;

use std::time::Duration;

use rules::{Role, UserId, WorkspaceId};
use serde_json::{Value, json};
use testkit::mail::MailServer;
use testkit::person::{PASSWORD, Person};
use testkit::server::{Caller, MAINTENANCES, MONITORS, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use self::monitors::{Now, monitor_id};
use self::past::Place;
use super::account::with_mail;
use super::authenticator::enrol_person;
use super::sample::{PathValues, created};
use super::settings::between;
use crate::heartbeats;
use crate::pipeline::until;

/// Time of day at which everything is shown.
const AFTERNOON: Duration = Duration::from_mins(14 * 60 + 37);
/// Time from the first outage until then, in which people work on it.
const OUTAGE: Duration = Duration::from_mins(monitors::OUTAGE as u64);
const MINUTE: Duration = Duration::from_mins(1);
/// The outage that nobody has looked at.
const LATEST: Now = Now::Down(4);
const ORIGIN: &str = "https://aloft.example";

/// A server with the workspace.
pub(super) struct Showcase {
    pub(super) server: TestServer,
    pub(super) ada: Person,
    pub(super) values: PathValues,
    /// Links of emails and invitations, each with a token.
    pub(super) links: Links,
    mail: MailServer,
    receiver: HttpTarget,
}

/// Paths with tokens.
#[derive(Debug, Default)]
pub(super) struct Links {
    pub(super) invitation: String,
    pub(super) reset: String,
    pub(super) new_email: String,
}

impl Showcase {
    pub(super) async fn open() -> Self {
        let (server, mail) = with_mail().await;
        server.advance(AFTERNOON.saturating_sub(OUTAGE));
        let ada = Person::set_up(&server).await;
        let made = ada.post("/workspaces/new", &[("name", "Acme Shop")]).await;
        assert_eq!(made.location().as_deref(), Some("/w/acme-shop"), "{made}");
        // Its probes are managed in the dashboard.
        server.running().control().set_operator("acme-shop", true).await.unwrap();
        let fields = [("name", "singapore"), ("regions", "railway-asia-southeast1")];
        assert_eq!(ada.post("/w/acme-shop/probes", &fields).await.status, 200);
        let receiver = HttpTarget::start().await;
        receiver.on("/hook", ScriptedResponse::status(204));
        receiver.on("/gone", ScriptedResponse::status(410).body("no such hook"));
        let mut values = PathValues::default();
        for (name, value) in [("workspace", "acme-shop"), ("token", "forged")] {
            values.set(name, value);
        }
        values.set("monitor", monitor_id(0).to_string());
        let links = Links::default();
        let mut showcase = Self { server, ada, values, links, mail, receiver };
        showcase.fill().await;
        showcase.restart().await
    }

    /// Restarts the server, which then knows the monitors that were stored beside it.
    async fn restart(self) -> Self {
        let server = self.server.restart(Duration::ZERO).await;
        let ada = Person::new(&server);
        ada.set_cookie("aloft_session", &self.ada.cookie("aloft_session").unwrap());
        Self { server, ada, ..self }
    }

    /// Returns the path of a route in the workspace.
    pub(super) fn path(&self, below: &str) -> String {
        self.values.path(&format!("/w/{{workspace}}{below}"))
    }

    async fn fill(&mut self) {
        let key = self
            .post("/settings/keys", &[("name", "terraform"), ("scope", "write"), ("days", "0")]);
        let key = between(&key.await, "id=\"the-key\">", "<").to_owned();
        let caller = Caller::at(self.server.address(), Some(key));
        self.post("/settings/keys", &[("name", "grafana"), ("scope", "read"), ("days", "90")])
            .await;
        let place_of = ids(&self.server).await;
        let store = self.server.running().app().store.clone();
        let begin = self.server.running().app().ctx.now();
        let (workspace, user) = place_of;
        let place = Place { store: &store, workspace, user, now: begin + OUTAGE };
        self.values.set("incident", place.open_incident().to_string());
        place.store_past().await;
        self.add_channels().await;
        self.add_page(&caller).await;
        place.store_statuses(|shown| shown.now != LATEST, begin).await;
        self.add_maintenance(&caller).await;
        self.add_people().await;
        self.add_incident_work().await;
        self.add_heartbeat(&caller).await;
        place.store_results(0..monitors::OUTAGE).await;
        place.store_statuses(|shown| shown.now == LATEST, place.now - MINUTE * 4).await;
        self.read_ids().await;
    }

    /// Posts a form of the workspace and returns the answer as text.
    async fn post(&self, below: &str, fields: &[(&str, &str)]) -> String {
        let reply = self.ada.post(&self.path(below), fields).await;
        assert!(matches!(reply.status.as_u16(), 200 | 303), "{below}: {reply}");
        reply.text()
    }

    /// Creates something with a form, and returns its ID.
    async fn create(&self, below: &str, fields: &[(&str, &str)]) -> String {
        let reply = self.ada.post(&self.path(below), fields).await;
        created(&reply)
    }

    async fn add_channels(&mut self) {
        let (hook, gone) = (self.receiver.url("/hook"), self.receiver.url("/gone"));
        for (name, endpoint) in [("Old pager", &gone), ("On call", &hook)] {
            let fields = [
                ("webhook.endpoint", endpoint.as_str()),
                ("name", name),
                ("action", "create_and_test"),
            ];
            let id = self.create("/channels/new?kind=webhook", &fields).await;
            self.values.set("channel", id);
        }
        let fields = [
            ("email.email", "team@acme.example"),
            ("name", "Team"),
            ("events", "error"),
            ("action", "create"),
        ];
        self.create("/channels/new?kind=email", &fields).await;
    }

    async fn add_page(&mut self, caller: &Caller) {
        let page = self.create("/pages/new", &[("title", "Acme Status"), ("slug", "acme")]).await;
        self.values.set("page", &page);
        let mut groups = Vec::new();
        for name in ["Shop", "Platform"] {
            let group = json!({ "componentGroup": { "pageId": page, "name": name } });
            let made = call(caller, STATUS_PAGES, "CreateComponentGroup", group).await;
            groups.push(made["componentGroup"]["id"].clone());
        }
        for (index, name, group) in [
            (3, "Online shop", None),
            (0, "Checkout", Some(0)),
            (1, "Search", Some(0)),
            (5, "Payments", Some(0)),
            (4, "Sign-in", Some(1)),
            (7, "Mobile API", Some(1)),
        ] {
            let mut component = json!({
                "pageId": page, "type": "monitor", "name": name,
                "monitorId": monitor_id(index).to_string(),
            });
            if let Some(group) = group {
                component["groupId"] = groups[group].clone();
            }
            let component = json!({ "component": component });
            let made = call(caller, STATUS_PAGES, "CreateComponent", component).await;
            self.values.set("component", made["component"]["id"].as_str().unwrap());
        }
        self.values.set("group", groups[0].as_str().unwrap());
        for url in ["https://chat.acme.example/hooks/status", "https://partner.example/status"] {
            self.post("/pages/{page}/subscribers", &[("webhook_url", url)]).await;
        }
        let reader = [("email", "reader@example.com")];
        self.post("/pages/{page}/subscribers", &reader).await;
    }

    async fn add_maintenance(&mut self, caller: &Caller) {
        for (title, starts_at, duration, recurrence, monitor) in [
            ("Replace disks", "2026-11-21T14:00:00Z", "2h", "", 12),
            ("Database upgrade", "2026-11-24T02:00:00Z", "90m", "", 8),
            ("Weekly deployment", "2026-11-18T06:00:00Z", "30m", "FREQ=WEEKLY;BYDAY=WE", 3),
        ] {
            let mut maintenance = json!({
                "title": title, "startsAt": starts_at, "duration": duration,
                "monitorIds": [monitor_id(monitor).to_string()],
            });
            if !recurrence.is_empty() {
                maintenance["recurrence"] = json!(recurrence);
            }
            let request = json!({ "maintenance": maintenance });
            let made = call(caller, MAINTENANCES, "CreateMaintenance", request).await;
            self.values.set("maintenance", made["maintenance"]["id"].as_str().unwrap());
        }
    }

    /// Adds members of each role, an invitation, and what belongs to Ada.
    async fn add_people(&mut self) {
        for (name, email, role) in [
            ("Grace Hopper", "grace@acme.example", Role::Admin),
            ("Linus Berg", "linus@acme.example", Role::Editor),
            ("Vera Rubin", "vera@acme.example", Role::Viewer),
        ] {
            let path = self.invite(email, role).await;
            let fields = [("name", name), ("email", email), ("password", PASSWORD)];
            let joined = Person::new(&self.server).post(&format!("{path}/account"), &fields).await;
            assert_eq!(joined.status, 303, "{joined}");
        }
        self.links.invitation = self.invite("new@acme.example", Role::Editor).await;
        self.values.set("token", self.links.invitation.rsplit('/').next().unwrap());
        let grace = Person::sign_in(&self.server, "grace@acme.example").await;
        enrol_person(&self.server, grace).await;
        let before = self.mail.taken().len();
        self.ada.post("/forgot", &[("email", "ada@example.com")]).await;
        self.links.reset = self.link_of_mail(before, "ada@example.com").await;
        let before = self.mail.taken().len();
        let new = [("email", "ada@acme.example"), ("password", PASSWORD)];
        self.ada.post("/account/email", &new).await;
        self.links.new_email = self.link_of_mail(before, "ada@acme.example").await;
    }

    /// Invites a person, and returns the path of the link.
    async fn invite(&self, email: &str, role: Role) -> String {
        let fields = [("email", email), ("role", role.as_str())];
        let text = self.post("/settings/invitations", &fields).await;
        format!("/invite/{}", between(&text, "/invite/", "<"))
    }

    /// Returns the path of the link in the next email to this address.
    async fn link_of_mail(&self, before: usize, to: &str) -> String {
        let mut count = before + 1;
        loop {
            let all = self.mail.takes(count).await;
            let mail = all.iter().skip(before).find(|mail| mail.to == [to]);
            if let Some(mail) = mail {
                let link = mail.text.lines().find(|line| line.starts_with(ORIGIN)).unwrap();
                return link.strip_prefix(ORIGIN).unwrap().to_owned();
            }
            count += 1;
        }
    }

    /// Acknowledges an incident, comments on it, and reports it.
    async fn add_incident_work(&mut self) {
        self.server.advance(MINUTE * 3);
        self.post("/incidents/{incident}/acknowledge", &[]).await;
        self.server.advance(MINUTE * 5);
        let text = "The deployment of **14:12** removed the last healthy instance. Rolling back.";
        self.post("/incidents/{incident}/comment", &[("text", text)]).await;
        self.server.advance(MINUTE * 2);
        let report = [
            ("page_id", self.values.get("page")),
            ("title", "Checkout is unavailable"),
            ("status", "identified"),
            ("text", "Orders cannot be placed. We found the cause and **roll back** a deployment."),
        ];
        let id = self.create("/status-reports/new", &report).await;
        self.values.set("report", id);
        self.server.advance(OUTAGE.saturating_sub(MINUTE * 12));
        for (name, title, text) in [
            ("Disk full", "Storage is degraded", "We free space and watch the disks."),
            ("Provider down", "A provider has an outage", "We wait for our provider."),
        ] {
            let fields =
                [("name", name), ("title", title), ("status", "investigating"), ("text", text)];
            self.post("/status-reports/templates/new", &fields).await;
        }
    }

    /// Adds a heartbeat monitor whose job has run.
    async fn add_heartbeat(&mut self, caller: &Caller) {
        let monitor = json!({
            "name": "Nightly backup", "interval": 86_400, "grace": 3_600, "active": true,
        });
        let request = json!({ "monitor": monitor });
        let made = call(caller, MONITORS, "CreateHeartbeatMonitor", request).await;
        let monitor = &made["monitor"];
        self.values.set("heartbeat", monitor["id"].as_str().unwrap());
        for (end, body) in [("/start", ""), ("", "4 databases, 18.2 GiB")] {
            let path = heartbeats::path(monitor, end);
            assert_eq!(heartbeats::call(&self.server, "POST", &path, body).await.status, 200);
            self.server.advance(MINUTE);
        }
        until(async || {
            let asked = json!({ "id": monitor["id"] });
            let found = call(caller, MONITORS, "GetMonitorStatus", asked).await;
            (found["status"] == "active").then_some(())
        })
        .await;
    }

    /// Reads the IDs that only lists have.
    async fn read_ids(&mut self) {
        for (name, list, start, end) in [
            ("template", "/status-reports/templates", "/templates/tpl_", "/"),
            ("update", "/status-reports/{report}", "/updates/", "/"),
            ("delivery", "/channels/{channel}", "/deliveries/", "\""),
            ("result", "/monitors/{monitor}/log?outcome=failure", "{monitor}/log/", "\""),
        ] {
            let text = self.ada.get(&self.path(list)).await.text();
            let id = between(&text, &self.values.path_part(start), end);
            let id = id.split(['?', '&']).next().unwrap();
            let prefix = if name == "template" { "tpl_" } else { "" };
            self.values.set(name, format!("{prefix}{id}"));
        }
    }
}

/// Returns the IDs of the workspace and of Ada.
async fn ids(server: &TestServer) -> (WorkspaceId, UserId) {
    let store = &server.running().app().store;
    let workspace = store.workspaces().by_slug("acme-shop").await.unwrap().id;
    let found = store.users().find_for_sign_in("ada@example.com").await.unwrap();
    (workspace, found.unwrap().0.id)
}

async fn call(caller: &Caller, service: &str, method: &str, request: Value) -> Value {
    let reply = caller.call(service, method, request).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()
}
