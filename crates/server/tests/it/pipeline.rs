//! The effects of the pipeline on the database: real checks of loopback targets with a manual
//! clock. `startup` tests stops and starts.

mod changes;
mod confirmations;
mod fairness;
mod slots;
mod startup;
mod suspicions;
mod verdicts;

use std::panic::Location;
use std::time::Duration;

use domain::check::{CheckResult, Outcome};
use rules::{MonitorId, Scope, Timestamp, WorkspaceId};
use serde_json::{Value, json};
use server::config::Settings;
use store::{Incident, MissedFilter, Store};
use testkit::server::{Caller, START, TestServer};

/// Default period of the monitors.
pub(crate) const PERIOD: Duration = Duration::from_secs(30);
/// Timeout that is never reached, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);
/// Longest wait of a step of [`Watched::advance_until`], and the number of its steps.
const STEP: Duration = Duration::from_secs(1);
const STEPS_MAX: usize = 100;
/// Page size that exceeds the rows of any test.
const ALL: u32 = 1_000;

/// A server and its database.
pub(crate) struct Watched {
    pub(crate) server: TestServer,
    caller: Caller,
    pub(crate) stored: Stored,
}

/// A database, read on behalf of the workspace `acme`.
pub(crate) struct Stored {
    store: Store,
    workspace: WorkspaceId,
}

impl Watched {
    pub(crate) async fn start() -> Self {
        Self::on(TestServer::start().await).await
    }

    /// Starts a server that runs this many checks at once.
    pub(crate) async fn with_permits(permits: usize) -> Self {
        let change = |settings: &mut Settings| settings.max_checks_in_flight = Some(permits);
        Self::on(TestServer::start_with(change).await).await
    }

    pub(crate) async fn on(server: TestServer) -> Self {
        let stored = Stored::new(server.running().app().store.clone()).await;
        Self { caller: server.caller(Scope::Write), stored, server }
    }

    /// Creates a monitor that runs in `fly-ams` every 30 seconds without retries.
    pub(crate) async fn monitor(&self, url: &str) -> MonitorId {
        self.create(url, true).await
    }

    /// Creates a paused monitor with the maximum timeout.
    pub(crate) async fn paused(&self, url: &str) -> MonitorId {
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

    pub(crate) async fn status(&self, monitor: MonitorId) -> String {
        let request = json!({ "id": monitor.to_string() });
        let reply = self.caller.rpc("GetMonitorStatus", request).await.json();
        reply["status"].as_str().unwrap().to_owned()
    }

    /// Advances the clock by one period after the other until `look` finds something. Each waits until a
    /// slot before is recorded, so that the clock does not run away from a busy server. A slot whose
    /// probe is absent is only recorded at the end of its period, so no wait is long.
    pub(crate) async fn advance_until<T>(
        &self,
        monitor: MonitorId,
        look: impl AsyncFn() -> Option<T>,
    ) -> T {
        for _ in 0..STEPS_MAX {
            if let Some(found) = look().await {
                return found;
            }
            let before = self.stored.recorded(monitor).await;
            self.server.advance(PERIOD);
            let recorded =
                until(async || (self.stored.recorded(monitor).await > before).then_some(()));
            let _ = tokio::time::timeout(STEP, recorded).await;
        }
        let missed = self.stored.missed(monitor).await;
        panic!("nothing was found in {STEPS_MAX} periods, and {missed:?} was missed")
    }

    /// Advances the clock by a period and waits for the result of the monitor.
    async fn next_result(&self, monitor: MonitorId) {
        let before = self.stored.at_least(1, monitor).await.len();
        self.server.advance(PERIOD);
        self.stored.at_least(before + 1, monitor).await;
    }
}

impl Stored {
    async fn new(store: Store) -> Self {
        let workspace = store.workspaces().by_slug("acme").await.unwrap().id;
        Self { store, workspace }
    }

    /// Reads on behalf of another workspace.
    pub(crate) fn of(&self, workspace: WorkspaceId) -> Self {
        Self { workspace, store: self.store.clone() }
    }

    /// Returns the results of a monitor, newest first.
    async fn results(&self, monitor: MonitorId) -> Vec<CheckResult> {
        let all = Timestamp::default();
        self.store.results().newest(self.workspace, monitor, all, ALL).await.unwrap()
    }

    /// Waits for at least `count` results of a monitor and returns all of them.
    pub(crate) async fn at_least(&self, count: usize, monitor: MonitorId) -> Vec<CheckResult> {
        until(async || {
            let results = self.results(monitor).await;
            (results.len() >= count).then_some(results)
        })
        .await
    }

    /// Returns the number of slots that have a result or are missed.
    async fn recorded(&self, monitor: MonitorId) -> usize {
        let missed = self.missed(monitor).await;
        let missed: usize = missed.iter().map(|it| it.count as usize).sum();
        self.results(monitor).await.len() + missed
    }

    /// Waits for a result of a monitor with this outcome.
    async fn result_of(&self, monitor: MonitorId, outcome: Outcome) -> CheckResult {
        until(async || {
            self.results(monitor).await.into_iter().find(|result| result.outcome == outcome)
        })
        .await
    }

    /// Returns the incidents of a monitor, newest first.
    async fn incidents(&self, monitor: MonitorId) -> Vec<Incident> {
        self.store.incidents().list_by_monitor(self.workspace, monitor, ALL).await.unwrap()
    }

    /// Waits until the newest incident of a monitor matches `wanted`.
    pub(crate) async fn incident(
        &self,
        monitor: MonitorId,
        wanted: fn(&Incident) -> bool,
    ) -> Incident {
        until(async || {
            // After an outage of the database, the first use of each connection fails.
            let found = self.store.incidents().list_by_monitor(self.workspace, monitor, ALL).await;
            found.ok()?.into_iter().next().filter(wanted)
        })
        .await
    }

    /// Returns the missed slots of a monitor, oldest first.
    pub(crate) async fn missed(&self, monitor: MonitorId) -> Vec<domain::cadence::Missed> {
        let filter = MissedFilter { from: Some(START), ..MissedFilter::default() };
        let missed = self.store.missed().list(self.workspace, monitor, &filter, None, ALL).await;
        let mut ranges = missed.unwrap().ranges;
        ranges.reverse();
        ranges
    }
}

/// Calls `look` until it returns a value. A failure names the caller.
#[track_caller]
pub(crate) fn until<T>(look: impl AsyncFn() -> Option<T>) -> impl Future<Output = T> {
    let caller = Location::caller();
    async move {
        let found = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("the wait at {caller} did not end within {PATIENCE:?}"))
    }
}
