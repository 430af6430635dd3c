//! A workspace with one of everything that a path of the dashboard names, so that tests can take every
//! route.

use std::collections::HashMap;

use rules::{MonitorId, PasskeyId, Scope};
use serde_json::{Value, json};
use store::{Actor, AuditContext, NewPasskey};
use testkit::person::Person;
use testkit::server::{STATUS_PAGES, STATUS_REPORTS, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::settings::between;
use super::trouble::Trouble;

/// Values of the parameters of paths, by their names.
#[derive(Clone, Debug, Default)]
pub(super) struct PathValues(HashMap<&'static str, String>);

/// A workspace with one of everything.
pub(super) struct Sample {
    pub(super) trouble: Trouble,
    pub(super) values: PathValues,
    /// Accepts webhooks until the test ends.
    _receiver: HttpTarget,
}

impl PathValues {
    pub(super) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.insert(name, value.into());
    }

    pub(super) fn get(&self, name: &str) -> &str {
        &self.0[name]
    }

    /// Returns the path of a route with a value for each parameter.
    pub(super) fn path(&self, route: &str) -> String {
        let part = |part: &str| match part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(name) => {
                let value = self.0.get(name);
                value.unwrap_or_else(|| panic!("{route} has the unknown {name}")).clone()
            }
            None => part.to_owned(),
        };
        route.split('/').map(part).collect::<Vec<_>>().join("/")
    }
}

impl PathValues {
    /// Returns a text with the values of parameters that it names.
    pub(super) fn path_part(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }
}

impl Sample {
    pub(super) async fn start() -> Self {
        Self::on(TestServer::start().await).await
    }

    /// Fills a new server.
    pub(super) async fn on(server: TestServer) -> Self {
        let trouble = Trouble::on(server).await;
        let (receiver, mut values) = (HttpTarget::start().await, PathValues::default());
        receiver.on("/hook", ScriptedResponse::status(204));
        let (page, component) = trouble.page().await;
        for (name, value) in [
            ("workspace", "acme"),
            ("monitor", &trouble.monitor.to_string()),
            ("incident", &trouble.incident),
            ("page", &page),
            ("component", &component),
            ("token", "forged"),
            ("version", "0"),
            ("name", "none.css"),
        ] {
            values.set(name, value);
        }
        add_channel(&trouble.ada, &receiver, &mut values).await;
        add_page_parts(&trouble, &mut values).await;
        add_report(&trouble, &mut values).await;
        add_maintenance(&trouble.ada, &mut values, trouble.monitor).await;
        add_settings(&trouble.ada, &mut values).await;
        let log = trouble.ada.get(&values.path("/w/{workspace}/monitors/{monitor}/log")).await;
        let log = log.text();
        let link = format!("{}/log/", values.get("monitor"));
        values.set("result", between(&log, &link, "\"").split(['?', '&']).next().unwrap());
        Self { trouble, values, _receiver: receiver }
    }

    pub(super) fn server(&self) -> &TestServer {
        &self.trouble.watched.server
    }
}

/// Returns the last part of the path that a response leads to.
pub(super) fn created(reply: &testkit::server::Reply) -> String {
    let location = reply.location().unwrap_or_else(|| panic!("nothing was created: {reply}"));
    let path = location.split('?').next().unwrap();
    path.rsplit('/').next().unwrap().to_owned()
}

async fn add_channel(ada: &Person, receiver: &HttpTarget, values: &mut PathValues) {
    let hook = receiver.url("/hook");
    let fields =
        [("webhook.endpoint", hook.as_str()), ("name", "Ops"), ("action", "create_and_test")];
    let reply = ada.post("/w/acme/channels/new?kind=webhook", &fields).await;
    values.set("channel", created(&reply));
    let page = ada.get(&values.path("/w/{workspace}/channels/{channel}")).await.text();
    values.set("delivery", between(&page, "/deliveries/", "\""));
}

async fn add_page_parts(trouble: &Trouble, values: &mut PathValues) {
    let caller = trouble.watched.server.caller(Scope::Write);
    let group = json!({ "componentGroup": { "pageId": values.get("page"), "name": "Europe" } });
    let group = caller.call(STATUS_PAGES, "CreateComponentGroup", group).await.json();
    values.set("group", text(&group["componentGroup"]["id"]));
    let path = values.path("/w/{workspace}/pages/{page}/subscribers");
    let added = trouble.ada.post(&path, &[("webhook_url", "http://127.0.0.1:9/news")]).await;
    let list = trouble.ada.get(&path).await.text();
    assert!(list.contains("/subscribers/"), "{added}");
    values.set("subscriber", between(&list, "/subscribers/", "/remove"));
}

async fn add_report(trouble: &Trouble, values: &mut PathValues) {
    let ada = &trouble.ada;
    let report = [
        ("page_id", values.get("page")),
        ("title", "Slow API"),
        ("status", "identified"),
        ("text", "The disk is slow."),
    ];
    let reply = ada.post("/w/acme/status-reports/new", &report).await;
    values.set("report", created(&reply));
    let caller = trouble.watched.server.caller(Scope::Write);
    let asked = json!({ "id": values.get("report") });
    let stored = caller.call(STATUS_REPORTS, "GetStatusReport", asked).await.json();
    values.set("update", text(&stored["statusReport"]["updates"][0]["id"]));
    let template = [("name", "Disk"), ("title", "Disk is full"), ("text", "We clean up.")];
    ada.post("/w/acme/status-reports/templates/new", &template).await;
    let list = ada.get("/w/acme/status-reports/templates").await.text();
    values.set("template", format!("tpl_{}", between(&list, "/templates/tpl_", "/")));
}

async fn add_maintenance(ada: &Person, values: &mut PathValues, monitor: MonitorId) {
    let monitor = monitor.to_string();
    let planned = [
        ("title", "New disks"),
        ("starts_at", "2026-11-22T02:00"),
        ("duration", "2h"),
        ("monitor_ids", monitor.as_str()),
    ];
    let reply = ada.post("/w/acme/maintenance/new", &planned).await;
    values.set("maintenance", created(&reply));
}

async fn add_settings(ada: &Person, values: &mut PathValues) {
    let key = [("name", "ci"), ("scope", "read"), ("days", "30")];
    ada.post("/w/acme/settings/keys", &key).await;
    let list = ada.get("/w/acme/settings/keys").await.text();
    values.set("key", between(&list, "/settings/keys/", "/revoke"));
    let invitation = [("email", "guest@example.com"), ("role", "viewer")];
    ada.post("/w/acme/settings/invitations", &invitation).await;
    let list = ada.get("/w/acme/settings/members").await.text();
    values.set("invitation", between(&list, "/settings/invitations/", "/revoke"));
    ada.post("/w/acme/probes", &[("name", "tokyo"), ("regions", "koyeb-tyo")]).await;
    let list = ada.get("/w/acme/probes").await.text();
    values.set("probe", between(&list, "/probes/", "/rotate"));
}

/// Sets what belongs to a person: their ID, another session of theirs, and a passkey.
pub(super) async fn add_person(server: &TestServer, email: &str, values: &mut PathValues) {
    let app = server.running().app();
    let (store, now) = (&app.store, app.ctx.now());
    let (user, _) = store.users().find_for_sign_in(email).await.unwrap().unwrap();
    let before = store.sessions().list(user.id, now).await.unwrap();
    Person::sign_in(server, email).await;
    let after = store.sessions().list(user.id, now).await.unwrap();
    let new = after.iter().find(|it| before.iter().all(|known| known.id != it.id)).unwrap();
    let passkey = NewPasskey {
        id: PasskeyId::from_bits(user.id.bits()),
        user: user.id,
        credential_id: email.as_bytes().to_vec(),
        public_key: Vec::new(),
        state: Vec::new(),
        name: "Phone".to_owned(),
    };
    values.set("user", user.id.to_string());
    values.set("session", new.id.to_string());
    values.set("passkey", passkey.id.to_string());
    let change = AuditContext::new(Actor::User(user.id), now);
    store.passkeys().add(passkey, change).await.unwrap();
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
