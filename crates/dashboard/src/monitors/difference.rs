//! The difference between a check and the last good one of its region.

use contract::monitor::wire::{AttemptLog, GetResponseLogResponse, HopLog};
use rules::counted;

use super::{units, waterfall};

/// Headers that differ in every response.
const VOLATILE: [&str; 8] =
    ["age", "cf-ray", "date", "expires", "set-cookie", "x-request-id", "x-runtime", "x-timer"];
/// A phase is listed if it took this many times longer or shorter, and by this many microseconds.
const FACTOR: i32 = 2;
const MICROS_MIN: i32 = 10_000;

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CheckDifference {
    pub(crate) part: String,
    pub(crate) good: String,
    pub(crate) now: String,
}

/// Returns what differs between a good check and another one.
pub(super) fn differences(
    good: &GetResponseLogResponse,
    now: &GetResponseLogResponse,
) -> Vec<CheckDifference> {
    let mut found = Vec::new();
    let latencies = [&good.log, &now.log].map(|it| units::latency(it.latency_us));
    add(&mut found, "Latency", &latencies);
    let statuses = [&good.log, &now.log].map(|it| it.status_code.map(|it| it.to_string()));
    add(&mut found, "Status code", &statuses.map(Option::unwrap_or_default));
    add_phases(&mut found, good, now);
    let (Some(good), Some(now)) = (good.attempts.last(), now.attempts.last()) else {
        return found;
    };
    add_hops(&mut found, good, now);
    let records = [good, now].map(records);
    add(&mut found, "DNS records", &records);
    if good.body != now.body {
        add(&mut found, "Body", &[good, now].map(|it| size(it.body.as_deref())));
    }
    found
}

fn add(found: &mut Vec<CheckDifference>, part: &str, [good, now]: &[String; 2]) {
    if good != now {
        let (part, good, now) = (part.to_owned(), good.clone(), now.clone());
        found.push(CheckDifference { part, good, now });
    }
}

fn add_phases(
    found: &mut Vec<CheckDifference>,
    good: &GetResponseLogResponse,
    now: &GetResponseLogResponse,
) {
    let now = waterfall::named(&now.log.phases);
    for (label, before) in waterfall::named(&good.log.phases) {
        let Some((_, after)) = now.iter().find(|(other, _)| *other == label) else { continue };
        let (low, high) = (before.min(*after), before.max(*after));
        if high - low >= MICROS_MIN && high / FACTOR >= low {
            add(found, label, &[before, *after].map(units::latency));
        }
    }
}

fn add_hops(found: &mut Vec<CheckDifference>, good: &AttemptLog, now: &AttemptLog) {
    let redirects = [good, now].map(|it| it.hops.len().saturating_sub(1).to_string());
    add(found, "Redirects", &redirects);
    let (Some(good), Some(now)) = (good.hops.last(), now.hops.last()) else { return };
    for (part, of) in [
        ("URL", (|it| it.url.clone()) as fn(&HopLog) -> String),
        ("Address", |it| it.address.clone()),
        ("Protocol", |it| it.version.clone()),
        ("Certificate", fingerprint),
    ] {
        add(found, part, &[good, now].map(of));
    }
    let value = |hop: &HopLog, key: &str| {
        let of_key = hop.headers.iter().filter(|it| it.key.eq_ignore_ascii_case(key));
        of_key.map(|it| it.value.as_str()).collect::<Vec<_>>().join(", ")
    };
    let all = good.headers.iter().chain(&now.headers);
    let mut keys: Vec<String> = all.map(|it| it.key.to_ascii_lowercase()).collect();
    keys.sort_unstable();
    keys.dedup();
    // Without a response, every header would be missing.
    if now.status_code.is_some() {
        for key in keys.iter().filter(|key| !VOLATILE.contains(&key.as_str())) {
            add(found, &format!("Header {key}"), &[good, now].map(|it| value(it, key)));
        }
    }
}

fn fingerprint(hop: &HopLog) -> String {
    let of = |it: &contract::monitor::wire::CertificateLog| {
        format!("{} ({})", it.subject, it.fingerprint.get(..16).unwrap_or(&it.fingerprint))
    };
    hop.certificate.as_option().map(of).unwrap_or_default()
}

fn records(attempt: &AttemptLog) -> String {
    let records = attempt.answers.iter().flat_map(|answer| {
        answer.records.iter().map(|it| format!("{} {}", answer.record, it.value))
    });
    let mut records: Vec<String> = records.collect();
    records.sort_unstable();
    records.join(", ")
}

fn size(body: Option<&str>) -> String {
    body.map_or_else(|| "none".to_owned(), |it| counted(it.chars().count(), "character"))
}

#[cfg(test)]
mod tests {
    use contract::monitor::wire::{Phases, ResponseHeader, ResponseLog};

    use super::*;

    fn check(status: i32, wait_us: i32, headers: &[(&str, &str)]) -> GetResponseLogResponse {
        let header = |(key, value): &(&str, &str)| ResponseHeader {
            key: (*key).to_owned(),
            value: (*value).to_owned(),
        };
        let hop = HopLog {
            status_code: Some(status),
            headers: headers.iter().map(header).collect(),
            ..HopLog::default()
        };
        let phases = Phases { first_byte_us: Some(wait_us), ..Phases::default() };
        let log = ResponseLog {
            status_code: Some(status),
            latency_us: wait_us,
            phases: phases.into(),
            ..ResponseLog::default()
        };
        let attempt = AttemptLog { hops: vec![hop], ..AttemptLog::default() };
        GetResponseLogResponse { log: log.into(), attempts: vec![attempt] }
    }

    #[test]
    fn changed_parts_are_listed_without_volatile_headers() {
        let good = check(200, 20_000, &[("Server", "nginx"), ("Date", "Mon")]);
        let now = check(503, 90_000, &[("server", "envoy"), ("date", "Tue"), ("Retry-After", "1")]);
        let found = differences(&good, &now);
        let texts: Vec<_> = found.iter().map(|it| [&*it.part, &it.good, &it.now]).collect();
        assert_eq!(
            texts,
            [
                ["Latency", "20 ms", "90 ms"],
                ["Status code", "200", "503"],
                ["First byte", "20 ms", "90 ms"],
                ["Header retry-after", "", "1"],
                ["Header server", "nginx", "envoy"],
            ]
        );
        assert_eq!(differences(&good, &good), []);
    }
}
