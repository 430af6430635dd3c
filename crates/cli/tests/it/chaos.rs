//! kill -9 at random moments while monitors flip and receivers answer 500, answer nothing and come
//! back: every verdict that was reported as stored reaches every channel, under one key, and every update
//! of a report every subscriber; what comes twice was in flight at a kill. `cargo xtask chaos` does a
//! hundred kills, the tests a few. Pages and their subscribers stand in `page`.

#![expect(clippy::print_stdout, reason = "`cargo xtask chaos` shows its figures")]

mod page;
mod receiver;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as News, Sender, channel};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::postgres;
use tokio::time::Instant;

use self::page::Page;
use self::receiver::{Mood, Receiver, Told};
use crate::flips::Flips;
use crate::process::{Home, PATIENCE, Server, call_service, http_monitor};

/// How many kills where nobody says (`ALOFT_CHAOS_KILLS`).
const KILLS: u64 = 5;
const MONITORS: usize = 6;
/// Receivers that are channels.
const CHANNELS: usize = 4;
/// Receivers that subscribed to a status page.
const SUBSCRIBERS: usize = 2;
/// Messages of one channel that the server has on their way at once (see `pipeline::notify`).
const IN_FLIGHT_MAX: usize = 4;
/// Answers and messages after which, at most, a life ends.
const NEWS_MAX: u64 = 24;
/// How long the last life may take to tell what is left: pauses between tries have doubled meanwhile.
const LAST_PATIENCE: Duration = Duration::from_mins(6);
const INCIDENTS: &str = "incident.v1.IncidentService";
const NOTIFICATIONS: &str = "notification.v1.NotificationService";

#[test]
fn what_was_reported_reaches_every_channel_whenever_the_server_is_killed() {
    // issue 6: "every verdict that was reported as stored reached every channel"
    Chaos::on(&[]).run();
}

#[test]
fn the_same_on_postgresql() {
    Chaos::on(&["--database", &postgres::database()]).run();
}

struct Chaos {
    home: Home,
    key: String,
    flags: Vec<String>,
    flips: Flips,
    receivers: Vec<Receiver>,
    news: News<()>,
    telling: Sender<()>,
    monitors: Vec<String>,
    /// How often each monitor was reported to be in `error`, after it was reported to be well.
    reported: BTreeMap<String, u64>,
    /// A status page, whose subscribers are the receivers from [`CHANNELS`] on.
    page: Option<Page>,
    /// The updates of its reports that were said to be stored.
    updates: BTreeSet<String>,
}

impl Chaos {
    fn on(database: &[&str]) -> Self {
        let flags = [&["--allow-private-networks"], database].concat();
        let home = Home::new();
        // Commands beside a running server find its database by asking it.
        let server = home.serve_with(&flags);
        let made = home.run(&["workspaces", "create", "--slug", "acme", "--name", "Acme"]);
        assert_eq!(made.code, Some(0), "{}", made.err);
        let key = home.new_key(&["--scope", "write"])["key"].as_str().unwrap().to_owned();
        drop(server);
        let (telling, news) = channel();
        let count = CHANNELS + SUBSCRIBERS;
        let receivers = (0..count).map(|_| Receiver::start(telling.clone())).collect();
        let flags = flags.into_iter().map(str::to_owned).collect();
        let (flips, monitors, reported) = (Flips::start(MONITORS), Vec::new(), BTreeMap::new());
        let (page, updates) = (None, BTreeSet::new());
        Self {
            home,
            key,
            flags,
            flips,
            receivers,
            news,
            telling,
            monitors,
            reported,
            page,
            updates,
        }
    }

    fn run(mut self) {
        #[expect(clippy::disallowed_methods, reason = "how many kills is told to tests alone")]
        let told = std::env::var("ALOFT_CHAOS_KILLS");
        let kills =
            told.map_or(KILLS, |kills| kills.parse().expect("ALOFT_CHAOS_KILLS is a number"));
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
        self.wait_until_all_is_told(&server);
        self.everything_was_told_under_one_key(&server);
        self.every_update_was_told_under_one_key();
        self.what_came_twice_was_in_flight();
        assert!(server.stop().success());
    }

    /// Monitors that flip, and channels that hear of all of them.
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

    /// One life of the server: monitors flip and moods change until, at some moment, it is killed.
    fn live(&mut self, life: u64) {
        self.receivers.iter().for_each(Receiver::next_life);
        let server = self.serve();
        let is_over = Arc::new(AtomicBool::new(false));
        let caller = Caller {
            address: server.address,
            key: self.key.clone(),
            flips: self.flips.clone(),
            monitors: self.monitors.clone(),
            page: self.page.clone().expect("it was set up"),
            is_over: Arc::clone(&is_over),
            telling: self.telling.clone(),
        };
        while self.news.try_recv().is_ok() {}
        let flipping = std::thread::spawn(move || caller.flip(life));
        for number in 0..=chance(life) % NEWS_MAX {
            for (place, receiver) in self.receivers.iter().enumerate().skip(1) {
                match chance(life * 1_000 + number * 10 + place as u64) % 8 {
                    0 => receiver.be(Mood::Failing),
                    1 => receiver.be(Mood::Silent),
                    2 | 3 => receiver.be(Mood::Well),
                    _ => {}
                }
            }
            self.news.recv_timeout(PATIENCE).expect("monitors flip, and somebody is told");
        }
        is_over.store(true, Ordering::SeqCst);
        server.kill();
        let reported = flipping.join().expect("who calls is answered or refused");
        for (monitor, errors) in reported.errors {
            *self.reported.entry(monitor).or_default() += errors;
        }
        self.updates.extend(reported.updates);
    }

    fn wait_until_all_is_told(&self, server: &Server) {
        let end = Instant::now() + LAST_PATIENCE;
        let waiting = || {
            let asked = json!({ "state": "waiting", "limit": 1 });
            self.call(server, NOTIFICATIONS, "ListDeliveries", &asked)["totalSize"]
                .as_u64()
                .unwrap()
        };
        while waiting() > 0 || !self.untold_updates().is_empty() {
            let untold = self.untold_updates();
            assert!(Instant::now() < end, "{} deliveries still wait, and {untold:?}", waiting());
            // Nothing new is told for a while where all pauses are long.
            let _ = self.news.recv_timeout(Duration::from_millis(500));
        }
    }

    fn everything_was_told_under_one_key(&self, server: &Server) {
        let incidents = self.incidents(server);
        for (monitor, errors) in &self.reported {
            let stored = incidents.iter().filter(|it| it["monitorId"] == monitor.as_str()).count();
            assert!(stored as u64 >= *errors, "{monitor}: {errors} reported, {stored} stored");
        }
        let told = |incident: &Value, event: &str| Told {
            incident: incident["id"].as_str().unwrap().to_owned(),
            event: event.to_owned(),
        };
        let opened = incidents.iter().map(|incident| told(incident, "error"));
        let closed = incidents.iter().filter(|it| it["closedAt"].is_string());
        let due: BTreeSet<_> = opened.chain(closed.map(|it| told(it, "recovered"))).collect();
        println!("{} incidents, {} events for each channel", incidents.len(), due.len());
        for (place, receiver) in self.receivers.iter().take(CHANNELS).enumerate() {
            let keys = receiver.keys();
            let missing: Vec<_> = due.iter().filter(|told| !keys.contains_key(told)).collect();
            assert!(missing.is_empty(), "receiver {place} was never told {missing:?}");
            for (told, mut keys) in keys {
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), 1, "receiver {place}: {told:?} came under {keys:?}");
                assert!(due.contains(&told), "receiver {place}: {told:?} is no event");
            }
        }
    }

    /// Updates that were said to be stored and that a subscriber was not told, with its place.
    fn untold_updates(&self) -> Vec<(usize, String)> {
        let subscribers = self.receivers.iter().enumerate().skip(CHANNELS);
        let untold = subscribers.flat_map(|(place, receiver)| {
            let told: BTreeSet<String> =
                receiver.keys().into_keys().map(|it| it.incident).collect();
            let missing = self.updates.iter().filter(move |update| !told.contains(*update));
            missing.map(move |update| (place, update.clone())).collect::<Vec<_>>()
        });
        untold.collect()
    }

    fn every_update_was_told_under_one_key(&self) {
        println!("{} updates for each subscriber", self.updates.len());
        assert!(!self.updates.is_empty(), "reports were written");
        assert_eq!(self.untold_updates(), [], "nothing that was reported is lost");
        for (place, receiver) in self.receivers.iter().enumerate().skip(CHANNELS) {
            for (told, mut keys) in receiver.keys() {
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), 1, "receiver {place}: {told:?} came under {keys:?}");
            }
        }
    }

    /// Within one life nothing is sent twice; over a kill at most as much as was on its way.
    fn what_came_twice_was_in_flight(&self) {
        for (place, receiver) in self.receivers.iter().enumerate() {
            let mut first: BTreeMap<String, u64> = BTreeMap::new();
            let mut again: BTreeMap<u64, usize> = BTreeMap::new();
            for message in receiver.accepted() {
                if let Some(life) = first.insert(message.key.clone(), message.life) {
                    assert!(life < message.life, "receiver {place}: `{}` came twice", message.key);
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

/// Who flips targets and has them checked at once.
struct Caller {
    address: SocketAddr,
    key: String,
    flips: Flips,
    monitors: Vec<String>,
    page: Page,
    is_over: Arc<AtomicBool>,
    telling: Sender<()>,
}

/// What the server said is stored.
#[derive(Default)]
struct Reported {
    /// How often each monitor was in `error`.
    errors: BTreeMap<String, u64>,
    /// Updates of reports.
    updates: Vec<String>,
}

impl Caller {
    /// Flips and writes reports until the server is gone; what was said to be stored.
    fn flip(&self, life: u64) -> Reported {
        let mut reported = Reported::default();
        let mut last: BTreeMap<&str, Value> = BTreeMap::new();
        for number in 0_u64.. {
            let place = (chance(life ^ (number << 20)) % MONITORS as u64) as usize;
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
            // The test may be over.
            let _ = self.telling.send(());
        }
        reported
    }

    /// Has a monitor checked and says which status is reported after; `None` when the server is gone.
    fn checked(&self, monitor: &str) -> Option<Value> {
        let asked = json!({ "id": monitor });
        let service = "monitor.v1.MonitorService";
        self.answered(service, "TriggerMonitor", &asked)?;
        Some(self.answered(service, "GetMonitorStatus", &asked)?["status"].clone())
    }

    /// What the server answers; `None` when it is gone.
    fn answered(&self, service: &str, method: &str, request: &Value) -> Option<Value> {
        let call = || call_service(self.address, &self.key, service, method, request).ok();
        let mut answer = call()?;
        // A server that is too busy to answer says so, and is asked again.
        while answer.status == 503 {
            answer = call()?;
        }
        let is_over = self.is_over.load(Ordering::SeqCst);
        assert!(is_over || answer.status == 200, "{method}: {}", answer.body);
        Some(answer.json())
    }
}

/// Numbers that look like chance and are the same in every run.
fn chance(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
