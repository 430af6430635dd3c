//! Confirmation checks: if a region starts to fail, the regions of other probes run a check
//! immediately. A server has one probe, so these tests build a pipeline with two.

use domain::check::{CheckResult, Outcome, Trigger};
use rules::monitor::{Check, HttpCheck, Monitor, MonitorSettings};
use rules::{MonitorStatus, Periodicity, Region};
use server::observe::Metrics;
use server::pipeline::{Pipeline, PipelineParts, Probes, RunningPipeline};
use store::{Actor, AuditContext, Created, NewMonitor};
use testkit::server::{START, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};
use web::context::{Context, ManualClock};

use super::{PERIOD, Stored, until};

/// A monitor in two regions and the pipeline that runs it.
struct ConfirmationFixture {
    target: HttpTarget,
    stored: Stored,
    monitor: Monitor,
    pipeline: Pipeline,
    stages: RunningPipeline,
    clock: ManualClock,
    metrics: Metrics,
    /// Owner of the database. Its own pipeline runs no monitors.
    _server: TestServer,
}

fn a_probe() -> probe::Probe {
    let egress = probe::Egress::new(true, []);
    probe::Probe::new(probe::Settings { egress, ..probe::Settings::default() })
}

fn settings(target: &HttpTarget) -> MonitorSettings {
    MonitorSettings {
        timeout_ms: 10_000,
        retry: 0,
        active: true,
        regions: vec![Region::FlyAms, Region::FlySin],
        ..MonitorSettings::new(
            "API",
            Periodicity::ThirtySeconds,
            Check::Http(HttpCheck::new(target.url("/"))),
        )
    }
}

impl ConfirmationFixture {
    async fn new(probes: Probes) -> Self {
        let (server, target) = (TestServer::start().await, HttpTarget::start().await);
        target.on("/", ScriptedResponse::ok("fine"));
        let stored = Stored::new(server.running().app().store.clone()).await;
        let (ctx, clock) = Context::manual(START);
        let new = NewMonitor {
            id: ctx.new_id(),
            workspace: stored.workspace,
            settings: settings(&target),
            idempotency: None,
        };
        let change = AuditContext::new(Actor::Server, START);
        let created = stored.store.monitors().create(new, change).await.unwrap();
        let Created::Now(monitor) = created else { panic!("it is the first") };
        let metrics = Metrics::new();
        let parts = PipelineParts {
            ctx,
            store: stored.store.clone(),
            probes,
            connectivity_check_hosts: Vec::new(),
            metrics: metrics.clone(),
            default_regions: [Region::FlyAms].into(),
            in_flight_max: 8,
            notices: Vec::new(),
        };
        let (pipeline, stages) = Pipeline::start(parts).await.unwrap();
        let fixture =
            Self { target, stored, monitor, pipeline, stages, clock, metrics, _server: server };
        fixture.stored.at_least(2, fixture.monitor.id).await;
        fixture
    }

    /// Advances the clock by half a period, in which one of the two regions has a slot, and returns
    /// the new results.
    async fn half_a_period(&self, results: usize) -> Vec<CheckResult> {
        let before = self.stored.results(self.monitor.id).await.len();
        self.clock.advance(PERIOD / 2);
        let mut found = self.stored.at_least(before + results, self.monitor.id).await;
        found.truncate(found.len() - before);
        found
    }

    async fn status(&self) -> MonitorStatus {
        self.pipeline.view(self.monitor.id).await.unwrap().status
    }

    async fn stop(self) {
        drop(self.pipeline);
        self.stages.stop().await;
    }
}

// design: §5 "When a region turns from fine to failing, the regions served by other probes are asked at
// once: one round per monitor and period"
#[tokio::test]
async fn changed_region_is_confirmed_by_another_probe() {
    let probes =
        Probes::embedded(a_probe(), Vec::new()).and("singapore", a_probe(), &[Region::FlySin]);
    let fixture = ConfirmationFixture::new(probes).await;
    assert_eq!(fixture.status().await, MonitorStatus::Active);
    fixture.target.on("/", ScriptedResponse::status(503));
    let found = fixture.half_a_period(2).await;
    let scheduled = found.iter().find(|it| it.identity.trigger == Trigger::Scheduled).unwrap();
    let confirmation =
        found.iter().find(|it| it.identity.trigger == Trigger::Confirmation).unwrap();
    assert_ne!(confirmation.identity.region, scheduled.identity.region);
    assert_eq!(confirmation.identity.slot, START + PERIOD / 2, "at once, not at its next slot");
    assert_eq!([scheduled.outcome, confirmation.outcome], [Outcome::Failure; 2]);
    for result in [scheduled, confirmation] {
        let singapore = result.identity.region == Region::FlySin;
        let name = if singapore { "singapore" } else { "this server" };
        assert_eq!(result.probe.0.as_ref(), name, "a result has the probe that served it");
    }
    until(async || (fixture.status().await == MonitorStatus::Error).then_some(())).await;
    let found = fixture.half_a_period(1).await;
    assert!(found.iter().all(|result| result.identity.trigger == Trigger::Scheduled), "{found:?}");
    assert_eq!(
        fixture.metrics.confirmations_requested.get(),
        1,
        "one round of confirmations in a period"
    );
    fixture.stop().await;
}

#[tokio::test]
async fn regions_of_same_probe_do_not_confirm() {
    let fixture = ConfirmationFixture::new(Probes::embedded(a_probe(), Vec::new())).await;
    fixture.target.on("/", ScriptedResponse::status(503));
    for _ in 0..2 {
        let found = fixture.half_a_period(1).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].identity.trigger, Trigger::Scheduled);
    }
    until(async || (fixture.status().await == MonitorStatus::Error).then_some(())).await;
    assert_eq!(fixture.metrics.confirmations_requested.get(), 0);
    fixture.stop().await;
}
