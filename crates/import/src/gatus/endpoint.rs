//! Endpoints of Gatus as monitors (`config/endpoint/endpoint.go`, `client/config.go`).

use std::path::Path;

use rules::monitor::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, TcpDraft};
use rules::{IpVersion, RecordKind};
use serde_json::json;

use super::alerting::Alerting;
use super::{condition, duration};
use crate::assembly::Assembly;
use crate::convert;
use crate::json::read_text;
use crate::preview::{Entry, ObjectKind};
use crate::record::Record;

/// Interval of an endpoint without one, in seconds.
const INTERVAL_DEFAULT: f64 = 60.0;
/// Timeout of a client without one, in seconds.
const TIMEOUT_DEFAULT: f64 = 10.0;

/// An imported endpoint, for the status page.
pub(super) struct Member {
    /// Identifier of the monitor.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) group: Option<String>,
}

/// Imports an endpoint, or notes why it is impossible.
pub(super) fn import(
    mut record: Record,
    folder: &Path,
    alerting: &mut Alerting,
    assembly: &mut Assembly,
) -> Option<Member> {
    let name = record.text("name").unwrap_or_default();
    let group = record.text("group");
    let id = format!("{}/{name}", group.as_deref().unwrap_or_default());
    let mut entry = Entry::new(ObjectKind::Monitor, &name);
    let mut record_type = String::new();
    let Some(check) = check(&mut record, &mut record_type, &mut entry) else {
        assembly.note(entry);
        return None;
    };
    let mut draft = MonitorDraft::new(check);
    draft.name = Some(name.clone());
    draft.active = Some(record.flag("enabled").unwrap_or(true));
    draft.tags.extend(group.clone());
    draft.tags.extend(
        record.pairs("extra-labels").into_iter().map(|(key, value)| format!("{key}: {value}")),
    );
    let interval = duration::take(&mut record, "interval", &mut entry).unwrap_or(INTERVAL_DEFAULT);
    convert::period(&mut draft, "interval", interval, &mut entry);
    client(&mut record, folder, &mut draft, &mut entry);
    if let CheckDraft::Http(http) = &mut draft.check {
        request(&mut record, http, &mut entry);
    }
    let conditions = record.texts("conditions");
    condition::import(&conditions, &record_type, &assembly.secrets, &mut draft, &mut entry);
    let failures = alerting.of_endpoint(&mut record, &id, group.as_deref(), &name, &mut entry);
    draft.retry = Some(0);
    if let Some(failures) = failures {
        let retries = failures - 1;
        let why = "retries are part of one check, and all regions vote";
        entry.change("failure-threshold", failures, format_args!("retry {retries}"), why);
        convert::retry(&mut draft, "failure-threshold", retries, &mut entry);
    }
    for window in record.list("maintenance-windows") {
        let remedy = "plan it with `aloft maintenance plan`; it takes an RRULE";
        entry.lose(format!("the maintenance window {window}"), remedy);
    }
    for (field, remedy) in [
        ("ui", "pages hide addresses and errors, and have their own design"),
        ("ssh", "check the port with a TCP monitor"),
    ] {
        if record.take(field).is_some() {
            entry.lose(format!("the setting `{field}`"), remedy);
        }
    }
    entry.close(record);
    assembly.monitor(&id, draft, entry);
    Some(Member { id, name, group })
}

/// Returns the check by the scheme of the URL, or `None` if there is no such check.
fn check(record: &mut Record, record_type: &mut String, entry: &mut Entry) -> Option<CheckDraft> {
    let url = record.text("url").unwrap_or_default();
    if let Some(mut dns) = record.record("dns") {
        let kind = dns.text("query-type").unwrap_or_default();
        let uri = dns.text("query-name");
        if !RecordKind::WORDS.contains(&kind.as_str()) {
            let remedy = format!("the types are {}", RecordKind::WORDS.join(", "));
            entry.lose(format!("records of the type `{kind}`"), remedy);
            return None;
        }
        *record_type = kind;
        entry.change("url", &url, "the name server of the probe", "probes have name servers");
        entry.close(dns);
        return Some(CheckDraft::Dns(DnsDraft { uri, ..DnsDraft::default() }));
    }
    let scheme = url.split("://").next().unwrap_or_default().to_owned();
    match scheme.as_str() {
        "http" | "https" => {
            Some(CheckDraft::Http(HttpDraft { url: Some(url), ..HttpDraft::default() }))
        }
        "tcp" => {
            let uri = url.strip_prefix("tcp://").map(|rest| rest.trim_end_matches('/').to_owned());
            Some(CheckDraft::Tcp(TcpDraft { uri, ..TcpDraft::default() }))
        }
        _ => {
            let remedy = match scheme.as_str() {
                "icmp" => "check a port of the host with a TCP monitor",
                "tls" | "starttls" | "ssh" | "ws" | "wss" | "grpc" | "grpcs" => {
                    "check its port with a TCP monitor"
                }
                _ => "check another port or page of the host",
            };
            // Without user, password and parameters.
            let address = url.split('?').next().unwrap_or_default();
            let host = address.rsplit(['@', '/']).next().unwrap_or_default();
            entry.lose(format!("the address `{scheme}://{host}`"), remedy);
            None
        }
    }
}

fn request(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let method = record.text("method").unwrap_or_else(|| "GET".to_owned());
    convert::method(http, "method", &method, entry);
    for (key, value) in record.pairs("headers") {
        convert::header(http, key, value);
    }
    let body = record.text("body");
    let is_graphql = record.flag("graphql") == Some(true);
    if is_graphql && !convert::has_header(http, "Content-Type") {
        convert::header(http, "Content-Type", "application/json");
    }
    http.body = match body {
        Some(body) if is_graphql => Some(json!({ "query": body }).to_string()),
        other => other,
    };
}

/// Reads the settings of the client.
fn client(record: &mut Record, folder: &Path, draft: &mut MonitorDraft, entry: &mut Entry) {
    let mut client = record.record("client").unwrap_or_default();
    let timeout = duration::take(&mut client, "timeout", entry).unwrap_or(TIMEOUT_DEFAULT);
    convert::timeout(draft, "client.timeout", timeout * 1000.0, entry);
    let is_direct = client.flag("ignore-redirect") == Some(true);
    if let CheckDraft::Http(http) = &mut draft.check {
        http.follow_redirects = is_direct.then_some(false);
        client_certificate(&mut client, folder, http, entry);
    }
    if client.flag("insecure") == Some(true) {
        let remedy = "trust the certificate with the setting `extra_ca_file` of server and probes";
        entry.lose("insecure TLS", remedy);
    }
    if client.flag("store-cookies") == Some(true) {
        entry.lose("cookies across requests", "each check starts without cookies");
    }
    match client.text("network").as_deref() {
        Some("ip4") => convert::ip_version(&mut draft.check, IpVersion::V4),
        Some("ip6") => convert::ip_version(&mut draft.check, IpVersion::V6),
        Some("ip") | None => {}
        Some(other) => {
            entry.lose(format!("the network `{other}`"), "set `ip_version` of the monitor");
        }
    }
    for (field, what, remedy) in [
        ("proxy-url", "the proxy", "run a probe in the network that the proxy reaches"),
        ("dns-resolver", "the DNS resolver", "set `nameservers` of server and probes"),
        ("oauth2", "OAuth 2", "give a long-lived token in the header `Authorization`"),
        ("identity-aware-proxy", "the identity-aware proxy", "check a page without it"),
        ("tunnel", "the SSH tunnel", "run a probe in that network"),
    ] {
        if client.take(field).is_some() {
            entry.lose(what, remedy);
        }
    }
    entry.close(client);
}

/// Reads the files of the client certificate and its key. Relative ones are in the configuration's folder.
fn client_certificate(client: &mut Record, folder: &Path, http: &mut HttpDraft, entry: &mut Entry) {
    let Some(mut tls) = client.record("tls") else { return };
    // Checks begin each connection anew.
    tls.ignore(&["renegotiation"]);
    let files = ["certificate-file", "private-key-file"].map(|name| tls.text(name));
    entry.close(tls);
    let [Some(certificate), Some(key)] = files else {
        let remedy = "set `client_certificate` and `client_key` of the monitor";
        return entry.lose("the client certificate without its two files", remedy);
    };
    let read = |file: &str| read_text(&folder.join(file)).map_err(|_| file.to_owned());
    match read(&certificate).and_then(|certificate| Ok((certificate, read(&key)?))) {
        Ok(pair) => convert::client_certificate(http, pair, entry),
        Err(file) => {
            let remedy = "make the file readable at this path beside the configuration, or set \
                          `client_certificate` and `client_key` of the monitor";
            entry.lose(format!("the client certificate in the unreadable file `{file}`"), remedy);
        }
    }
}
