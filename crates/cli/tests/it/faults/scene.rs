//! A monitor of a probe's region with a channel that is alerted, and the checks after a fault: each answered
//! result is stored once, no slot is lost, nothing failed, the schedule goes on, and an alert arrives under
//! one key.

use std::collections::BTreeSet;
use std::sync::mpsc::channel;

use serde_json::{Value, json};

use crate::process::{PATIENCE, Server, call_service, http_monitor, rpc, until};
use crate::receiver::Receiver;
use crate::remote_probe::check_results;
use crate::target::Target;

/// Period of the monitor, in milliseconds.
const PERIOD: i64 = 30_000;
/// Timeout of its checks, in milliseconds.
const TIMEOUT: i64 = 5_000;
/// Number of checks after which a missed slot is stored.
const SLOT_CHECKS: usize = 3;

/// A monitor, its target, and the receiver of its alerts.
pub(super) struct Scene {
    key: String,
    target: Target,
    receiver: Receiver,
    /// Request with the ID of the monitor.
    id: Value,
    /// Number of results that callers got.
    answered: usize,
    /// Time from which slots do not count: they are from before a jump back of the clock.
    slots_until: i64,
}

impl Scene {
    /// Creates the monitor, and waits for its first check.
    pub(super) fn new(server: &Server, key: String) -> Self {
        let target = Target::start();
        // Nobody waits for its messages one by one.
        let (messages, _) = channel();
        let receiver = Receiver::start(messages);
        let mut monitor = http_monitor("site", &target.url("/"), &["fly-sin"]);
        monitor["timeout"] = json!(TIMEOUT);
        let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        let id = json!({ "id": made["monitor"]["id"] });
        let channel = json!({
            "providerType": "webhook", "webhook": { "endpoint": receiver.url() },
            "monitorIds": [id["id"]],
        });
        let service = "notification.v1.NotificationService";
        let request = json!({ "notification": channel });
        let made = call_service(server.address, &key, service, "CreateNotification", &request);
        let made = made.unwrap();
        assert_eq!(made.status, 200, "{}", made.body);
        target.visit(PATIENCE).expect("the probe checks the new monitor");
        Self { key, target, receiver, id, answered: 0, slots_until: i64::MAX }
    }

    /// Checks the monitor once. Returns the end of the check by the server's clock.
    pub(super) fn trigger(&mut self, server: &Server) -> i64 {
        let results = until("a manual check", || {
            let reply = rpc(server.address, &self.key, "TriggerMonitor", &self.id).ok()?;
            (reply.status == 200).then(|| reply.json()["results"].as_array().unwrap().clone())
        });
        self.answered += results.len();
        millis(&results[0]["finishedAt"])
    }

    /// Looks only at slots before this time, after the clock jumped back.
    pub(super) const fn ignore_slots_after(&mut self, time: i64) {
        self.slots_until = time;
    }

    /// Checks everything after a fault.
    pub(super) fn check(mut self, server: &Server) {
        self.trigger(server);
        check_results(server, &self.key, &self.id, self.answered);
        self.target.flip();
        self.turn(server, "error");
        self.wait_for_alert("error");
        self.target.flip();
        self.turn(server, "active");
        self.wait_for_alert("recovered");
        self.check_alerts(server);
        self.wait_for_schedule(server);
        self.check_slots(server);
    }

    /// Waits until a check is run that nobody asked for, at most a period after one that was asked for.
    fn wait_for_schedule(&mut self, server: &Server) {
        let asked = self.trigger(server);
        self.target.clear();
        self.target.visit(PATIENCE).expect("the schedule goes on");
        until("a scheduled check", || {
            self.scheduled(server).range(asked + 1..=asked + PERIOD).next().copied()
        });
    }

    /// Checks the monitor until it has this status.
    fn turn(&mut self, server: &Server, status: &str) {
        until("the status", || {
            self.trigger(server);
            let now = server.rpc(&self.key, "GetMonitorStatus", &self.id);
            (now["status"] == status).then_some(())
        });
    }

    fn wait_for_alert(&self, event: &str) {
        until("the alert", || {
            let received = self.receiver.keys();
            received.keys().any(|it| it.event == event).then_some(())
        });
    }

    /// Checks that one incident exists, and that each of its events arrived under one key, at most twice.
    fn check_alerts(&self, server: &Server) {
        let service = "incident.v1.IncidentService";
        let request = json!({ "monitorId": self.id["id"] });
        let listed = call_service(server.address, &self.key, service, "ListIncidents", &request);
        let listed = listed.unwrap().json();
        let incidents = listed["incidents"].as_array().unwrap();
        assert_eq!(incidents.len(), 1, "{listed}");
        let received = self.receiver.keys();
        assert_eq!(received.len(), 2, "{received:?}");
        for (event, mut keys) in received {
            assert_eq!(incidents[0]["id"], event.incident.as_str(), "{event:?}");
            assert!(keys.len() <= 2, "{event:?} arrived under {keys:?}");
            keys.dedup();
            assert_eq!(keys.len(), 1, "{event:?} arrived under {keys:?}");
        }
    }

    /// Checks that each slot was run or is stored as missed. A job whose result never comes is missed some
    /// seconds after its last attempt could have ended, so it may take another check until then.
    fn check_slots(&self, server: &Server) {
        for _ in 0..SLOT_CHECKS {
            let slots = self.slots(server);
            // The first check is at the creation, so the schedule follows within a period. One slot
            // says nothing.
            let is_complete = slots.windows(2).all(|pair| pair[1] - pair[0] <= PERIOD);
            if slots.len() >= 2 && is_complete {
                return;
            }
            self.target.visit(PATIENCE).expect("the schedule goes on");
        }
        panic!("a slot was neither run nor missed: {:?}", self.slots(server));
    }

    /// Returns the slots that were run, and those that are stored as missed.
    fn slots(&self, server: &Server) -> Vec<i64> {
        let mut slots = self.scheduled(server);
        let listed = server.rpc(&self.key, "ListMissedSlots", &self.id);
        for range in listed["missed"].as_array().into_iter().flatten() {
            let (first, last) = (millis(&range["firstSlot"]), millis(&range["lastSlot"]));
            slots.extend((first..=last).step_by(PERIOD as usize));
        }
        slots.into_iter().filter(|slot| *slot < self.slots_until).collect()
    }

    /// Returns the slots with a scheduled result.
    fn scheduled(&self, server: &Server) -> BTreeSet<i64> {
        let request = json!({ "id": self.id["id"], "triggers": ["scheduled"], "limit": 100 });
        let listed = server.rpc(&self.key, "ListResponseLogs", &request);
        listed["logs"].as_array().unwrap().iter().map(|it| millis(&it["slot"])).collect()
    }
}

/// Returns a time in milliseconds since 1970.
fn millis(time: &Value) -> i64 {
    let time = time.as_str().unwrap_or_else(|| panic!("a time, not {time}"));
    time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}
