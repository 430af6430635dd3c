//! Labels of metrics, and the page that a scraper reads.

use super::*;

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
        "aloft_calls_total{method=\"GetMonitor\",code=\"ok\"} 1",
        "process_resident_memory_bytes ",
        "process_open_fds ",
        "aloft_build_info{version=",
    ] {
        assert!(page.contains(series), "no `{series}` in\n{page}");
    }
}
