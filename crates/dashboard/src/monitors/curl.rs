//! Commands for a shell: the check that a monitor makes, and the call that creates the monitor.

use contract::IntoDraft as _;
use contract::monitor::wire::{DnsMonitor, HeartbeatMonitor, HttpMonitor, TcpMonitor};
use domain::check::dns::DnsPlan;
use domain::check::http::{ClientAuth, HttpPlan, Request};
use domain::check::tcp::TcpPlan;
use domain::check::{CheckPlan, PlannedCheck};
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, Method};
use rules::monitor::Monitor;
use rules::{IpVersion, MonitorId, MonitorKind, Timestamp, WorkspaceId, limits, tables};

use super::stored::StoredMonitor;
use super::{fields, kept_key};
use crate::form::resource;

/// Text in the place of a private key.
const KEY_PLACEHOLDER: &str = "(the key in PEM)";

/// Returns a command that checks the same target. `None` if the monitor cannot be checked.
pub(super) fn check_command(monitor: &StoredMonitor) -> Option<String> {
    let plan = plan(monitor)?;
    let seconds = plan.timeout.as_secs_f64();
    Some(match &plan.check {
        PlannedCheck::Http(http) => http_command(http, seconds),
        PlannedCheck::Tcp(tcp) => tcp_command(tcp, seconds),
        PlannedCheck::Dns(dns) => dns_command(dns, seconds),
        PlannedCheck::Heartbeat(_) => return None,
    })
}

/// Returns the call of the API that creates the same monitor, without its private key. `origin` is the URL
/// of this server.
pub(super) fn create_command(monitor: &StoredMonitor, origin: &str) -> String {
    let table = tables::monitor(monitor.kind);
    let mut values = monitor.values();
    kept_key::replace(&mut values, KEY_PLACEHOLDER);
    let request = fields::request(resource(table, &values));
    let json = serde_json::to_string_pretty(&request).unwrap_or_default();
    let url = format!("{origin}/rpc{}", fields::methods(monitor.kind).create);
    lines(&[
        "curl --fail-with-body".to_owned(),
        "--header \"x-service-key: $SERVICE_API_KEY\"".to_owned(),
        "--header 'content-type: application/json'".to_owned(),
        format!("--data {}", quoted(&json)),
        quoted(&url),
    ])
}

fn plan(monitor: &StoredMonitor) -> Option<CheckPlan> {
    let json = monitor.json.clone();
    let draft = match monitor.kind {
        MonitorKind::Http => serde_json::from_value::<HttpMonitor>(json).ok()?.into_draft(),
        MonitorKind::Tcp => serde_json::from_value::<TcpMonitor>(json).ok()?.into_draft(),
        MonitorKind::Dns => serde_json::from_value::<DnsMonitor>(json).ok()?.into_draft(),
        MonitorKind::Heartbeat => {
            serde_json::from_value::<HeartbeatMonitor>(json).ok()?.into_draft()
        }
    };
    let at = Timestamp::from_millis(0);
    let monitor = Monitor {
        id: MonitorId::from_bits(0),
        workspace: WorkspaceId::from_bits(0),
        revision: 0,
        settings: draft.parse().ok()?,
        created_at: at,
        updated_at: at,
    };
    CheckPlan::new(&monitor).ok()
}

fn http_command(http: &HttpPlan, seconds: f64) -> String {
    let request = http.request();
    let mut parts = vec![format!("curl --include --compressed --max-time {seconds}")];
    // Without `--request`, curl sends GET, or POST with a body, and after 301, 302 and 303 GET, like a
    // check. With it, curl repeats the method.
    match request.method {
        Method::GET | Method::POST => {}
        Method::HEAD => parts.push("--head".to_owned()),
        ref method => parts.push(format!("--request {method}")),
    }
    if follows_redirects(http) {
        parts.push(format!("--location --max-redirs {}", limits::REDIRECTS_MAX));
    }
    match http.ip_version {
        IpVersion::Any => {}
        IpVersion::V4 => parts.push("--ipv4".to_owned()),
        IpVersion::V6 => parts.push("--ipv6".to_owned()),
    }
    // The files of a person; the monitor's own key does not leave it.
    if let ClientAuth::Present(_) = http.client_auth(&request.url) {
        parts.push("--cert certificate.pem --key key.pem".to_owned());
    }
    if let Some(host) = &request.authority {
        let host = format!("host: {}", String::from_utf8_lossy(host.as_bytes()));
        parts.push(format!("--header {}", quoted(&host)));
    }
    parts.extend(header_options(&request.headers));
    parts.extend(body_options(&request));
    parts.push(quoted(request.url.as_str()));
    lines(&parts)
}

/// Returns whether curl may follow redirects of this check. It sends configured headers and the client
/// certificate to other hosts too, and repeats methods besides GET, HEAD and POST after 303. Instead, it
/// shows the redirect.
fn follows_redirects(http: &HttpPlan) -> bool {
    http.follow_redirects
        && http.headers.is_empty()
        && !matches!(http.client_auth(&http.url), ClientAuth::Present(_))
        && matches!(http.method, Method::GET | Method::HEAD | Method::POST)
}

fn header_options(headers: &HeaderMap) -> impl Iterator<Item = String> {
    // `--compressed` sends the encodings that curl can decode.
    let sent = headers.iter().filter(|(name, _)| *name != ACCEPT_ENCODING);
    sent.map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        // An empty value needs a semicolon, else curl leaves the header out.
        let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        format!("--header {}", quoted(&header))
    })
}

fn body_options(request: &Request) -> Vec<String> {
    if request.body.is_empty() && request.method != Method::POST {
        return Vec::new();
    }
    let body = format!("--data-raw {}", quoted(&String::from_utf8_lossy(&request.body)));
    if request.headers.contains_key(CONTENT_TYPE) {
        return vec![body];
    }
    // A name without a value removes the type that curl adds to every body.
    vec!["--header 'content-type:'".to_owned(), body]
}

fn tcp_command(tcp: &TcpPlan, seconds: f64) -> String {
    format!("nc -v -z -w {} {} {}", seconds.ceil(), quoted(&tcp.host), tcp.port)
}

fn dns_command(dns: &DnsPlan, seconds: f64) -> String {
    let kinds: Vec<&str> = dns.kinds.iter().map(|kind| kind.as_str()).collect();
    let lookup = |kind: &&str| {
        format!(
            "dig +time={} +noall +answer +comments {} {kind}",
            seconds.ceil(),
            quoted(&dns.name)
        )
    };
    kinds.iter().map(lookup).collect::<Vec<_>>().join("\n")
}

/// Returns the parts of a command, one on each line.
fn lines(parts: &[String]) -> String {
    parts.join(" \\\n  ")
}

/// Returns a text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn http() -> StoredMonitor {
        let json = json!({
            "id": "mon_1", "name": "API", "url": "https://example.com/a?b=it's", "periodicity": "1m",
            "method": "POST", "body": "{\"a\":1}", "timeout": 4500, "followRedirects": true,
            "headers": [{ "key": "X-Empty", "value": "" }], "active": true,
        });
        StoredMonitor { kind: MonitorKind::Http, json }
    }

    #[test]
    fn check_of_http_is_a_command_of_curl() {
        let command = check_command(&http()).unwrap();
        let agent = command.lines().find(|it| it.contains("user-agent")).unwrap();
        let command = command.replace(agent, "  (user agent)");
        insta::assert_snapshot!(command, @r#"
        curl --include --compressed --max-time 4.5 \
          --header 'x-empty;' \
          (user agent)
          --header 'accept: */*' \
          --header 'content-type: application/json' \
          --data-raw '{"a":1}' \
          'https://example.com/a?b=it%27s'
        "#);
    }

    fn command_of(fields: &serde_json::Value) -> String {
        let mut json = json!({ "name": "a", "url": "https://example.com", "periodicity": "1m" });
        json.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        check_command(&StoredMonitor { kind: MonitorKind::Http, json }).unwrap()
    }

    #[test]
    fn commands_name_files_instead_of_the_key() {
        let object = |label: &str, content: &str| {
            format!("-----BEGIN {label}-----\n{content}\n-----END {label}-----\n")
        };
        let certificate = object("CERTIFICATE", "AA==");
        let json = json!({
            "name": "a", "url": "https://example.com", "periodicity": "1m",
            "clientCertificate": certificate, "clientKey": object("PRIVATE KEY", "hunter2"),
        });
        let monitor = StoredMonitor { kind: MonitorKind::Http, json };
        let check = check_command(&monitor).unwrap();
        assert!(check.contains("--cert certificate.pem --key key.pem"), "{check}");
        let create = create_command(&monitor, "https://aloft.example.com");
        assert!(create.contains("\"clientKey\": \"(the key in PEM)\""), "{create}");
        assert!(!check.contains("hunter2") && !create.contains("hunter2"), "{check}{create}");
    }

    #[test]
    fn configured_host_is_sent() {
        let headers = json!({ "headers": [{ "key": "Host", "value": "shop.example:8443" }] });
        let command = command_of(&headers);
        assert!(command.contains("--header 'host: shop.example:8443'"), "{command}");
        assert!(command.contains("--location"), "curl sends it to the first host only: {command}");
    }

    #[test]
    fn command_uses_the_same_ip_version() {
        for (version, option) in [("ipv4", "--ipv4"), ("ipv6", "--ipv6")] {
            let command = command_of(&json!({ "ipVersion": version }));
            assert!(command.contains(option), "{command}");
        }
        assert!(!command_of(&json!({})).contains("--ipv"));
    }

    #[test]
    fn redirects_are_followed_only_like_a_check() {
        for (fields, follows) in [
            (json!({}), true),
            (json!({ "method": "HEAD" }), true),
            (json!({ "method": "POST" }), true),
            (json!({ "method": "POST", "body": "a" }), true),
            (json!({ "method": "DELETE" }), false),
            (json!({ "method": "PUT", "body": "a" }), false),
            (json!({ "headers": [{ "key": "X-Token", "value": "s3cret" }] }), false),
            (json!({ "url": "https://ada:s3cret@example.com" }), false),
            (json!({ "followRedirects": false }), false),
        ] {
            let command = command_of(&fields);
            assert_eq!(command.contains("--location"), follows, "{command}");
            assert!(!(follows && command.contains("--request")), "{command}");
        }
    }

    #[test]
    fn other_kinds_have_their_commands() {
        let tcp = json!({ "name": "a", "uri": "[::1]:5432", "periodicity": "1m" });
        let dns = json!({
            "name": "a", "uri": "example.com", "periodicity": "1m",
            "recordAssertions": [{ "record": "MX", "target": "", "comparator": "neq" }],
        });
        let commands = [(MonitorKind::Tcp, tcp), (MonitorKind::Dns, dns)]
            .map(|(kind, json)| check_command(&StoredMonitor { kind, json }).unwrap());
        assert_eq!(
            commands,
            ["nc -v -z -w 45 '::1' 5432", "dig +time=45 +noall +answer +comments 'example.com' MX",]
        );
    }

    #[test]
    fn call_that_creates_the_monitor_leaves_outputs_out() {
        let command = create_command(&http(), "https://aloft.example.com");
        assert!(!command.contains("mon_1") && command.contains("\"name\": \"API\""), "{command}");
        let url = "'https://aloft.example.com/rpc/monitor.v1.MonitorService/CreateHttpMonitor'";
        assert!(command.ends_with(url), "{command}");
    }
}
