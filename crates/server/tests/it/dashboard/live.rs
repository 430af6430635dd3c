//! Live updates: open pages learn of changes, until their session ends.

use std::time::Duration;

use rules::{MonitorId, Role, Scope};
use serde_json::{Value, json};
use testkit::person::Person;
use testkit::server::{MAINTENANCES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::settings::{between, join};
use crate::pipeline::{PERIOD, Watched, until};

/// Timeout that no event exceeds, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Open pages of a person: as many as a person may have.
const PAGES: usize = 50;

/// An open stream.
struct Events(BufReader<TcpStream>);

impl Events {
    async fn open(server: &TestServer, person: &Person) -> Self {
        Self::on("", server, person).await
    }

    /// Opens the stream of a topic.
    async fn on(topic: &str, server: &TestServer, person: &Person) -> Self {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        let session = person.cookie("aloft_session").unwrap();
        let request = format!(
            "GET /w/acme/events?on={topic} HTTP/1.1\r\nhost: a\r\n\
             cookie: aloft_session={session}\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut events = Self(BufReader::new(stream));
        assert_eq!(events.line().await.as_deref(), Some("HTTP/1.1 200 OK"));
        while events.line().await.is_some_and(|line| !line.is_empty()) {}
        events
    }

    /// Returns the next line, or `None` at the end of the stream.
    async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.0.read_line(&mut line)).await;
        (read.unwrap().unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// Returns whether another event comes before the stream ends.
    async fn next(&mut self) -> bool {
        while let Some(line) = self.line().await {
            match line.as_str() {
                "event: changed" => return true,
                // The last chunk of the response.
                "0" => return false,
                _ => {}
            }
        }
        false
    }
}

impl Events {
    /// Waits for the comment that keeps the connection open. Returns whether an event came before.
    async fn kept_open(&mut self) -> bool {
        let mut has_event = false;
        loop {
            match self.line().await.expect("the stream stays open").as_str() {
                ":" => return has_event,
                "event: changed" => has_event = true,
                _ => {}
            }
        }
    }
}

async fn create(server: &TestServer) -> Value {
    let monitor = json!({ "name": "API", "active": false, "periodicity": "10m",
        "url": "https://a.example" });
    let made =
        server.caller(Scope::Write).rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    assert_eq!(made.status, 200, "{made}");
    made.json()["monitor"]["id"].clone()
}

#[tokio::test]
async fn change_reaches_all_open_pages() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let mut pages = [Events::open(&server, &ada).await, Events::open(&server, &ada).await];
    for _ in 0..2 {
        create(&server).await;
        for page in &mut pages {
            assert!(page.next().await);
        }
    }
}

// issue 18, targets: "50 open dashboards cost less than 5 % of a core"
#[tokio::test]
async fn idle_pages_do_not_read_the_database() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let monitor = create(&server).await;
    let hook = [("webhook.endpoint", "http://127.0.0.1:9/"), ("action", "create")];
    assert_eq!(ada.post("/w/acme/channels/new?kind=webhook", &hook).await.status, 303);
    let monitor = format!("monitor:{}", monitor.as_str().unwrap());
    let mut pages = Vec::new();
    for (topic, email) in [
        ("workspace", "bob@example.com"),
        (&*monitor, "eve@example.com"),
        ("deliveries", "mia@example.com"),
        ("regions", "tom@example.com"),
    ] {
        let person = join(&server, &ada, email, Role::Viewer).await;
        for _ in 0..PAGES {
            pages.push(Events::on(topic, &server, &person).await);
        }
    }
    for page in &mut pages {
        page.kept_open().await;
    }
    let store = &server.running().app().store;
    let before = store.read_count();
    for page in &mut pages {
        assert!(!page.kept_open().await, "nothing changed");
    }
    assert_eq!(store.read_count() - before, 0);
}

#[tokio::test]
async fn stream_ends_with_the_membership() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let vera = join(&server, &ada, "vera@example.com", Role::Viewer).await;
    let mut page = Events::on("regions", &server, &vera).await;
    let list = ada.get("/w/acme/settings/members").await.text();
    let row = list.split("vera@example.com").nth(2).unwrap();
    let remove = format!("/w/acme/settings/members/{}", between(row, "settings/members/", "/role"));
    assert_eq!(ada.post(&format!("{remove}/remove"), &[]).await.status, 303);
    assert!(!page.next().await);
}

#[tokio::test]
async fn stream_ends_with_its_session() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let mut page = Events::open(&server, &ada).await;
    assert_eq!(ada.post("/logout", &[]).await.status, 303);
    assert!(!page.next().await);
}

#[tokio::test]
async fn stream_ends_with_the_server() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let mut page = Events::open(&server, &ada).await;
    server.stop().await;
    assert!(!page.next().await);
}

#[tokio::test]
async fn streams_of_a_person_are_limited() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let mut open = Vec::new();
    for _ in 0..PAGES {
        open.push(Events::open(&server, &ada).await);
    }
    let refused = ada.get("/w/acme/events").await;
    assert_eq!(refused.status, 429, "{refused}");
    assert_eq!(refused.headers["retry-after"], "30");
}

#[tokio::test]
async fn monitor_stream_has_its_own_results_only() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    target.on("/other", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let ada = Person::set_up(&watched.server).await;
    let (ours, other) =
        (watched.monitor(&target.url("/")).await, watched.monitor(&target.url("/other")).await);
    watched.stored.at_least(1, ours).await;
    watched.stored.at_least(1, other).await;
    let mut page = Events::on(&format!("monitor:{ours}"), &watched.server, &ada).await;
    // Results change no generation.
    watched.server.advance(PERIOD);
    assert!(page.next().await);
    let paused = ada.post(&format!("/w/acme/monitors/{ours}/pause"), &[]).await;
    assert_eq!(paused.status, 303, "{paused}");
    assert!(page.next().await);

    let mut page = Events::on(&format!("monitor:{ours}"), &watched.server, &ada).await;
    let mut workspace = Events::open(&watched.server, &ada).await;
    target.on("/other", ScriptedResponse::status(503));
    watched.server.advance(PERIOD);
    watched.stored.incident(other, |it| it.closed.is_none()).await;
    assert!(workspace.next().await);
    assert_eq!(ada.post("/logout", &[]).await.status, 303);
    assert!(!page.next().await, "another monitor went down");
}

#[tokio::test]
async fn monitor_of_another_workspace_sends_no_event() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let ada = Person::set_up(&watched.server).await;
    let theirs = watched.server.stranger();
    let stored = watched.stored.of(watched.server.stranger_workspace());
    let monitor = json!({ "name": "theirs", "active": true, "periodicity": "30s",
        "url": target.url("/"), "regions": ["fly-ams"] });
    let made = theirs.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    let id = MonitorId::parse(made["monitor"]["id"].as_str().unwrap()).unwrap();
    let mut page = Events::on(&format!("monitor:{id}"), &watched.server, &ada).await;
    stored.at_least(1, id).await;
    for round in 2..=3 {
        watched.server.advance(PERIOD);
        stored.at_least(round, id).await;
    }
    assert_eq!(ada.post("/logout", &[]).await.status, 303);
    assert!(!page.next().await);
}

#[tokio::test]
async fn window_of_maintenance_reaches_open_pages() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let window = json!({ "title": "New disks", "startsAt": "2026-11-22T00:00:00Z",
        "duration": "2h", "recurrence": "FREQ=DAILY", "monitorIds": [create(&server).await] });
    let caller = server.caller(Scope::Write);
    let made =
        caller.call(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": window })).await;
    assert_eq!(made.status, 200, "{made}");
    let mut page = Events::open(&server, &ada).await;
    // The stream may not know the first window before it begins.
    let told = tokio::spawn(async move { page.next().await });
    until(async || {
        if !told.is_finished() {
            server.advance(Duration::from_mins(10));
            assert_eq!(ada.get("/w/acme/maintenance").await.status, 200);
            return None;
        }
        Some(())
    })
    .await;
    assert!(told.await.unwrap());
}
