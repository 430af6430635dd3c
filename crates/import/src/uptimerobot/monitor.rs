//! Monitors of UptimeRobot.

use rules::TextComparator;
use rules::monitor::{CheckDraft, HttpDraft, MonitorDraft, TcpDraft};

use super::Links;
use crate::assembly::Assembly;
use crate::convert::{self, StatusRange};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Interval and timeout if an answer lacks them, in seconds.
const INTERVAL_DEFAULT: f64 = 300.0;
/// Timeout if an answer lacks it, in seconds.
const TIMEOUT_DEFAULT: f64 = 30.0;
/// Methods by their number, from 1.
const METHODS: [&str; 7] = ["HEAD", "GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Ports of the kinds of port monitors by their number, from 1.
const PORTS: [u16; 6] = [80, 443, 21, 25, 110, 143];
/// Fields that were read before, or that only report.
const WITHOUT_MEANING: [&str; 25] = [
    "create_datetime",
    "status",
    "sub_type",
    "port",
    "keyword_type",
    "keyword_case_type",
    "keyword_value",
    "logs",
    "response_times",
    "average_response_time",
    "all_time_uptime_ratio",
    "all_time_uptime_durations",
    "custom_uptime_ratio",
    "custom_down_durations",
    "custom_uptime_ranges",
    "http_username",
    "http_password",
    "http_auth_type",
    "http_method",
    "post_type",
    "post_value",
    "post_content_type",
    "is_group_main",
    "timezone",
    "ssl",
];

/// Imports a monitor, or notes why it is impossible.
pub(super) fn import(mut record: Record, links: &mut Links, assembly: &mut Assembly) {
    let id = record.id("id").unwrap_or_default();
    if assembly.has_monitor(&id) {
        return;
    }
    let name = record.text("friendly_name").unwrap_or_default();
    links.names.push((id.clone(), name.clone()));
    let mut entry = Entry::new(ObjectKind::Monitor, &name);
    let url = record.text("url").unwrap_or_default();
    let kind = record.integer("type").unwrap_or(0);
    let check = match kind {
        1 | 2 => CheckDraft::Http(http(&mut record, kind, url, &mut entry)),
        4 => {
            CheckDraft::Tcp(TcpDraft { uri: Some(port(&mut record, &url)), ..TcpDraft::default() })
        }
        other => {
            let (what, remedy) = match other {
                3 => ("ping", "check a port of the host with a TCP monitor"),
                5 => ("heartbeat", "create a heartbeat monitor, and let the job call its URL"),
                _ => ("of UptimeRobot", "check another port or page of the host"),
            };
            entry.lose(format!("the kind {what} (type {other})"), remedy);
            return assembly.note(entry);
        }
    };
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name);
    draft.active = Some(record.integer("status") != Some(0));
    draft.degraded_at = Some(0);
    draft.retry = Some(1);
    let interval = record.number("interval").unwrap_or(INTERVAL_DEFAULT);
    convert::period(&mut draft, "interval", interval, &mut entry);
    let timeout = record.number("timeout").unwrap_or(TIMEOUT_DEFAULT);
    convert::timeout(&mut draft, "timeout", timeout * 1000.0, &mut entry);
    alerts(&mut record, &id, links, &mut entry);
    if !record.list("mwindows").is_empty() {
        entry.lose("its maintenance windows", "plan them with `aloft maintenance plan`");
    }
    record.ignore(&WITHOUT_MEANING);
    entry.close(record);
    assembly.monitor(&id, draft, entry);
}

fn http(record: &mut Record, kind: i64, url: String, entry: &mut Entry) -> HttpDraft {
    let mut http = HttpDraft { url: Some(url), ..HttpDraft::default() };
    let number = record.integer("http_method").unwrap_or(0);
    let named = usize::try_from(number - 1).ok().and_then(|at| METHODS.get(at));
    // Without a choice, pages are requested by HEAD, and keywords by GET.
    let method = named.copied().unwrap_or(if kind == 2 { "GET" } else { "HEAD" });
    convert::method(&mut http, "http_method", method, entry);
    for (key, value) in record.pairs("custom_http_headers") {
        convert::header(&mut http, key, value);
    }
    let user = record.text("http_username");
    let password = record.text("http_password").unwrap_or_default();
    match (user, record.integer("http_auth_type")) {
        (Some(_), Some(2)) => {
            entry.lose("digest authentication", "give a token in the header `Authorization`");
        }
        (Some(user), _) => convert::basic_authentication(&mut http, &user, &password),
        (None, _) => {}
    }
    body(record, &mut http);
    keyword(record, kind, &mut http, entry);
    statuses(record, &mut http, entry);
    let mut tls = record.record("ssl").unwrap_or_default();
    tls.ignore(&["brand", "product", "expires"]);
    let ignores_errors = [record.flag("ignore_ssl_errors"), tls.flag("ignore_errors")];
    if ignores_errors.contains(&Some(true)) {
        let remedy = "trust the certificate with the setting `extra_ca_file` of server and probes";
        entry.lose("ignored TLS errors", remedy);
    }
    let name = "disable_domain_expire_notifications";
    if [record.flag(name), tls.flag(name)].contains(&Some(false)) {
        entry.lose("warnings before the domain expires", "let the registrar renew it");
    }
    entry.close(tls);
    http
}

/// Reads the body: pairs (type 1), or any text (type 2) as HTML (0) or JSON (1).
fn body(record: &mut Record, http: &mut HttpDraft) {
    let are_pairs = record.integer("post_type") == Some(1);
    let content_type = record.integer("post_content_type");
    let Some(value) = record.take("post_value") else { return };
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = serde_json::from_str(&written).ok().and_then(Record::of);
    http.body = Some(match pairs.filter(|_| are_pairs) {
        Some(mut pairs) => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for name in pairs.names() {
                form.append_pair(&name, &pairs.text(&name).unwrap_or_default());
            }
            form.finish()
        }
        None => written,
    });
    let media_type = match (are_pairs, content_type) {
        (true, _) => "application/x-www-form-urlencoded",
        (false, Some(0)) => "text/html",
        (false, _) => "application/json",
    };
    if !convert::has_header(http, "Content-Type") {
        convert::header(http, "Content-Type", media_type);
    }
}

/// Reads the keyword. Type 1 alerts if it exists, type 2 if it does not.
fn keyword(record: &mut Record, kind: i64, http: &mut HttpDraft, entry: &mut Entry) {
    let Some(keyword) = record.text("keyword_value").filter(|_| kind == 2) else { return };
    let alerts_if_found = record.integer("keyword_type") == Some(1);
    let comparator =
        if alerts_if_found { TextComparator::NotContains } else { TextComparator::Contains };
    convert::body(http, comparator, keyword);
    if record.integer("keyword_case_type").is_some_and(|case| case != 0) {
        let why = "assertions compare case";
        entry.change("keyword_case_type", "any case", "the case as written", why);
    }
}

/// Reads texts such as `404:0_200:1`: status codes that mean down (0) or up (1).
fn statuses(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let accepted = StatusRange { from: 200, to: 399 };
    let Some(text) = record.text("custom_http_statuses") else {
        // Redirects are followed, so 3xx only matters if one leads nowhere.
        return;
    };
    let mut ranges = vec![StatusRange { from: 200, to: 299 }];
    for pair in text.split('_') {
        let (code, means) = pair.split_once(':').unwrap_or((pair, ""));
        match (convert::status_range(code), means) {
            (Some(range), "1") => ranges.push(range),
            (Some(range), "0") if range.to < accepted.from || range.from > accepted.to => {}
            (Some(range), "0") if range.from == range.to => {
                convert::status(http, rules::NumberComparator::Neq, range.from);
            }
            _ => entry.lose(format!("the status code `{pair}`"), "add an assertion for it"),
        }
    }
    convert::statuses(http, "custom_http_statuses", &ranges, entry);
}

fn port(record: &mut Record, host: &str) -> String {
    let sub_type = record.integer("sub_type").unwrap_or(0);
    let named = usize::try_from(sub_type - 1).ok().and_then(|at| PORTS.get(at));
    let port = named.map_or_else(|| record.integer("port").unwrap_or(0), |port| i64::from(*port));
    convert::host_port(host, port)
}

/// Notes the contacts of a monitor.
fn alerts(record: &mut Record, id: &str, links: &mut Links, entry: &mut Entry) {
    for mut link in record.records("alert_contacts") {
        let contact = link.id("id").unwrap_or_default();
        let delays = [link.integer("threshold"), link.integer("recurrence")];
        if delays.iter().flatten().any(|delay| *delay > 0) {
            let remedy = "set `remindEvery` in the preferences of its channels";
            entry.lose("delayed and repeated alerts", remedy);
        }
        links.notified.push((contact, id.to_owned()));
        link.ignore(&["type", "value"]);
        entry.close(link);
    }
}
