//! Labels of metrics, and the page that a scraper reads.

use std::collections::BTreeSet;
use std::time::Duration;

use rules::{Region, Timestamp};

use super::*;

/// Files for Prometheus and Grafana.
const PACKAGING: [&str; 2] = [
    include_str!("../../../../../packaging/prometheus/alerts.yaml"),
    include_str!("../../../../../packaging/grafana/aloft.json"),
];

#[test]
fn every_check_kind_and_outcome_has_a_label() {
    let metrics = Metrics::new();
    for &kind in MonitorKind::ALL {
        for outcome in Outcome::ALL {
            metrics.checks(kind, outcome).inc();
        }
    }
    let page = metrics.page();
    for &kind in MonitorKind::ALL {
        for outcome in Outcome::ALL {
            let series =
                format!("aloft_checks_total{{kind=\"{kind}\",outcome=\"{}\"}} 1", outcome.as_str());
            assert!(page.contains(&series), "no `{series}` in\n{page}");
        }
    }
}

#[test]
fn every_channel_kind_has_a_label() {
    let metrics = Metrics::new();
    for kind in ProviderType::ALL {
        for outcome in MessageOutcome::ALL {
            metrics.messages(*kind, outcome).inc();
        }
    }
    let page = metrics.page();
    for kind in ProviderType::ALL {
        for outcome in MessageOutcome::ALL {
            let word = outcome.as_str();
            let series = format!("aloft_messages_total{{kind=\"{kind}\",outcome=\"{word}\"}} 1");
            assert!(page.contains(&series), "no `{series}` in\n{page}");
        }
    }
}

#[test]
fn endpoint_renders_the_documented_metrics() {
    let metrics = Metrics::new();
    metrics.count_call("GetMonitor", "ok");
    metrics.check_start_delay_seconds.observe(0.003);
    let page = metrics.page();
    for series in [
        "aloft_check_start_delay_seconds_bucket{le=\"0.005\"} 1",
        "aloft_missed_slots_total 0",
        "aloft_expired_slots_total 0",
        "aloft_check_bodies_cut_total 0",
        "aloft_checks_waiting 0",
        "aloft_workspaces_waiting 0",
        "aloft_skipped_slots_total 0",
        "aloft_checks_in_flight 0",
        "aloft_results_committed_total 0",
        "aloft_commit_seconds_count 0",
        "aloft_calls_cached_total 0",
        "aloft_message_seconds_count 0",
        "aloft_deliveries_waiting 0",
        "aloft_deliveries_dead 0",
        "aloft_standbys 0",
        "aloft_calls_total{method=\"GetMonitor\",code=\"ok\"} 1",
        "process_resident_memory_bytes ",
        "process_open_fds ",
        "aloft_build_info{version=",
    ] {
        assert!(page.contains(series), "no `{series}` in\n{page}");
    }
}

// issue 19, point 7: alerts and the dashboard
#[test]
fn alerts_and_dashboard_name_existing_metrics() {
    let metrics = Metrics::with_traces(1, Traces::default());
    monitors::tests::show_one(&metrics.monitors);
    metrics.count_call("GetMonitor", "ok");
    metrics.probes.set_connected(&Region::ALL[..1], true);
    let status = ProbeStatus {
        is_connected: true,
        version: "0.1.0".to_owned(),
        heard_at: Timestamp::from_millis(0),
        lag: Duration::ZERO,
        clock_offset_ms: 0,
        running: 0,
        waiting: 0,
    };
    metrics.probes.set_status(&Region::ALL[..1], "", &status);
    let page = metrics.page();
    let words = |text: &'static str| text.split(|it: char| !it.is_ascii_lowercase() && it != '_');
    let names = PACKAGING.into_iter().flat_map(words);
    let names: BTreeSet<&str> =
        names.filter(|it| it.starts_with("aloft_") || it.starts_with("process_")).collect();
    assert!(names.contains("aloft_probe_connected") && names.contains("process_open_fds"));
    let is_there = |name: &str| {
        page.lines()
            .any(|line| line.strip_prefix(name).is_some_and(|it| it.starts_with(['{', ' '])))
    };
    let unknown: Vec<&str> = names.into_iter().filter(|name| !is_there(name)).collect();
    assert!(unknown.is_empty(), "no {unknown:?} in\n{page}");
}
