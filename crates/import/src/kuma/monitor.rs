//! Monitors of Uptime Kuma: kinds, what all kinds share, ports and DNS lookups. `http` has the rest.

use std::collections::HashMap;

use rules::monitor::{
    CheckDraft, DnsDraft, HttpDraft, MonitorDraft, RecordAssertionDraft, TcpDraft,
};
use rules::{RecordComparator, RecordKind};
use serde_json::{Value, json};

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
/// Interval if none is set, in seconds.
const INTERVAL_DEFAULT: f64 = 60.0;

/// Returns the names of the groups of monitors by their identifiers.
pub(super) fn groups(monitors: &[Record]) -> HashMap<String, String> {
    let is_group = |record: &&Record| record.peek("type") == Some(&json!("group"));
    monitors.iter().filter(is_group).filter_map(named).collect()
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
pub(super) fn import(
    mut record: Record,
    rows: &Rows,
    groups: &HashMap<String, String>,
    assembly: &mut Assembly,
) {
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
        if record.has("parent") {
            entry.lose("its place in another group", "monitors get the tag of their own group");
        }
        return assembly.note(entry);
    }
    let check = match kind.as_str() {
        "http" | "keyword" | "json-query" => CheckDraft::Http(HttpDraft::default()),
        "port" => CheckDraft::Tcp(TcpDraft::default()),
        "dns" => CheckDraft::Dns(DnsDraft::default()),
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
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name);
    draft.tags = rows.tags.get(&id).cloned().unwrap_or_default();
    shared(&mut record, &mut draft, groups, &mut entry);
    match &mut draft.check {
        CheckDraft::Http(http) => http::settings(&mut record, &kind, http, &mut entry),
        CheckDraft::Tcp(tcp) => {
            record.ignore(&HTTP_ONLY);
            tcp.uri = Some(target(&mut record));
        }
        CheckDraft::Dns(dns) => {
            record.ignore(&HTTP_ONLY);
            lookup(&mut record, dns, &mut entry);
        }
    }
    record.ignore(&WITHOUT_MEANING);
    record.ignore(&http::DEFAULTS_OF_OTHERS);
    record.ignore_default("conditions", &json!("[]"));
    entry.close(record);
    assembly.monitor(&id, draft, entry);
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
fn shared(
    record: &mut Record,
    draft: &mut MonitorDraft,
    groups: &HashMap<String, String>,
    entry: &mut Entry,
) {
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
    // Uptime Kuma knows no slow monitors.
    draft.degraded_at = Some(0);
    draft.active = Some(record.flag("active").unwrap_or(true));
    draft.description = record.text("description");
    if let Some(group) = record.id("parent").and_then(|parent| groups.get(&parent)) {
        draft.tags.push(group.clone());
    }
    if let Some(times) = record.integer("resend_interval").filter(|times| *times > 0) {
        let remedy = "set `remindEvery` in the preferences of its channels";
        entry.lose(format!("reminders after {times} failed checks"), remedy);
    }
    if let Some(family) = record.text("ip_family") {
        let remedy = "give the address itself in place of the name";
        entry.lose(format!("only {family}"), remedy);
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
    let conditions = record.text("conditions").unwrap_or_default();
    let conditions: Vec<Value> = serde_json::from_str(&conditions).unwrap_or_default();
    if !RecordKind::WORDS.contains(&kind.as_str()) {
        let known = RecordKind::WORDS.join(", ");
        entry.lose(format!("records of the type {kind}"), format!("the types are {known}"));
        return;
    }
    let exists = (RecordComparator::Contains, String::new());
    let wanted = if conditions.is_empty() {
        vec![exists]
    } else {
        let read: Vec<_> =
            conditions.into_iter().filter_map(|item| condition(item, &kind, entry)).collect();
        if read.is_empty() { vec![exists] } else { read }
    };
    dns.record_assertions = wanted
        .into_iter()
        .map(|(comparator, target)| RecordAssertionDraft {
            record: Some(kind.clone()),
            target: Some(target),
            comparator: Some(comparator.to_string()),
        })
        .collect();
}

/// Reads a condition on a record. All conditions must hold.
fn condition(item: Value, kind: &str, entry: &mut Entry) -> Option<(RecordComparator, String)> {
    let shown = item.to_string();
    let mut record = Record::of(item).unwrap_or_default();
    let operator = record.text("operator").unwrap_or_default();
    let is_simple = record.text("type").as_deref() == Some("expression")
        && record.text("andOr").is_none_or(|word| word == "and");
    let comparator = match operator.as_str() {
        "equals" => Some(RecordComparator::Eq),
        "not_equals" => Some(RecordComparator::Neq),
        "contains" => Some(RecordComparator::Contains),
        "not_contains" => Some(RecordComparator::NotContains),
        _ => None,
    };
    let (Some(comparator), Some(target), true) = (comparator, record.text("value"), is_simple)
    else {
        entry.lose(
            format!("the condition {shown}"),
            "assertions are eq, neq, contains, not_contains, all of which must hold",
        );
        return None;
    };
    if kind == RecordKind::Mx.as_str() && comparator == RecordComparator::Eq {
        let why = "MX records have their priority before the name";
        entry.change("conditions", "equals", RecordComparator::Contains, why);
        return Some((RecordComparator::Contains, target));
    }
    Some((comparator, target))
}

/// Returns what people can do about a kind of monitors without a counterpart.
fn remedy_of(kind: &str) -> String {
    match kind {
        "push" => {
            "check the result of the job with an HTTP monitor, such as the time of its last run"
        }
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
