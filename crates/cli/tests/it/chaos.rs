//! Kills the server (SIGKILL) at random moments while monitors flip and receivers return 500, stop
//! responding and recover. Every verdict reported as stored reaches every channel under one key,
//! and every update of a report reaches every subscriber. Only messages in flight at a kill arrive
//! twice. `cargo xtask chaos` does a hundred kills, the tests a few. Leaves pages and their
//! subscribers to `page`.

#![expect(clippy::print_stdout, reason = "`cargo xtask chaos` prints its figures")]

mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as MessageReceiver, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres;
use tokio::time::Instant;

use self::page::Page;
use crate::flips::Flips;
use crate::process::{Home, PATIENCE, Server, call_service, http_monitor};
use crate::receiver::{Mood, ReceivedEvent, Receiver};

/// Default number of kills (`ALOFT_CHAOS_KILLS`).
const KILLS: u64 = 5;
const MONITORS: usize = 6;
/// Number of receivers that are channels.
const CHANNELS: usize = 4;
/// Number of receivers that subscribe to a status page.
const SUBSCRIBERS: usize = 2;
/// Maximum number of concurrent messages of one channel (see `pipeline::notify`).
const IN_FLIGHT_MAX: usize = 4;
/// Maximum number of responses and messages in one life of the server.
const MESSAGES_MAX: u64 = 24;
/// Time for the last life to deliver everything, because delays between attempts have grown by
/// then.
const LAST_PATIENCE: Duration = Duration::from_mins(6);
const INCIDENTS: &str = "incident.v1.IncidentService";
const NOTIFICATIONS: &str = "notification.v1.NotificationService";

#[test]
fn reported_verdicts_reach_every_channel_despite_kills() {
    // issue 6: "every verdict that was reported as stored reached every channel"
    Chaos::on(&[]).run();
}

#[test]
fn reported_verdicts_survive_kills_on_postgresql() {
    Chaos::on(&["--database", &postgres::database()]).run();
}

struct Chaos {
    home: Home,
    key: String,
    flags: Vec<String>,
    flips: Flips,
    receivers: Vec<Receiver>,
    messages: MessageReceiver<()>,
    message_sender: Sender<()>,
    monitors: Vec<String>,
    /// Number of reported changes of each monitor to `error`.
    reported: BTreeMap<String, u64>,
    /// Status page with the receivers from [`CHANNELS`] on as its subscribers.
    page: Option<Page>,
    /// Updates of its reports that were reported as stored.
    updates: BTreeSet<String>,
}

impl Chaos {
    fn on(database: &[&str]) -> Self {
        let flags = [&["--allow-private-networks"], database].concat();
        let home = Home::new();
        // Commands on a running server find its database by asking the server.
        let server = home.serve_with(&flags);
        let made = home.run(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let key = home.new_key(&["--scope", "write"])["key"].as_str().unwrap().to_owned();
        drop(server);
        let (message_sender, messages) = channel();
        let count = CHANNELS + SUBSCRIBERS;
        let receivers = (0..count).map(|_| Receiver::start(message_sender.clone())).collect();
        let flags = flags.into_iter().map(str::to_owned).collect();
        let (flips, monitors, reported) = (Flips::start(MONITORS), Vec::new(), BTreeMap::new());
        let (page, updates) = (None, BTreeSet::new());
        Self {
            home,
            key,
            flags,
            flips,
            receivers,
            messages,
            message_sender,
            monitors,
            reported,
            page,
            updates,
        }
    }

    fn run(mut self) {
        #[expect(clippy::disallowed_methods, reason = "only tests read the number of kills")]
        let given = std::env::var("ALOFT_CHAOS_KILLS");
        let kills =
            given.map_or(KILLS, |kills| kills.parse().expect("ALOFT_CHAOS_KILLS is a number"));
        let server = self.serve();
        self.set_up(&server);
        drop(server);
        for life in 0..kills {
            self.live(life);
        }
        for receiver in &self.receivers {
            receiver.next_life();
            receiver.be(Mood::Well);
        }
        let server = self.serve();
        self.wait_until_all_is_delivered(&server);
        self.assert_one_key_per_event(&server);
        self.assert_one_key_per_update();
        self.assert_duplicates_were_in_flight();
        assert!(server.stop().success());
    }

    /// Creates monitors that flip, and channels that are notified of all of them.
    fn set_up(&mut self, server: &Server) {
        for place in 0..MONITORS {
            let url = self.flips.url(place);
            let monitor = http_monitor(&format!("flips {place}"), &url, &["fly-ams"]);
            let made = server.rpc(&self.key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
            self.monitors.push(made["monitor"]["id"].as_str().unwrap().to_owned());
        }
        let (channels, subscribers) = self.receivers.split_at(CHANNELS);
        self.page = Some(Page::create(
            |service, method, request| self.call(server, service, method, request),
            subscribers,
        ));
        for (place, receiver) in channels.iter().enumerate() {
            let (kind, settings) = match place {
                0 => ("webhook", json!({ "webhook": { "endpoint": receiver.url() } })),
                _ => {
                    ("grafana_oncall", json!({ "grafanaOncall": { "webhookUrl": receiver.url() } }))
                }
            };
            let mut channel = settings;
            channel["providerType"] = json!(kind);
            channel["monitorIds"] = json!(self.monitors);
            let request = json!({ "notification": channel });
            self.call(server, NOTIFICATIONS, "CreateNotification", &request);
        }
    }

    /// Runs one life of the server: monitors flip and receivers change their behaviour until the
    /// server is killed at some moment.
    fn live(&mut self, life: u64) {
        self.receivers.iter().for_each(Receiver::next_life);
        let server = self.serve();
        let is_over = Arc::new(AtomicBool::new(false));
        let caller = Caller {
            address: server.address,
            key: self.key.clone(),
            flips: self.flips.clone(),
            monitors: self.monitors.clone(),
            page: self.page.clone().expect("`set_up` created the page"),
            is_over: Arc::clone(&is_over),
            message_sender: self.message_sender.clone(),
        };
        while self.messages.try_recv().is_ok() {}
        let flipping = std::thread::spawn(move || caller.flip(life));
        for number in 0..=random(life) % MESSAGES_MAX {
            for (place, receiver) in self.receivers.iter().enumerate().skip(1) {
                match random(life * 1_000 + number * 10 + place as u64) % 8 {
                    0 => receiver.be(Mood::Failing),
                    1 => receiver.be(Mood::Silent),
                    2 | 3 => receiver.be(Mood::Well),
                    _ => {}
                }
            }
            self.messages.recv_timeout(PATIENCE).expect("flipping monitors cause messages");
        }
        is_over.store(true, Ordering::SeqCst);
        server.kill();
        let reported = flipping.join().expect("each call returns a response or an error");
        for (monitor, errors) in reported.errors {
            *self.reported.entry(monitor).or_default() += errors;
        }
        self.updates.extend(reported.updates);
    }

    fn wait_until_all_is_delivered(&self, server: &Server) {
        let end = Instant::now() + LAST_PATIENCE;
        let waiting = || {
            let asked = json!({ "state": "waiting", "limit": 1 });
            self.call(server, NOTIFICATIONS, "ListDeliveries", &asked)["totalSize"]
                .as_u64()
                .unwrap()
        };
        while waiting() > 0 || !self.undelivered_updates().is_empty() {
            let missing_by_receiver = self.undelivered_updates();
            assert!(
                Instant::now() < end,
                "{} deliveries still wait, and {missing_by_receiver:?}",
                waiting()
            );
            // Nothing new arrives for a while if all delays are long.
            let _ = self.messages.recv_timeout(Duration::from_millis(500));
        }
    }

    fn assert_one_key_per_event(&self, server: &Server) {
        let incidents = self.incidents(server);
        for (monitor, errors) in &self.reported {
            let stored = incidents.iter().filter(|it| it["monitorId"] == monitor.as_str()).count();
            assert!(stored as u64 >= *errors, "{monitor}: {errors} reported, {stored} stored");
        }
        let expected = |incident: &Value, event: &str| ReceivedEvent {
            incident: incident["id"].as_str().unwrap().to_owned(),
            event: event.to_owned(),
        };
        let opened = incidents.iter().map(|incident| expected(incident, "error"));
        let closed = incidents.iter().filter(|it| it["closedAt"].is_string());
        let due: BTreeSet<_> = opened.chain(closed.map(|it| expected(it, "recovered"))).collect();
        println!("{} incidents, {} events for each channel", incidents.len(), due.len());
        for (place, receiver) in self.receivers.iter().take(CHANNELS).enumerate() {
            let keys = receiver.keys();
            let missing: Vec<_> = due.iter().filter(|event| !keys.contains_key(event)).collect();
            assert!(missing.is_empty(), "receiver {place} did not get {missing:?}");
            for (event, mut keys) in keys {
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), 1, "receiver {place}: {event:?} has the keys {keys:?}");
                assert!(due.contains(&event), "receiver {place}: {event:?} is not a known event");
            }
        }
    }

    /// Returns updates reported as stored that a subscriber did not get, with the index of its
    /// receiver.
    fn undelivered_updates(&self) -> Vec<(usize, String)> {
        let subscribers = self.receivers.iter().enumerate().skip(CHANNELS);
        let missing_by_receiver = subscribers.flat_map(|(place, receiver)| {
            let received: BTreeSet<String> =
                receiver.keys().into_keys().map(|it| it.incident).collect();
            let missing = self.updates.iter().filter(move |update| !received.contains(*update));
            missing.map(move |update| (place, update.clone())).collect::<Vec<_>>()
        });
        missing_by_receiver.collect()
    }

    fn assert_one_key_per_update(&self) {
        println!("{} updates for each subscriber", self.updates.len());
        assert!(!self.updates.is_empty(), "reports were written");
        assert_eq!(self.undelivered_updates(), [], "no reported update is lost");
        for (place, receiver) in self.receivers.iter().enumerate().skip(CHANNELS) {
            for (event, mut keys) in receiver.keys() {
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), 1, "receiver {place}: {event:?} has the keys {keys:?}");
            }
        }
    }

    /// Checks that no message arrives twice within one life, and that after a kill no more arrive
    /// twice than were in flight.
    fn assert_duplicates_were_in_flight(&self) {
        for (place, receiver) in self.receivers.iter().enumerate() {
            let mut first: BTreeMap<String, u64> = BTreeMap::new();
            let mut again: BTreeMap<u64, usize> = BTreeMap::new();
            for message in receiver.accepted() {
                if let Some(life) = first.insert(message.key.clone(), message.life) {
                    assert!(
                        life < message.life,
                        "receiver {place}: `{}` arrived twice",
                        message.key
                    );
                    *again.entry(life).or_default() += 1;
                }
            }
            println!("receiver {place}: {} accepted, again {again:?}", receiver.accepted().len());
            for (life, count) in again {
                assert!(
                    count <= IN_FLIGHT_MAX,
                    "receiver {place}: {count} again after life {life}"
                );
            }
        }
    }

    fn incidents(&self, server: &Server) -> Vec<Value> {
        let mut all = Vec::new();
        let mut token = String::new();
        loop {
            let asked = json!({ "limit": 100, "pageToken": token });
            let page = self.call(server, INCIDENTS, "ListIncidents", &asked);
            all.extend(page["incidents"].as_array().unwrap().iter().cloned());
            page["nextPageToken"].as_str().unwrap_or_default().clone_into(&mut token);
            if token.is_empty() {
                return all;
            }
        }
    }

    fn serve(&self) -> Server {
        let flags: Vec<_> = self.flags.iter().map(String::as_str).collect();
        self.home.serve_with(&flags)
    }

    fn call(&self, server: &Server, service: &str, method: &str, request: &Value) -> Value {
        let reply = call_service(server.address, &self.key, service, method, request).unwrap();
        assert_eq!(reply.status, 200, "{method} {request}: {}", reply.body);
        reply.json()
    }
}

/// A client that flips targets and triggers their checks.
struct Caller {
    address: SocketAddr,
    key: String,
    flips: Flips,
    monitors: Vec<String>,
    page: Page,
    is_over: Arc<AtomicBool>,
    message_sender: Sender<()>,
}

/// State that the server reported as stored.
#[derive(Default)]
struct Reported {
    /// Number of changes of each monitor to `error`.
    errors: BTreeMap<String, u64>,
    /// Updates of reports.
    updates: Vec<String>,
}

impl Caller {
    /// Flips targets and creates reports until the server is gone. Returns what was reported as
    /// stored.
    fn flip(&self, life: u64) -> Reported {
        let mut reported = Reported::default();
        let mut last: BTreeMap<&str, Value> = BTreeMap::new();
        for number in 0_u64.. {
            let place = (random(life ^ (number << 20)) % MONITORS as u64) as usize;
            self.flips.flip(place);
            let monitor = self.monitors[place].as_str();
            let Some(status) = self.checked(monitor) else { return reported };
            let before = last.insert(monitor, status.clone());
            if status == "error" && before.is_some_and(|before| before == "active") {
                *reported.errors.entry(monitor.to_owned()).or_default() += 1;
            }
            if number % 2 == 0 {
                let report = |service: &str, method: &str, request: &Value| {
                    self.answered(service, method, request)
                };
                let Some(updates) = self.page.report(report) else { return reported };
                reported.updates.extend(updates);
            }
            // The test may have ended.
            let _ = self.message_sender.send(());
        }
        reported
    }

    /// Triggers a check of a monitor and returns the status reported afterwards. `None` if the
    /// server is gone.
    fn checked(&self, monitor: &str) -> Option<Value> {
        let asked = json!({ "id": monitor });
        let service = "monitor.v1.MonitorService";
        self.answered(service, "TriggerMonitor", &asked)?;
        Some(self.answered(service, "GetMonitorStatus", &asked)?["status"].clone())
    }

    /// Returns the server's response. `None` if the server is gone.
    fn answered(&self, service: &str, method: &str, request: &Value) -> Option<Value> {
        let call = || call_service(self.address, &self.key, service, method, request).ok();
        let mut answer = call()?;
        // Repeat a call that a busy server rejects.
        while answer.status == 503 {
            answer = call()?;
        }
        let is_over = self.is_over.load(Ordering::SeqCst);
        assert!(is_over || answer.status == 200, "{method}: {}", answer.body);
        Some(answer.json())
    }
}

/// Returns pseudo-random numbers that are the same in every run.
fn random(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
