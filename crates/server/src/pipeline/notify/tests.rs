//! Delivery workers with an outbox in a database, a manual clock and small receivers on loopback.

mod delivering;
mod ending;
mod testing;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::judge::{CloseReason, IncidentChange, StatusReason, Transition};
use domain::notify::{BotAccount, Cause, VendorConfig};
use probe::{Client, Egress};
use rules::monitor::{Check, MonitorSettings, TcpCheck};
use rules::notification::{ChannelSettings, NotificationPreferences, Pagerduty, Provider, Webhook};
use rules::{
    ChannelId, DeliveryId, IncidentId, MonitorId, MonitorStatus, Periodicity, ProviderType, Secret,
    Timestamp, WorkspaceId,
};
use store::{
    Actor, AuditContext, Batch, Database, Delivery, DeliveryFilter, FREE_PLAN, MasterKeySource,
    NewChannel, NewMonitor, Page, Store, Workspace,
};
use tempfile::TempDir;
use testkit::target::{HttpTarget, Received, ScriptedResponse};
use tokio::sync::mpsc;
use web::context::ManualClock;

use super::*;

pub(super) const START: Timestamp = Timestamp::from_millis(1_795_219_200_000);
/// Longer than any operation here takes, and shorter than a person waits.
const PATIENCE: Duration = Duration::from_mins(1);
pub(super) const WORKSPACE: WorkspaceId = WorkspaceId::from_bits(1);

/// Fixture: a database with a workspace, and a clock.
pub(super) struct NotifierFixture {
    pub(super) store: Store,
    ctx: Context,
    clock: ManualClock,
    servers: VendorConfig,
    _folder: TempDir,
}

/// Receiver with scripted responses, then 200, that reports each request.
struct Receiver {
    target: HttpTarget,
    answers: Arc<Mutex<VecDeque<ScriptedResponse>>>,
    came: mpsc::UnboundedReceiver<Received>,
}

impl Receiver {
    async fn start() -> Self {
        Self::start_with(|| {}).await
    }

    /// Starts a receiver that calls `on_each` for each request before it responds.
    async fn start_with(on_each: impl Fn() + Send + Sync + 'static) -> Self {
        let answers = Arc::<Mutex<VecDeque<ScriptedResponse>>>::default();
        let (comes, came) = mpsc::unbounded_channel();
        let scripted = Arc::clone(&answers);
        let target = HttpTarget::start_with(move |received| {
            on_each();
            // The listener may be gone; the response is the same.
            let _ = comes.send(received.clone());
            scripted.lock().unwrap().pop_front().unwrap_or_else(|| ScriptedResponse::ok("ok"))
        });
        Self { target: target.await, answers, came }
    }

    fn answers(&self, answers: impl IntoIterator<Item = ScriptedResponse>) {
        self.answers.lock().unwrap().extend(answers);
    }

    async fn next(&mut self) -> Received {
        tokio::time::timeout(PATIENCE, self.came.recv()).await.expect("it comes").unwrap()
    }

    /// Returns the next request as `event key`.
    async fn next_message(&mut self) -> String {
        let received = self.next().await;
        let body: serde_json::Value = serde_json::from_str(&received.body).unwrap();
        let key = received.header("webhook-id").unwrap_or_default();
        format!("{} {key}", body["type"].as_str().unwrap_or_default())
    }

    fn hits(&self) -> usize {
        self.target.hits()
    }
}

impl NotifierFixture {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = store::Settings {
            folder: folder.path().join("data"),
            database: Database::Embedded,
            master_key: MasterKeySource::File,
        };
        Self::on(Store::open(settings).await.unwrap(), folder).await
    }

    async fn on(store: Store, folder: TempDir) -> Self {
        let (ctx, clock) = Context::manual(START);
        let (slug, name, plan) = ("acme".to_owned(), "Acme".to_owned(), FREE_PLAN.to_owned());
        let workspace =
            Workspace { id: WORKSPACE, slug, name, plan, created_at: START, deletes_at: None };
        store.workspaces().create(workspace, change()).await.unwrap();
        Self { store, ctx, clock, servers: VendorConfig::default(), _folder: folder }
    }

    pub(super) fn notifier(&self) -> Notifier {
        let client = Client::new(probe::Settings {
            egress: Egress::new(true, []),
            nameservers: probe::Nameservers::Given(Vec::new()),
            ..probe::Settings::default()
        });
        Notifier::new(NotifierParts {
            ctx: self.ctx.clone(),
            store: self.store.clone(),
            metrics: Metrics::new(),
            client,
            mail: None,
            extra_roots: &[] as &[Vec<u8>],
            vendors: self.servers.clone(),
            public_url: Some("https://aloft.example.com".to_owned()),
        })
        .unwrap()
    }

    async fn monitor(&self, number: u64) -> MonitorId {
        let settings = MonitorSettings {
            timeout_ms: 1_000,
            retry: 0,
            active: true,
            ..MonitorSettings::new(
                format!("monitor {number}"),
                Periodicity::OneMinute,
                Check::Tcp(TcpCheck::new("example.com:443")),
            )
        };
        let id = MonitorId::from_bits(number);
        let new = NewMonitor { id, workspace: WORKSPACE, settings, idempotency: None };
        self.store.monitors().create(new, change()).await.unwrap();
        id
    }

    async fn channel(&self, number: u64, monitors: &[MonitorId], provider: Provider) -> ChannelId {
        let id = ChannelId::from_bits(number);
        let settings = settings(monitors, provider);
        let new = NewChannel { id, workspace: WORKSPACE, settings, idempotency: None };
        self.store.channels().create(new, change()).await.unwrap();
        id
    }

    /// Creates a webhook for these monitors.
    async fn webhook(&self, number: u64, monitors: &[MonitorId], receiver: &Receiver) -> ChannelId {
        self.channel(number, monitors, hook(&receiver.target.url("/hook"))).await
    }

    /// Makes the monitor fail, which opens the incident with this number.
    async fn breaks(&self, monitor: MonitorId, incident: u64) {
        let opened = IncidentChange::Opened(IncidentId::from_bits(incident));
        self.turn(monitor, (MonitorStatus::Active, MonitorStatus::Error), opened).await;
    }

    async fn recovers(&self, monitor: MonitorId, incident: u64) {
        let (id, how) = (IncidentId::from_bits(incident), CloseReason::Recovered);
        let closed = IncidentChange::Closed { id, reason: how };
        self.turn(monitor, (MonitorStatus::Error, MonitorStatus::Active), closed).await;
    }

    async fn turn(
        &self,
        monitor: MonitorId,
        (from, to): (MonitorStatus, MonitorStatus),
        incident: IncidentChange,
    ) {
        let transition =
            Transition { from, to, at: self.ctx.now(), incident, why: StatusReason::NoVotes };
        let transitions = vec![(monitor, transition)];
        let causes = vec![(monitor, Cause::default())];
        let batch = Batch { transitions, causes, ..Batch::default() };
        self.store.commit(Arc::new(batch)).await.unwrap();
    }

    /// Returns all deliveries, oldest first.
    async fn deliveries(&self) -> Vec<Delivery> {
        let page = Page::<DeliveryId> { limit: 100, offset: 0, after: None };
        let filter = DeliveryFilter::default();
        let mut rows = self.store.outbox().list(WORKSPACE, filter, page).await.unwrap().rows;
        rows.sort_unstable_by_key(|delivery| delivery.id);
        rows
    }

    /// Returns the deliveries as soon as all of them match `is`.
    async fn once(&self, is: impl Fn(&Delivery) -> bool) -> Vec<Delivery> {
        let looking = async {
            loop {
                let deliveries = self.deliveries().await;
                if !deliveries.is_empty() && deliveries.iter().all(&is) {
                    return deliveries;
                }
                tokio::task::yield_now().await;
            }
        };
        let found = tokio::time::timeout(PATIENCE, looking).await.ok();
        match found {
            Some(deliveries) => deliveries,
            None => panic!("it never comes to this: {:?}", self.deliveries().await),
        }
    }

    /// Waits until no delivery worker runs.
    async fn quiet(&self, notifier: &Notifier) {
        let workers = async {
            while !notifier.0.workers.is_empty() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, workers).await.expect("they come home");
    }
}

pub(super) fn change() -> AuditContext {
    AuditContext::new(Actor::CommandLine, START)
}

fn settings(monitors: &[MonitorId], provider: Provider) -> ChannelSettings {
    let preferences = NotificationPreferences::default();
    ChannelSettings { name: None, monitor_ids: monitors.to_vec(), provider, preferences }
}

fn hook(url: &str) -> Provider {
    Provider::Webhook(Webhook { endpoint: url.to_owned(), headers: Vec::new() })
}

fn pagerduty() -> Provider {
    Provider::Pagerduty(Pagerduty { integration_key: Secret::new("hunter2".repeat(4)) })
}
