//! The pipeline as the database shows it: real checks of targets on loopback, on a clock in the
//! test's hand. Ends and starts stand in `restart`.

mod changes;
mod doubts;
mod fairness;
mod opinions;
mod restart;
mod slots;
mod verdicts;

use std::time::Duration;

use domain::check::{CheckResult, Outcome};
use rules::{MonitorId, Scope, Timestamp, WorkspaceId};
use serde_json::{Value, json};
use store::{Incident, MissedFilter, Store};
use testkit::server::{Caller, START, TestServer};

/// Period of the tests' monitors, unless they say otherwise.
pub(crate) const PERIOD: Duration = Duration::from_secs(30);
/// Longer than anything here takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// More than any test stores.
const ALL: u32 = 1_000;

/// A server, and what its database knows.
pub(crate) struct Watched {
    pub(crate) server: TestServer,
    caller: Caller,
    pub(crate) stored: Stored,
}

/// A database, read as the workspace `acme`.
pub(crate) struct Stored {
    store: Store,
    workspace: WorkspaceId,
}

impl Watched {
    pub(crate) async fn start() -> Self {
        Self::on(TestServer::start().await).await
    }

    pub(crate) async fn on(server: TestServer) -> Self {
        let stored = Stored::of(server.running().app().store.clone()).await;
        Self { caller: server.caller(Scope::Write), stored, server }
    }

    /// A new monitor that runs in `fly-ams` every 30 seconds and tries once.
    pub(crate) async fn monitor(&self, url: &str) -> MonitorId {
        self.create(url, true).await
    }

    /// A new monitor that does not run, and gives each attempt the longest time there is.
    async fn paused(&self, url: &str) -> MonitorId {
        self.create(url, false).await
    }

    async fn create(&self, url: &str, active: bool) -> MonitorId {
        let monitor = json!({
            "name": "local", "url": url, "periodicity": "30s", "regions": ["fly-ams"],
            "retry": 0, "active": active, "timeout": 120_000,
        });
        let reply = self.caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
        MonitorId::parse(reply.json()["monitor"]["id"].as_str().unwrap()).unwrap()
    }

    /// Changes one field of a monitor.
    async fn edit(&self, monitor: MonitorId, field: &str, value: Value) {
        let change = json!({ "id": monitor.to_string(), field: value });
        let request = json!({ "monitor": change, "updateMask": field });
        let reply = self.caller.rpc("UpdateHttpMonitor", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    async fn status(&self, monitor: MonitorId) -> String {
        let request = json!({ "id": monitor.to_string() });
        let reply = self.caller.rpc("GetMonitorStatus", request).await.json();
        reply["status"].as_str().unwrap().to_owned()
    }

    /// A period passes after what was checked before, and the monitor's check of it is stored.
    async fn next_result(&self, monitor: MonitorId) {
        let before = self.stored.at_least(1, monitor).await.len();
        self.server.advance(PERIOD);
        self.stored.at_least(before + 1, monitor).await;
    }
}

impl Stored {
    async fn of(store: Store) -> Self {
        let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
        Self { store, workspace }
    }

    /// Results of a monitor, newest first.
    async fn results(&self, monitor: MonitorId) -> Vec<CheckResult> {
        let all = Timestamp::default();
        self.store.results().newest(self.workspace, monitor, all, ALL).await.unwrap()
    }

    /// Results of a monitor, once there are so many.
    pub(crate) async fn at_least(&self, count: usize, monitor: MonitorId) -> Vec<CheckResult> {
        until(async || {
            let results = self.results(monitor).await;
            (results.len() >= count).then_some(results)
        })
        .await
    }

    /// The first result of a monitor that came to this.
    async fn result_of(&self, monitor: MonitorId, outcome: Outcome) -> CheckResult {
        until(async || {
            self.results(monitor).await.into_iter().find(|result| result.outcome == outcome)
        })
        .await
    }

    /// Incidents of a monitor, newest first.
    async fn incidents(&self, monitor: MonitorId) -> Vec<Incident> {
        self.store.incidents().of_monitor(self.workspace, monitor, ALL).await.unwrap()
    }

    /// The newest incident of a monitor, once it is as `wanted`.
    pub(crate) async fn incident(
        &self,
        monitor: MonitorId,
        wanted: fn(&Incident) -> bool,
    ) -> Incident {
        until(async || {
            // The connections of a database that was away break when they are used next.
            let found = self.store.incidents().of_monitor(self.workspace, monitor, ALL).await;
            found.ok()?.into_iter().next().filter(wanted)
        })
        .await
    }

    /// The slots that nobody ran, oldest first.
    async fn missed(&self, monitor: MonitorId) -> Vec<domain::cadence::Missed> {
        let filter = MissedFilter { from: Some(START), ..MissedFilter::default() };
        let missed = self.store.missed().list(self.workspace, monitor, &filter, None, ALL).await;
        let mut ranges = missed.unwrap().ranges;
        ranges.reverse();
        ranges
    }
}

/// What `look` finds, as soon as it finds something.
pub(crate) async fn until<T>(look: impl AsyncFn() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, found).await.expect("it comes to pass")
}
