//! The page shows the monitors of the last scrape, and nothing without the setting.

use domain::check::{
    AttemptEvidence, Certificate, Evidence, HopEvidence, ProbeName, ResultKey, Trigger,
};
use rules::MonitorKind;

use super::*;
use crate::observe::{Metrics, Traces};

fn monitor(number: u64, name: &str) -> ActiveMonitor {
    ActiveMonitor {
        workspace: "acme".to_owned(),
        id: MonitorId::from_bits(number),
        name: name.to_owned(),
        kind: MonitorKind::Http,
        status: MonitorStatus::Degraded,
        is_in_maintenance: true,
    }
}

/// Returns a result with a certificate.
fn result(number: u64) -> CheckResult {
    let certificate = Certificate {
        subject: String::new(),
        issuer: String::new(),
        not_before: Timestamp::from_millis(0),
        not_after: Timestamp::from_millis(9_000),
        chain_not_after: Timestamp::from_millis(7_000),
        chain: Vec::new(),
        fingerprint: String::new(),
    };
    let phases = Phases { dns_us: Some(1_000), first_byte_us: Some(2_500), ..Phases::default() };
    let hop = HopEvidence {
        url: None,
        address: None,
        phases,
        version: None,
        status: None,
        headers: Vec::new(),
        certificate: Some(certificate),
    };
    let attempt = AttemptEvidence {
        started_at: Timestamp::from_millis(0),
        latency_us: 4_000,
        failure: None,
        reasons: Vec::new(),
        assertions: Vec::new(),
        hops: vec![hop],
        body: None,
        body_truncated: false,
        body_cut: false,
        answers: Vec::new(),
    };
    CheckResult {
        identity: ResultKey {
            monitor: MonitorId::from_bits(number),
            revision: 1,
            region: Region::FlyAms,
            slot: Timestamp::from_millis(0),
            trigger: Trigger::Scheduled,
        },
        finished_at: Timestamp::from_millis(0),
        outcome: Outcome::Success,
        latency_us: 4_000,
        phases,
        status: Some(200),
        attempts: 1,
        probe: ProbeName("this server".into()),
        evidence: Some(Arc::new(Evidence { attempts: vec![attempt] })),
    }
}

/// Shows one monitor with each of its series.
pub(in crate::observe::metrics) fn show_one(metrics: &MonitorMetrics) {
    metrics.show(vec![monitor(1, "Shop \"1\"\\\n")]);
    metrics.record(&[result(1), result(2)]);
}

fn series(metrics: &Metrics) -> String {
    let page = metrics.page();
    let lines: Vec<&str> = page.lines().filter(|line| line.contains("aloft_monitor_")).collect();
    lines.join("\n")
}

#[test]
fn page_shows_status_latencies_and_certificate() {
    let metrics = Metrics::with_traces(1, Traces::default());
    show_one(&metrics.monitors);
    insta::assert_snapshot!(series(&metrics), @r#"
    # HELP aloft_monitor_status Status of a monitor: 1 for the current one
    # TYPE aloft_monitor_status gauge
    aloft_monitor_status{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",status="active"} 0
    aloft_monitor_status{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",status="degraded"} 1
    aloft_monitor_status{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",status="error"} 0
    aloft_monitor_status{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",status="unknown"} 0
    # HELP aloft_monitor_in_maintenance Whether a maintenance holds the alerts of a monitor: 1 or 0
    # TYPE aloft_monitor_in_maintenance gauge
    aloft_monitor_in_maintenance{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http"} 1
    # HELP aloft_monitor_latency_seconds Duration of the latest check of a monitor in a region
    # TYPE aloft_monitor_latency_seconds gauge
    # UNIT aloft_monitor_latency_seconds seconds
    aloft_monitor_latency_seconds{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",region="fly-ams"} 0.004
    # HELP aloft_monitor_phase_seconds Duration of a phase of that check
    # TYPE aloft_monitor_phase_seconds gauge
    # UNIT aloft_monitor_phase_seconds seconds
    aloft_monitor_phase_seconds{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",region="fly-ams",phase="dns"} 0.001
    aloft_monitor_phase_seconds{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http",region="fly-ams",phase="first_byte"} 0.0025
    # HELP aloft_monitor_certificate_expiry_timestamp_seconds Time at which the first certificate of a monitor expires
    # TYPE aloft_monitor_certificate_expiry_timestamp_seconds gauge
    # UNIT aloft_monitor_certificate_expiry_timestamp_seconds seconds
    aloft_monitor_certificate_expiry_timestamp_seconds{workspace="acme",id="mon_0000000000001",name="Shop \"1\"\\\n",kind="http"} 9
    "#);
}

// After a change from https to http, the alert about the certificate stayed.
#[test]
fn results_of_earlier_settings_are_forgotten() {
    let metrics = Metrics::with_traces(1, Traces::default());
    show_one(&metrics.monitors);
    let mut next = result(1);
    (next.identity.revision, next.evidence) = (2, None);
    metrics.monitors.record(&[next, result(1)]);
    let shown = series(&metrics);
    assert!(shown.contains("aloft_monitor_latency_seconds{"), "{shown}");
    assert!(!shown.contains("aloft_monitor_certificate_expiry_timestamp_seconds{"), "{shown}");
}

#[test]
fn page_hides_monitors_unless_allowed() {
    let metrics = Metrics::new();
    show_one(&metrics.monitors);
    assert_eq!(series(&metrics), "");
    assert_eq!(metrics.monitors.limit(), None);
}

#[test]
fn results_of_hidden_monitors_are_forgotten() {
    let metrics = Metrics::with_traces(1, Traces::default());
    show_one(&metrics.monitors);
    metrics.monitors.show(vec![monitor(2, "Mail")]);
    metrics.monitors.show(vec![monitor(1, "Shop")]);
    let shown = series(&metrics);
    assert!(
        shown.contains("aloft_monitor_status{")
            && !shown.contains("aloft_monitor_latency_seconds{"),
        "{shown}"
    );
}
