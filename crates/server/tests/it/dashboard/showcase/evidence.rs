//! Evidence of the showcase: phases with a daily rhythm, responses and reasons.

use std::f64::consts::TAU;
use std::time::Duration;

use domain::check::{AssertionResult, AttemptEvidence, Evidence, HopEvidence, Outcome, Phases};
use domain::notify::{Cause, RegionOutcome};
use rules::{Region, Timestamp};

use super::monitors::{Now, REGIONS, Shown};

/// Returns phases with a daily rhythm, a distance per region and some noise.
pub(super) fn phases(
    shown: &Shown,
    outcome: Outcome,
    (ago, index, region): (u32, usize, Region),
) -> Phases {
    let seed = u64::from(ago) * 31 + index as u64 * 7_919 + region as u64 * 104_729;
    let noise = (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as f64 / f64::from(1_u32 << 24);
    let daily = (TAU * f64::from(ago) / 1_440.0).cos();
    let distances = [(Region::FlyIad, 45.0), (Region::FlySin, 110.0)];
    let distance = distances.iter().find(|(known, _)| *known == region).map_or(0.0, |it| it.1);
    let spike = if noise > 0.985 { 2.4 } else { 1.0 };
    let factor = if outcome == Outcome::Degraded { 4.1 } else { spike };
    let wait = shown.usual_ms * (0.55 + 0.12 * daily + 0.25 * noise) * factor + distance;
    let micros = |millis: f64| Some((millis * 1_000.0) as u32);
    let connect = micros(shown.usual_ms * 0.1 + distance / 4.0 + noise * 3.0);
    let is = |kind: &str| shown.check.get(kind).is_some();
    if is("tcp") {
        return Phases { dns_us: micros(2.0 + noise), connect_us: connect, ..Phases::default() };
    }
    if is("dns") {
        return Phases { dns_us: micros(shown.usual_ms + noise * 9.0), ..Phases::default() };
    }
    Phases {
        dns_us: micros(2.0 + noise * 4.0),
        connect_us: connect,
        tls_us: micros(shown.usual_ms * 0.16 + distance / 3.0 + noise * 6.0),
        first_byte_us: micros(wait),
        transfer_us: micros(1.0 + noise * 5.0),
    }
}

/// Returns the duration of the whole exchange in microseconds.
pub(super) fn total(phases: Phases) -> u32 {
    let Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us } = phases;
    [dns_us, connect_us, tls_us, first_byte_us, transfer_us].into_iter().flatten().sum()
}

/// Returns why a check of this monitor is not a success now.
fn reason(shown: &Shown) -> &'static str {
    match shown.now {
        Now::Slow(_) => "took 934 ms, more than 800 ms",
        Now::Up | Now::Down(_) | Now::Paused => "status is 502, expected 2xx",
    }
}

/// Returns what a check saw: two attempts if it failed.
pub(super) fn evidence(
    shown: &Shown,
    outcome: Outcome,
    (at, phases): (Timestamp, Phases),
) -> Option<Evidence> {
    let url = shown.check["http"]["url"].as_str()?;
    let is_failure = outcome == Outcome::Failure;
    let status = if is_failure { 502 } else { 200 };
    let headers = [
        ("content-type", if is_failure { "text/html" } else { "application/json" }),
        ("server", "nginx/1.27.2"),
        ("cache-control", "no-store"),
        ("x-request-id", "6f1c2c0e8a"),
        ("x-upstream", if is_failure { "none" } else { "app-2" }),
    ];
    let hop = HopEvidence {
        url: Some(url.to_owned()),
        address: Some("203.0.113.24:443".to_owned()),
        phases,
        version: Some("HTTP/2.0".to_owned()),
        status: Some(status),
        headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        certificate: None,
    };
    let body = if is_failure {
        "<html>\n<head><title>502 Bad Gateway</title></head>\n<body>no upstream</body>\n</html>"
    } else {
        "{\"status\":\"ok\",\"version\":\"2026.11.3\"}"
    };
    let assertion = AssertionResult {
        assertion: "status in 2xx".to_owned(),
        passed: !is_failure,
        actual: status.to_string(),
    };
    let attempt = |after: Duration| AttemptEvidence {
        started_at: at + after,
        latency_us: total(phases),
        failure: None,
        reasons: (outcome != Outcome::Success)
            .then(|| reason(shown).to_owned())
            .into_iter()
            .collect(),
        assertions: vec![assertion.clone()],
        hops: vec![hop.clone()],
        body: Some(body.to_owned()),
        body_truncated: false,
        body_cut: false,
        answers: Vec::new(),
    };
    let mut attempts = vec![attempt(Duration::ZERO)];
    attempts.extend(is_failure.then(|| attempt(Duration::from_secs(2))));
    Some(Evidence { attempts })
}

pub(super) fn cause(shown: &Shown) -> Cause {
    let region = |region: Region| RegionOutcome {
        region,
        place: Some("this server".to_owned()),
        failing: matches!(shown.now, Now::Down(_)),
        reason: Some(reason(shown).to_owned()),
        status: Some(502),
        latency_ms: Some(212),
    };
    Cause { why: reason(shown).to_owned(), regions: REGIONS.map(region).to_vec() }
}
