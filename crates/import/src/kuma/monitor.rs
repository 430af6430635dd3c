//! Monitors of Uptime Kuma: kinds, what all kinds share, ports and DNS lookups. `http` and `push` have the
//! rest.

use std::collections::HashMap;

use rules::monitor::{
    CheckDraft, DnsDraft, HeartbeatDraft, HttpDraft, MonitorDraft, RecordAssertionDraft, TcpDraft,
};
use rules::{IpVersion, RecordComparator, RecordKind};
use serde_json::{Value, json};

use super::push::{self, Calls, INTERVAL_DEFAULT};
use super::{Rows, http};
use crate::assembly::Assembly;
use crate::convert;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Columns that only other kinds of monitors use, or that only concern the program itself.
const WITHOUT_MEANING: [&str; 63] = [
    "id",
    "user_id",
    "weight",
    "created_date",
    "path",
    "dns_last_result",
    "push_token",
    "docker_container",
    "docker_host",
    "mqtt_topic",
    "mqtt_success_message",
    "mqtt_username",
    "mqtt_password",
    "mqtt_check_type",
    "mqtt_websocket_path",
    "database_connection_string",
    "database_query",
    "grpc_url",
    "grpc_protobuf",
    "grpc_body",
    "grpc_metadata",
    "grpc_method",
    "grpc_service_name",
    "grpc_enable_tls",
    "radius_username",
    "radius_password",
    "radius_calling_station_id",
    "radius_called_station_id",
    "radius_secret",
    "packet_size",
    "game",
    "gamedig_given_port_only",
    "gamedig_token",
    "kafka_producer_topic",
    "kafka_producer_brokers",
    "kafka_producer_sasl_options",
    "kafka_producer_message",
    "kafka_producer_ssl",
    "kafka_producer_allow_auto_topic_creation",
    "remote_browser",
    "screenshot_delay",
    "snmp_oid",
    "snmp_version",
    "snmp_v3_username",
    "rabbitmq_nodes",
    "rabbitmq_username",
    "rabbitmq_password",
    "smtp_security",
    "ws_ignore_sec_websocket_accept_header",
    "ws_subprotocol",
    "ping_count",
    "ping_numeric",
    "ping_per_request_timeout",
    "manual_status",
    "save_response",
    "save_error_response",
    "response_max_length",
    "system_service_name",
    "subtype",
    "location",
    "ntp_stratum_threshold",
    "ntp_time_offset_threshold",
    "ntp_root_dispersion_threshold",
];
/// Share of the interval that is the timeout if none is set (`server/model/monitor.js`).
const TIMEOUT_OF_INTERVAL: f64 = 0.8;

/// A group, as its monitors see it.
pub(super) struct Group {
    name: String,
    parent: Option<String>,
    is_active: bool,
}

/// Groups by their identifiers.
pub(super) type Groups = HashMap<String, Group>;

/// Returns the groups of monitors by their identifiers.
pub(super) fn groups(monitors: &[Record]) -> Groups {
    let is_group = |record: &&Record| record.peek("type") == Some(&json!("group"));
    let group_of = |record: &Record| {
        let (id, name) = named(record)?;
        let mut record = record.clone();
        let is_active = record.flag("active").unwrap_or(true);
        Some((id, Group { name, parent: record.id("parent"), is_active }))
    };
    monitors.iter().filter(is_group).filter_map(group_of).collect()
}

/// Returns the name of the paused group that contains a monitor, at any depth.
fn paused_group<'g>(parent: Option<&str>, groups: &'g Groups) -> Option<&'g str> {
    let mut next = parent;
    // A damaged source may have groups in a circle.
    for _ in 0..=groups.len() {
        let group = groups.get(next?)?;
        if !group.is_active {
            return Some(&group.name);
        }
        next = group.parent.as_deref();
    }
    None
}

/// Returns the names of all monitors by their identifiers.
pub(super) fn names(monitors: &[Record]) -> HashMap<String, String> {
    monitors.iter().filter_map(named).collect()
}

fn named(record: &Record) -> Option<(String, String)> {
    let mut record = record.clone();
    Some((record.id("id")?, record.text("name").unwrap_or_default()))
}

/// Imports a monitor, or notes why it is impossible.
pub(super) fn import(mut record: Record, rows: &Rows, groups: &Groups, assembly: &mut Assembly) {
    let id = record.id("id").unwrap_or_default();
    let name = record.text("name").unwrap_or_default();
    let kind = record.text("type").unwrap_or_default();
    let mut entry = Entry::new(ObjectKind::Monitor, &name);
    if kind == "group" {
        entry.kind = ObjectKind::Group;
        entry.change(
            "group",
            &name,
            format_args!("the tag `{name}`"),
            "monitors are grouped by tags",
        );
        group(&mut record, &id, rows, &mut entry);
        return assembly.note(entry);
    }
    let check = match kind.as_str() {
        "http" | "keyword" | "json-query" => CheckDraft::Http(HttpDraft::default()),
        "port" => CheckDraft::Tcp(TcpDraft::default()),
        "dns" => CheckDraft::Dns(DnsDraft::default()),
        "push" => CheckDraft::Heartbeat(HeartbeatDraft::default()),
        other => {
            entry.lose(format!("the kind `{other}`"), remedy_of(other));
            return assembly.note(entry);
        }
    };
    if record.flag("upside_down") == Some(true) {
        let remedy = "invert the check: assert the status code or the text of the failure";
        entry.lose("upside down mode", remedy);
        return assembly.note(entry);
    }
    let calls = Calls::peek(&record);
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name);
    draft.tags = rows.tags.get(&id).cloned().unwrap_or_default();
    shared(&mut record, &mut draft, groups, &mut entry);
    match &mut draft.check {
        CheckDraft::Http(http) => {
            http::settings(&mut record, &kind, rows.warn_days, http, &mut entry);
        }
        CheckDraft::Tcp(tcp) => {
            port_settings(&mut record, &mut entry);
            record.ignore(&HTTP_ONLY);
            tcp.uri = Some(target(&mut record));
        }
        CheckDraft::Dns(dns) => {
            record.ignore(&HTTP_ONLY);
            lookup(&mut record, dns, &mut entry);
        }
        CheckDraft::Heartbeat(heartbeat) => {
            record.ignore(&HTTP_ONLY);
            push::settings(&calls, heartbeat, &mut entry);
        }
    }
    record.ignore(&WITHOUT_MEANING);
    record.ignore(&http::DEFAULTS_OF_OTHERS);
    record.ignore_default("conditions", &json!("[]"));
    entry.close(record);
    assembly.monitor(&id, draft, entry);
}

/// Notes what a group has of its own. Its check is that of its monitors.
fn group(record: &mut Record, id: &str, rows: &Rows, entry: &mut Entry) {
    if record.take("parent").is_some() {
        entry.lose("its place in another group", "monitors get the tag of their own group");
    }
    if record.flag("active") == Some(false) {
        entry.change("active", "a paused group", "paused monitors", "tags have no state");
    }
    if record.take("description").is_some() {
        entry.lose("its description", "write it into the descriptions of its monitors");
    }
    if rows.tags.get(id).is_some_and(|tags| !tags.is_empty()) {
        entry.lose("its tags", "add them to its monitors");
    }
    if rows.notified.values().any(|monitors| monitors.iter().any(|monitor| monitor == id)) {
        entry.lose("alerts of the group", "its monitors alert one by one");
    }
    if record.flag("upside_down") == Some(true) {
        entry.lose("upside down mode", "a tag has no state");
    }
}

/// Columns of HTTP monitors, which have defaults for all kinds.
const HTTP_ONLY: [&str; 26] = [
    "url",
    "method",
    "body",
    "headers",
    "keyword",
    "invert_keyword",
    "ignore_tls",
    "maxredirects",
    "accepted_statuscodes_json",
    "auth_method",
    "basic_auth_user",
    "basic_auth_pass",
    "auth_domain",
    "auth_workstation",
    "http_body_encoding",
    "expiry_notification",
    "domain_expiry_notification",
    "json_path",
    "json_path_operator",
    "expected_value",
    "cache_bust",
    "proxy_id",
    "oauth_auth_method",
    "bearer_token",
    "retry_only_on_status_code_failure",
    "expected_tls_alert",
];

/// Reads what all kinds share.
fn shared(record: &mut Record, draft: &mut MonitorDraft, groups: &Groups, entry: &mut Entry) {
    if matches!(draft.check, CheckDraft::Heartbeat(_)) {
        record.ignore(&["interval", "timeout", "maxretries", "retry_interval"]);
    } else {
        attempts(record, draft, entry);
    }
    // Uptime Kuma knows no slow monitors.
    draft.degraded_at = Some(0);
    let is_active = record.flag("active").unwrap_or(true);
    let is_forced = record.flag("force_inactive") == Some(true);
    let parent = record.id("parent");
    let paused = paused_group(parent.as_deref(), groups);
    draft.active = Some(is_active && !is_forced && paused.is_none());
    if let Some(paused) = paused.or(is_forced.then_some("of another source")).filter(|_| is_active)
    {
        let why = format!("the group `{paused}` is paused");
        entry.change("active", true, false, why);
    }
    draft.description = record.text("description");
    if let Some(group) = parent.and_then(|parent| groups.get(&parent)) {
        draft.tags.push(group.name.clone());
    }
    if let Some(times) = record.integer("resend_interval").filter(|times| *times > 0) {
        let remedy = "set `remindEvery` in the preferences of its channels";
        entry.lose(format!("reminders after {times} failed checks"), remedy);
    }
    match record.text("ip_family").as_deref() {
        Some("ipv4") => convert::ip_version(&mut draft.check, IpVersion::V4),
        Some("ipv6") => convert::ip_version(&mut draft.check, IpVersion::V6),
        None => {}
        Some(other) => entry.lose(format!("only {other}"), "set `ip_version` of the monitor"),
    }
}

/// Reads when a check runs, and how often it is retried.
fn attempts(record: &mut Record, draft: &mut MonitorDraft, entry: &mut Entry) {
    let interval = record.number("interval").unwrap_or(INTERVAL_DEFAULT);
    convert::period(draft, "interval", interval, entry);
    let timeout = record.number("timeout").filter(|seconds| *seconds > 0.0);
    let timeout = timeout.unwrap_or(interval * TIMEOUT_OF_INTERVAL);
    convert::timeout(draft, "timeout", timeout * 1000.0, entry);
    let retries = record.integer("maxretries").unwrap_or(0);
    convert::retry(draft, "maxretries", retries, entry);
    let pause = record.number("retry_interval").filter(|_| retries > 0);
    if let Some(pause) = pause {
        let why = "retries are part of one check";
        entry.change("retry_interval", format_args!("{pause} s"), "0.5 s, then doubled", why);
    }
}

/// Notes the TLS of a port.
fn port_settings(record: &mut Record, entry: &mut Entry) {
    if let Some(alert) = record.text("expected_tls_alert").filter(|alert| alert != "none") {
        let what = format!("the expected TLS alert `{alert}`");
        entry.refuse(what, "check the port without TLS with a TCP monitor of your own");
    }
    let security =
        record.text("smtp_security").filter(|word| word != "none" && word != "nostarttls");
    if let Some(security) = &security {
        let remedy = "a TCP monitor only connects; check the certificate in another way";
        entry.lose(format!("the TLS of the port ({security})"), remedy);
    }
    if record.flag("expiry_notification") == Some(true) && security.is_some() {
        let remedy = "renew certificates automatically";
        entry.lose("warnings before the certificate expires", remedy);
    }
}

fn target(record: &mut Record) -> String {
    let host = record.text("hostname").unwrap_or_default();
    convert::host_port(&host, record.integer("port").unwrap_or_default())
}

/// Reads a DNS lookup. Uptime Kuma requires that a record of the type exists.
fn lookup(record: &mut Record, dns: &mut DnsDraft, entry: &mut Entry) {
    dns.uri = record.text("hostname");
    let kind = record.text("dns_resolve_type").unwrap_or_else(|| "A".to_owned());
    if let Some(server) = record.text("dns_resolve_server") {
        let port = record.integer("port").unwrap_or(53);
        let before = convert::host_port(&server, port);
        entry.change("dns_resolve_server", before, "that of the probe", "probes have name servers");
    }
    if !RecordKind::WORDS.contains(&kind.as_str()) {
        let known = RecordKind::WORDS.join(", ");
        entry.refuse(format!("records of the type {kind}"), format!("the types are {known}"));
        return;
    }
    let conditions = record.text("conditions").unwrap_or_else(|| "[]".to_owned());
    let Ok(Value::Array(conditions)) = serde_json::from_str(&conditions) else {
        return entry.refuse("conditions that are not a list", "save the monitor again");
    };
    let assertion = |comparator: RecordComparator, target: String| RecordAssertionDraft {
        record: Some(kind.clone()),
        target: Some(target),
        comparator: Some(comparator.to_string()),
    };
    if conditions.is_empty() {
        dns.record_assertions.push(assertion(RecordComparator::Contains, String::new()));
    }
    for item in conditions {
        match condition(&item) {
            Some((comparator, target)) if kind == RecordKind::Mx.as_str() => {
                dns.record_assertions.push(convert::mx_assertion(comparator, &target, entry));
            }
            Some((comparator, target)) => {
                dns.record_assertions.push(assertion(comparator, target));
            }
            None => entry.refuse(
                format!("the condition {item}"),
                "assertions are eq, neq, contains, not_contains, all of which must hold",
            ),
        }
    }
}

/// Reads a condition on a record. All conditions must hold.
fn condition(item: &Value) -> Option<(RecordComparator, String)> {
    let mut record = Record::of(item.clone())?;
    let is_simple = record.text("type").as_deref() == Some("expression")
        && record.text("andOr").is_none_or(|word| word == "and")
        && record.text("variable").is_none_or(|variable| variable == "record");
    let comparator = match record.text("operator")?.as_str() {
        "equals" => RecordComparator::Eq,
        "not_equals" => RecordComparator::Neq,
        "contains" => RecordComparator::Contains,
        "not_contains" => RecordComparator::NotContains,
        _ => return None,
    };
    let target = record.text("value")?;
    is_simple.then_some((comparator, target))
}

/// Returns what people can do about a kind of monitors without a counterpart.
fn remedy_of(kind: &str) -> String {
    match kind {
        "ping" | "tailscale-ping" | "globalping" => "check a port of the host with a TCP monitor",
        "docker" | "pm2" | "system-service" => "check a port or a page of the service itself",
        "real-browser" => "check the page with an HTTP monitor and body assertions",
        "manual" => "add a static component to a status page",
        "tls" | "websocket-upgrade" | "smtp" | "mqtt" | "grpc-keyword" | "sip-options" => {
            "check its port with a TCP monitor"
        }
        _ => "check its port with a TCP monitor, or a page that reports its health",
    }
    .to_owned()
}
