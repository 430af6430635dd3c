//! Conversions that several importers share. Each notes in the entry what it changes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rules::field::Shape;
use rules::monitor::{
    CheckDraft, HeaderDraft, HttpDraft, JsonAssertionDraft, MonitorDraft, RecordAssertionDraft,
    StatusCodeAssertionDraft, TextAssertionDraft,
};
use rules::tables::{CERTIFICATE_WARN_DAYS_MAX, HTTP_MONITOR, RETRY_MAX, TIMEOUT_MS_MAX};
use rules::{
    IpVersion, Method, NumberComparator, Periodicity, RecordComparator, RecordKind, Secret,
    TextComparator,
};

use crate::preview::Entry;

/// Smallest and largest status code of an assertion (the table of HTTP monitors).
const STATUS_CODES: StatusRange = StatusRange { from: 100, to: 599 };
/// Maximum number of assertions of one kind (the table of HTTP monitors).
const ASSERTIONS_MAX: usize = 10;

/// A range of status codes, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatusRange {
    pub(crate) from: u16,
    pub(crate) to: u16,
}

impl StatusRange {
    const fn contains(self, other: Self) -> bool {
        self.from <= other.from && other.to <= self.to
    }
}

/// Sets the period: the next longer one that exists.
pub(crate) fn period(draft: &mut MonitorDraft, field: &str, seconds: f64, entry: &mut Entry) {
    let longest = Periodicity::OneHour;
    let fits = |period: &Periodicity| period.period().as_secs_f64() >= seconds;
    let chosen = Periodicity::ALL.iter().copied().find(fits).unwrap_or(longest);
    if (chosen.period().as_secs_f64() - seconds).abs() > f64::EPSILON {
        let why = format!("the periods are {}", Periodicity::WORDS.join(", "));
        entry.change(field, format_args!("{seconds} s"), chosen, why);
    }
    draft.periodicity = Some(chosen.to_string());
}

/// Sets the timeout of one attempt, within its bounds.
pub(crate) fn timeout(draft: &mut MonitorDraft, field: &str, millis: f64, entry: &mut Entry) {
    let most = f64::from(TIMEOUT_MS_MAX);
    let kept = millis.round().clamp(1.0, most);
    if (kept - millis).abs() >= 1.0 {
        let why = format!("a timeout has 1 to {TIMEOUT_MS_MAX} ms");
        entry.change(field, format_args!("{millis} ms"), format_args!("{kept} ms"), why);
    }
    draft.timeout = Some(kept as i32);
}

/// Sets the number of retries, within its bounds.
pub(crate) fn retry(draft: &mut MonitorDraft, field: &str, count: i64, entry: &mut Entry) {
    let kept = count.clamp(0, i64::from(RETRY_MAX));
    if kept != count {
        entry.change(field, count, kept, format!("a check has up to {RETRY_MAX} retries"));
    }
    draft.retry = Some(kept as i32);
}

/// Sets the method, if it exists.
pub(crate) fn method(http: &mut HttpDraft, field: &str, method: &str, entry: &mut Entry) {
    let upper = method.to_ascii_uppercase();
    if Method::WORDS.contains(&upper.as_str()) {
        if upper != Method::Get.as_str() {
            http.method = Some(upper);
        }
        return;
    }
    let known = Method::WORDS.join(", ");
    entry.change(field, method, Method::Get, format!("the methods are {known}"));
}

/// Adds a request header.
pub(crate) fn header(http: &mut HttpDraft, key: impl Into<String>, value: impl Into<String>) {
    http.headers.push(HeaderDraft { key: Some(key.into()), value: Some(value.into()) });
}

/// Returns whether a request header is set.
pub(crate) fn has_header(http: &HttpDraft, name: &str) -> bool {
    let is_it = |header: &HeaderDraft| {
        header.key.as_deref().is_some_and(|key| key.eq_ignore_ascii_case(name))
    };
    http.headers.iter().any(is_it)
}

/// Adds the header of HTTP basic authentication, unless the source sets the header itself.
pub(crate) fn basic_authentication(http: &mut HttpDraft, user: &str, password: &str) {
    if !has_header(http, "Authorization") {
        let credentials = STANDARD.encode(format!("{user}:{password}"));
        header(http, "Authorization", format!("Basic {credentials}"));
    }
}

/// Adds an assertion on the body.
pub(crate) fn body(http: &mut HttpDraft, comparator: TextComparator, target: impl Into<String>) {
    http.body_assertions.push(TextAssertionDraft {
        target: Some(target.into()),
        comparator: Some(comparator.to_string()),
    });
}

/// Returns the comparator of an operator such as `==`.
pub(crate) fn comparator(operator: &str) -> Option<TextComparator> {
    match operator {
        "==" => Some(TextComparator::Eq),
        "!=" => Some(TextComparator::Neq),
        "<=" => Some(TextComparator::Lte),
        ">=" => Some(TextComparator::Gte),
        ">" => Some(TextComparator::Gt),
        "<" => Some(TextComparator::Lt),
        _ => None,
    }
}

/// Adds an assertion on values in a body of JSON.
pub(crate) fn json_value(
    http: &mut HttpDraft,
    path: String,
    comparator: TextComparator,
    target: impl Into<String>,
) {
    http.json_assertions.push(JsonAssertionDraft {
        path: Some(path),
        target: Some(target.into()),
        comparator: Some(comparator.to_string()),
    });
}

/// Sets the client certificate and its key, if both have the form that their table allows.
pub(crate) fn client_certificate(
    http: &mut HttpDraft,
    (certificate, key): (String, String),
    entry: &mut Entry,
) {
    let broken = |name: &str, text: &str| {
        let rule = HTTP_MONITOR.field(name).shape.violated_by(text)?;
        Some(format!("`{name}` {rule}"))
    };
    let broken = broken("client_certificate", &certificate).or_else(|| broken("client_key", &key));
    if let Some(remedy) = broken {
        return entry.lose("the client certificate", remedy);
    }
    http.client_certificate = Some(certificate);
    http.client_key = Some(Secret::new(key));
}

/// Sets the days of a warning before the expiry of a certificate, if the monitor uses TLS.
pub(crate) fn certificate_warning(http: &mut HttpDraft, field: &str, days: f64, entry: &mut Entry) {
    let is_tls =
        http.url.as_deref().is_some_and(|url| url.to_ascii_lowercase().starts_with("https:"));
    let days = days.ceil();
    if !is_tls || days < 1.0 {
        return;
    }
    let kept = days.min(f64::from(CERTIFICATE_WARN_DAYS_MAX)) as i32;
    http.certificate_warn_days = Some(http.certificate_warn_days.unwrap_or(0).max(kept));
    if f64::from(kept) < days {
        entry.change(field, days, kept, "a certificate is valid for about a year");
    }
}

/// Sets the version of the Internet protocol of an HTTP or TCP monitor.
pub(crate) fn ip_version(check: &mut CheckDraft, version: IpVersion) {
    let version = Some(version.to_string());
    match check {
        CheckDraft::Http(http) => http.ip_version = version,
        CheckDraft::Tcp(tcp) => tcp.ip_version = version,
        CheckDraft::Dns(_) | CheckDraft::Heartbeat(_) => {}
    }
}

/// Creates an assertion on MX records. Theirs are names; ours have the priority before the name, so
/// names are looked for inside.
pub(crate) fn mx_assertion(
    comparator: RecordComparator,
    name: &str,
    entry: &mut Entry,
) -> RecordAssertionDraft {
    let inside = match comparator {
        RecordComparator::Eq | RecordComparator::Contains => RecordComparator::Contains,
        RecordComparator::Neq | RecordComparator::NotContains => RecordComparator::NotContains,
    };
    if inside != comparator {
        let why = "MX records have their priority before the name";
        entry.change("conditions", comparator, inside, why);
    }
    RecordAssertionDraft {
        record: Some(RecordKind::Mx.to_string()),
        target: Some(name.trim_end_matches('.').to_owned()),
        comparator: Some(inside.to_string()),
    }
}

/// Adds an assertion on the status code.
pub(crate) fn status(http: &mut HttpDraft, comparator: NumberComparator, code: u16) {
    http.status_code_assertions.push(StatusCodeAssertionDraft {
        target: Some(code.into()),
        comparator: Some(comparator.to_string()),
    });
}

/// Sets the accepted status codes. All assertions must hold, so they can say one range with holes:
/// if there are too many holes, the range is accepted whole, and the entry says so.
pub(crate) fn statuses(
    http: &mut HttpDraft,
    field: &str,
    accepted: &[StatusRange],
    entry: &mut Entry,
) {
    let ranges = joined(accepted);
    let outside = accepted.iter().filter(|range| !STATUS_CODES.contains(**range));
    let outside: Vec<String> = outside.map(ToString::to_string).collect();
    if !outside.is_empty() {
        let what = format!("the status codes {} beyond {STATUS_CODES}", outside.join(", "));
        let remedy = "accept a status code that HTTP defines";
        if ranges.is_empty() {
            entry.refuse(what, remedy);
        } else {
            entry.lose(what, remedy);
        }
    }
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return };
    let whole = StatusRange { from: first.from, to: last.to };
    // Any assertion replaces the default range, so others need this one beside them.
    if ranges == [StatusRange { from: 200, to: 299 }] && http.status_code_assertions.is_empty() {
        return;
    }
    let mut holes: Vec<u16> =
        ranges.windows(2).flat_map(|pair| pair[0].to + 1..pair[1].from).collect();
    let bounds = 2;
    if holes.len() + bounds > ASSERTIONS_MAX {
        let before: Vec<String> = ranges.iter().map(ToString::to_string).collect();
        let why = "all assertions must hold, so they cannot express separate ranges";
        entry.change(field, before.join(", "), whole, why);
        holes.clear();
    }
    if whole.from == whole.to {
        return status(http, NumberComparator::Eq, whole.from);
    }
    // Without any assertion, only 2xx would be accepted.
    if whole.from > STATUS_CODES.from || whole.to == STATUS_CODES.to {
        status(http, NumberComparator::Gte, whole.from);
    }
    if whole.to < STATUS_CODES.to {
        status(http, NumberComparator::Lte, whole.to);
    }
    for hole in holes {
        status(http, NumberComparator::Neq, hole);
    }
}

/// Returns the ranges within the bounds, sorted, and joined if nothing is between them.
fn joined(ranges: &[StatusRange]) -> Vec<StatusRange> {
    let clipped = ranges.iter().map(|range| StatusRange {
        from: range.from.max(STATUS_CODES.from),
        to: range.to.min(STATUS_CODES.to),
    });
    let mut sorted: Vec<StatusRange> = clipped.filter(|range| range.from <= range.to).collect();
    sorted.sort_unstable();
    let mut joined: Vec<StatusRange> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.from <= last.to.saturating_add(1) => {
                last.to = last.to.max(range.to);
            }
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

/// Reads a status code such as `200`, or a range such as `200-299`.
pub(crate) fn status_range(text: &str) -> Option<StatusRange> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let range = StatusRange { from: from.trim().parse().ok()?, to: to.trim().parse().ok()? };
    (range.from <= range.to).then_some(range)
}

impl std::fmt::Display for StatusRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.from == self.to {
            return write!(f, "{}", self.from);
        }
        write!(f, "{}-{}", self.from, self.to)
    }
}

/// Returns `host:port`, an IPv6 address in brackets.
pub(crate) fn host_port(host: &str, port: impl std::fmt::Display) -> String {
    if host.contains(':') && !host.starts_with('[') {
        return format!("[{host}]:{port}");
    }
    format!("{host}:{port}")
}

/// Returns the maximum length of a text field of HTTP monitors, which all monitors share.
pub(crate) fn chars_max(field: &str) -> usize {
    let bounds = HTTP_MONITOR.field(field).shape.characters();
    bounds.map_or(usize::MAX, |(_, max)| max as usize)
}

/// Returns the maximum number of tags of a monitor, and the maximum length of one.
pub(crate) fn tag_limits() -> (usize, usize) {
    let Shape::SetOfTags { max, chars_max } = HTTP_MONITOR.field("tags").shape else {
        return (0, 0);
    };
    (max as usize, chars_max as usize)
}

#[cfg(test)]
mod tests {
    use rules::monitor::CheckDraft;

    use super::*;
    use crate::preview::ObjectKind;

    fn entry() -> Entry {
        Entry::new(ObjectKind::Monitor, "a")
    }

    #[test]
    fn period_is_the_next_longer_one() {
        for (seconds, expected, changes) in [
            (20.0, "30s", 1),
            (60.0, "1m", 0),
            (61.0, "5m", 1),
            (3600.0, "1h", 0),
            (86_400.0, "1h", 1),
        ] {
            let mut draft = MonitorDraft::new(CheckDraft::Http(HttpDraft::default()));
            let mut entry = entry();
            period(&mut draft, "interval", seconds, &mut entry);
            assert_eq!(draft.periodicity.as_deref(), Some(expected), "{seconds}");
            assert_eq!(entry.changes.len(), changes, "{seconds}");
        }
    }

    #[test]
    fn unknown_status_codes_are_noted_or_refused() {
        for (accepted, losses, is_refused) in [
            ("200-299", 0, false),
            ("100-999", 1, false),
            ("200-299,999", 1, false),
            ("999", 1, true),
            ("0,600-700", 1, true),
        ] {
            let ranges: Vec<StatusRange> = accepted.split(',').filter_map(status_range).collect();
            let (mut http, mut entry) = (HttpDraft::default(), entry());
            statuses(&mut http, "accepted", &ranges, &mut entry);
            assert_eq!((entry.losses.len(), entry.is_refused), (losses, is_refused), "{accepted}");
        }
    }

    #[test]
    fn status_ranges_become_assertions() {
        for (accepted, expected, changes) in [
            ("200-299", "", 0),
            ("200", "eq 200", 0),
            ("200-299,301", "gte 200, lte 301, neq 300", 0),
            ("200-299,300-399", "gte 200, lte 399", 0),
            ("200-299,401", "gte 200, lte 401", 1),
            ("100-999", "gte 100", 0),
            ("404-500", "gte 404, lte 500", 0),
        ] {
            let ranges: Vec<StatusRange> = accepted.split(',').filter_map(status_range).collect();
            let (mut http, mut entry) = (HttpDraft::default(), entry());
            statuses(&mut http, "accepted", &ranges, &mut entry);
            let words = http.status_code_assertions.iter().map(|assertion| {
                format!(
                    "{} {}",
                    assertion.comparator.as_deref().unwrap(),
                    assertion.target.unwrap()
                )
            });
            assert_eq!(words.collect::<Vec<_>>().join(", "), expected, "{accepted}");
            assert_eq!(entry.changes.len(), changes, "{accepted}");
        }
    }
}
