//! Effects of a monitor's change on its checks: immediate, as requests to the target show.

use std::time::Duration;

use rules::{Periodicity, Region};
use serde_json::{Value, json};

use crate::process::{Home, PATIENCE, Server, http_monitor};
use crate::target::Target;

/// A period with a check per region every two minutes at most, longer than any timeout here.
/// Earlier checks result from a change (issue 3, point 7).
const SELDOM: Periodicity = Periodicity::OneHour;
/// A period short enough to wait for.
const OFTEN: Periodicity = Periodicity::ThirtySeconds;
/// Time of two checks: in 28 regions with a period of 30 s, a check begins every 1.07 s.
const BEATS: Duration = Duration::from_millis(2_500);

/// A server with one monitor that runs in every region.
struct Stage {
    server: Server,
    key: String,
    target: Target,
    monitor: Value,
    _home: Home,
}

impl Stage {
    fn set() -> Self {
        let (home, key) = Home::with_key();
        let server = home.serve();
        let target = Target::start();
        let regions: Vec<&str> = Region::PUBLIC.iter().map(|region| region.as_str()).collect();
        let mut monitor = http_monitor("watched", &target.url("/first"), &regions);
        monitor["periodicity"] = json!(SELDOM.to_string());
        let made = server.rpc(&key, "CreateHttpMonitor", &json!({ "monitor": monitor }));
        let stage = Self { server, key, target, monitor: made["monitor"].clone(), _home: home };
        stage.checked_at_once("/first");
        stage
    }

    /// Waits until each region has requested `path`, which [`SELDOM`] alone would not cause in
    /// time.
    fn checked_at_once(&self, path: &str) {
        let mut visits = 0;
        while visits < Region::PUBLIC.len() {
            let visited =
                self.target.visit(PATIENCE).expect("a changed monitor is checked immediately");
            visits += usize::from(visited == path);
        }
    }

    /// Sets the short period. The change itself causes a check in each region.
    fn is_checked_often(&self, path: &str) {
        self.update(json!({ "periodicity": OFTEN.to_string() }), "periodicity");
        self.checked_at_once(path);
    }

    fn update(&self, fields: Value, mask: &str) {
        let mut monitor = fields;
        monitor["id"] = self.monitor["id"].clone();
        let request = json!({ "monitor": monitor, "updateMask": mask });
        self.server.rpc(&self.key, "UpdateHttpMonitor", &request);
    }

    /// Waits until checks under way are done, at most one per region, and no check follows for two
    /// beats.
    fn is_left_alone(&self) {
        let mut late = 0;
        while self.target.visit(BEATS).is_some() {
            late += 1;
            assert!(late <= Region::PUBLIC.len(), "checks must stop");
        }
    }
}

#[test]
fn edited_monitor_is_checked_immediately_as_edited() {
    let stage = Stage::set();
    stage.update(json!({ "url": stage.target.url("/second") }), "url");
    stage.checked_at_once("/second");
    stage.is_checked_often("/second");
    // Only the new revision is checked from now on.
    assert_eq!(stage.target.visit(PATIENCE).as_deref(), Some("/second"));
}

#[test]
fn paused_monitor_stops_and_resumed_one_runs_immediately() {
    let stage = Stage::set();
    stage.is_checked_often("/first");
    stage.update(json!({ "active": false }), "active");
    stage.is_left_alone();
    stage.target.clear();
    stage
        .update(json!({ "active": true, "periodicity": SELDOM.to_string() }), "active,periodicity");
    stage.checked_at_once("/first");
}

#[test]
fn deleted_monitor_is_not_checked() {
    let stage = Stage::set();
    stage.is_checked_often("/first");
    stage.server.rpc(&stage.key, "DeleteMonitor", &json!({ "id": stage.monitor["id"] }));
    stage.is_left_alone();
}
