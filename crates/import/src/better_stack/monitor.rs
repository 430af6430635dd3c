//! Monitors of Better Stack, and their groups as tags.

use std::collections::HashMap;

use rules::monitor::{CheckDraft, HttpDraft, MonitorDraft, TcpDraft};
use rules::{IpVersion, Region, TextComparator};

use super::Object;
use crate::assembly::Assembly;
use crate::convert::{self, StatusRange};
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Interval and timeout if an answer lacks them, in seconds.
const INTERVAL_DEFAULT: f64 = 180.0;
/// Timeout if an answer lacks it, in seconds.
const TIMEOUT_DEFAULT: f64 = 30.0;
/// A region of ours for each of theirs.
const REGIONS: [(&str, Region); 4] = [
    ("us", Region::FlyIad),
    ("eu", Region::FlyFra),
    ("as", Region::FlySin),
    ("au", Region::FlySyd),
];

/// Returns the names of groups by their identifiers.
pub(super) fn groups(objects: Vec<Object>, assembly: &mut Assembly) -> HashMap<String, String> {
    let mut groups = HashMap::new();
    for mut object in objects {
        let name = object.attributes.text("name").unwrap_or_default();
        let mut entry = Entry::new(ObjectKind::Group, &name);
        let after = format_args!("the tag `{name}`");
        entry.change("monitor_group", &name, after, "monitors are grouped by tags");
        assembly.note(entry);
        groups.insert(object.id, name);
    }
    groups
}

/// Imports a monitor, or notes why it is impossible.
pub(super) fn import(object: Object, groups: &HashMap<String, String>, assembly: &mut Assembly) {
    let Object { id, attributes: mut record } = object;
    let url = record.text("url").unwrap_or_default();
    let name = record.text("pronounceable_name").unwrap_or_else(|| url.clone());
    let mut entry = Entry::new(ObjectKind::Monitor, &name);
    let kind = record.text("monitor_type").unwrap_or_default();
    let check = match kind.as_str() {
        "status" | "expected_status_code" | "keyword" | "keyword_absence" => {
            CheckDraft::Http(http(&mut record, &kind, url, &mut entry))
        }
        "tcp" => {
            let port = record.text("port").unwrap_or_default();
            CheckDraft::Tcp(TcpDraft {
                uri: Some(convert::host_port(&url, port)),
                ..TcpDraft::default()
            })
        }
        other => {
            let remedy = match other {
                "ping" => "check a port of the host with a TCP monitor",
                // It checks the name server in `url`, and not the records of a name.
                "dns" => "check port 53 of the name server with a TCP monitor",
                "playwright" => "check the page with an HTTP monitor and body assertions",
                _ => "check its port with a TCP monitor",
            };
            entry.lose(format!("the kind `{other}`"), remedy);
            return assembly.note(entry);
        }
    };
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name);
    schedule(&mut record, &mut draft, &mut entry);
    if let Some(group) = record.id("monitor_group_id").and_then(|group| groups.get(&group)) {
        draft.tags.push(group.clone());
    }
    if let Some(days) = record.number("ssl_expiration")
        && let CheckDraft::Http(http) = &mut draft.check
    {
        convert::certificate_warning(http, "ssl_expiration", days, &mut entry);
    }
    match record.text("ip_version").as_deref() {
        Some("ipv4") => convert::ip_version(&mut draft.check, IpVersion::V4),
        Some("ipv6") => convert::ip_version(&mut draft.check, IpVersion::V6),
        None => {}
        Some(other) => entry.lose(format!("only {other}"), "set `ip_version` of the monitor"),
    }
    losses(&mut record, &mut entry);
    record.ignore(&[
        "status",
        "paused_at",
        "last_checked_at",
        "created_at",
        "updated_at",
        "team_name",
        "port",
        "request_headers",
        "request_body",
        "expected_status_codes",
        "required_keyword",
        "http_method",
        "auth_username",
        "auth_password",
        "follow_redirects",
        "environment_variables",
        "scenario_name",
        "playwright_script",
        "checks_version",
        "sort_index",
    ]);
    entry.close(record);
    assembly.monitor(&id, draft, entry);
}

fn http(record: &mut Record, kind: &str, url: String, entry: &mut Entry) -> HttpDraft {
    let mut http = HttpDraft { url: Some(url), ..HttpDraft::default() };
    let method = record.text("http_method").unwrap_or_else(|| "get".to_owned());
    convert::method(&mut http, "http_method", &method, entry);
    for mut header in record.records("request_headers") {
        let (key, value) = (header.text("name"), header.text("value"));
        convert::header(&mut http, key.unwrap_or_default(), value.unwrap_or_default());
        header.ignore(&["id"]);
        entry.close(header);
    }
    http.body = record.text("request_body");
    http.follow_redirects = record.flag("follow_redirects").filter(|follows| !follows);
    let password = record.text("auth_password").unwrap_or_default();
    if let Some(user) = record.text("auth_username") {
        convert::basic_authentication(&mut http, &user, &password);
    }
    let codes = record.list("expected_status_codes");
    if kind == "expected_status_code" {
        let mut ranges: Vec<StatusRange> = Vec::new();
        for code in &codes {
            let written = code.as_str().map_or_else(|| code.to_string(), str::to_owned);
            match convert::status_range(&written) {
                Some(range) => ranges.push(range),
                None => entry.lose(format!("the status code `{written}`"), "add an assertion"),
            }
        }
        convert::statuses(&mut http, "expected_status_codes", &ranges, entry);
    }
    if let Some(keyword) = record.text("required_keyword") {
        match kind {
            "keyword" => convert::body(&mut http, TextComparator::Contains, keyword),
            "keyword_absence" => convert::body(&mut http, TextComparator::NotContains, keyword),
            _ => {}
        }
    }
    http
}

/// Reads period, timeout, regions and whether the monitor is paused.
fn schedule(record: &mut Record, draft: &mut MonitorDraft, entry: &mut Entry) {
    let interval = record.number("check_frequency").unwrap_or(INTERVAL_DEFAULT);
    convert::period(draft, "check_frequency", interval, entry);
    let timeout = record.number("request_timeout");
    let millis = match &draft.check {
        CheckDraft::Http(_) => timeout.unwrap_or(TIMEOUT_DEFAULT) * 1000.0,
        // Servers and ports have timeouts in milliseconds.
        CheckDraft::Tcp(_) | CheckDraft::Dns(_) | CheckDraft::Heartbeat(_) => {
            timeout.unwrap_or(TIMEOUT_DEFAULT * 1000.0)
        }
    };
    convert::timeout(draft, "request_timeout", millis, entry);
    draft.degraded_at = Some(0);
    let is_paused = record.flag("paused") == Some(true)
        || record.has("paused_at")
        || record.peek("status").and_then(serde_json::Value::as_str) == Some("paused");
    draft.active = Some(!is_paused);
    let given = record.texts("regions");
    for (theirs, ours) in REGIONS {
        if given.iter().any(|region| region == theirs) {
            entry.change("regions", theirs, ours, "regions are places of providers");
            draft.regions.push(ours.to_string());
        }
    }
    for region in given {
        if REGIONS.iter().all(|(theirs, _)| *theirs != region) {
            entry.lose(
                format!("the region `{region}`"),
                "docs/reference/regions.md lists all regions",
            );
        }
    }
}

fn losses(record: &mut Record, entry: &mut Entry) {
    let ways = ["call", "sms", "email", "push", "critical_alert"];
    let ways: Vec<&str> = ways.into_iter().filter(|way| record.flag(way) == Some(true)).collect();
    record.ignore(&["team_wait", "expiration_policy_id"]);
    let policy = record.take("policy_id").is_some();
    if !ways.is_empty() || policy {
        let ways = if ways.is_empty() { "a policy".to_owned() } else { ways.join(", ") };
        entry.lose(format!("alerts by {ways}"), "create channels, and name the monitor in them");
    }
    if record.flag("verify_ssl") == Some(false) {
        let remedy = "trust the certificate with the setting `extra_ca_file` of server and probes";
        entry.lose("ignored TLS errors", remedy);
    }
    for (field, what, remedy) in [
        ("domain_expiration", "warnings before the domain expires", "let the registrar renew it"),
        (
            "confirmation_period",
            "the confirmation period",
            "set `retry`; regions vote on each check",
        ),
        ("recovery_period", "the recovery period", "a monitor recovers once most regions succeed"),
    ] {
        if let Some(amount) = record.number(field).filter(|amount| *amount > 0.0) {
            entry.lose(format!("{what} ({amount})"), remedy);
        }
    }
    if record.flag("remember_cookies") == Some(true) {
        entry.lose("cookies across redirects", "each request is sent without cookies");
    }
    let windows =
        ["maintenance_from", "maintenance_to", "maintenance_days", "maintenance_timezone"];
    if record.has("maintenance_from") {
        entry.lose("its maintenance window", "plan it with `aloft maintenance plan`");
    }
    record.ignore(&windows);
    if record.take("proxy_host").is_some() {
        entry.lose("the proxy", "run a probe in the network that the proxy reaches");
    }
    record.ignore(&["proxy_port"]);
}
