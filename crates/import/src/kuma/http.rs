//! HTTP monitors of Uptime Kuma: request, authentication, accepted status codes and keywords.

use rules::limits::REDIRECTS_MAX;
use rules::monitor::HttpDraft;
use rules::{JsonPath, TextComparator};
use serde_json::{Value, json};

use crate::convert::{self, StatusRange};
use crate::preview::Entry;
use crate::record::Record;

/// Columns with defaults that only say that nothing was chosen.
pub(super) const DEFAULTS_OF_OTHERS: [&str; 6] = [
    "hostname",
    "port",
    "dns_resolve_type",
    "dns_resolve_server",
    "oauth_auth_method",
    "domain_expiry_notification_sent",
];
/// Status codes if none are set.
const STATUS_CODES_DEFAULT: &str = r#"["200-299"]"#;

/// Reads the settings of a monitor of the kind `http`, `keyword` or `json-query`. `warn_days` are the days
/// before the expiry of a certificate of the first warning, if there is any.
pub(super) fn settings(
    record: &mut Record,
    kind: &str,
    warn_days: Option<u16>,
    http: &mut HttpDraft,
    entry: &mut Entry,
) {
    http.url = record.text("url");
    let method = record.text("method").unwrap_or_else(|| "GET".to_owned());
    convert::method(http, "method", &method, entry);
    headers(record, http, entry);
    body(record, http);
    authentication(record, http, entry);
    status_codes(record, http, entry);
    redirects(record, http, entry);
    let keyword = record.text("keyword");
    let is_inverted = record.flag("invert_keyword") == Some(true);
    if let Some(keyword) = keyword.filter(|_| kind == "keyword") {
        let comparator =
            if is_inverted { TextComparator::NotContains } else { TextComparator::Contains };
        convert::body(http, comparator, keyword);
    }
    json_query(record, kind, http, entry);
    losses(record, entry);
    let warns = record.flag("expiry_notification") == Some(true);
    if let Some(days) = warn_days.filter(|_| warns) {
        convert::certificate_warning(http, "expiryNotification", f64::from(days), entry);
    }
}

fn headers(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let Some(text) = record.text("headers") else { return };
    let Some(mut headers) = serde_json::from_str(&text).ok().and_then(Record::of) else {
        return entry.lose("headers that are not a JSON object", "add them to the configuration");
    };
    for name in headers.names() {
        match headers.text(&name) {
            Some(value) => convert::header(http, name, value),
            None => entry.lose(format!("the header `{name}`"), "its value must be a text"),
        }
    }
}

/// Reads the body, with the media type that Uptime Kuma sends for its encoding.
fn body(record: &mut Record, http: &mut HttpDraft) {
    let encoding = record.text("http_body_encoding");
    let Some(body) = record.text("body").filter(|body| !body.trim().is_empty()) else { return };
    http.body = Some(body);
    let media_type = match encoding.as_deref() {
        Some("form") => "application/x-www-form-urlencoded",
        Some("xml") => "text/xml; charset=utf-8",
        Some(_) | None => "application/json",
    };
    if !convert::has_header(http, "Content-Type") {
        convert::header(http, "Content-Type", media_type);
    }
}

fn authentication(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let method = record.text("auth_method").unwrap_or_default();
    let user = record.text("basic_auth_user").unwrap_or_default();
    let password = record.text("basic_auth_pass").unwrap_or_default();
    let token = record.text("bearer_token").unwrap_or_default();
    let [certificate, key, authority] = ["tls_cert", "tls_key", "tls_ca"]
        .map(|name| record.text(name).filter(|text| !text.trim().is_empty()));
    record.ignore(&[
        "auth_domain",
        "auth_workstation",
        "oauth_client_id",
        "oauth_client_secret",
        "oauth_token_url",
        "oauth_scopes",
        "oauth_audience",
    ]);
    match method.as_str() {
        "basic" => convert::basic_authentication(http, &user, &password),
        "bearer" if !convert::has_header(http, "Authorization") => {
            convert::header(http, "Authorization", format!("Bearer {token}"));
        }
        "" | "bearer" | "null" => {}
        "mtls" => {
            let pair = (certificate.unwrap_or_default(), key.unwrap_or_default());
            convert::client_certificate(http, pair, entry);
            if authority.is_some() {
                let remedy = "trust it with the setting `extra_ca_file` of server and probes";
                entry.lose("the authority `tlsCa`", remedy);
            }
        }
        other => {
            let remedy = "give a long-lived token in the header `Authorization`";
            entry.lose(format!("the authentication `{other}`"), remedy);
        }
    }
}

fn status_codes(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let field = "accepted_statuscodes";
    let text = record.text("accepted_statuscodes_json");
    let text = text.unwrap_or_else(|| STATUS_CODES_DEFAULT.to_owned());
    let Ok(Value::Array(items)) = serde_json::from_str(&text) else {
        return entry.lose("accepted status codes that are not a list", "add assertions for them");
    };
    let mut ranges: Vec<StatusRange> = Vec::new();
    for item in items {
        let written = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
        match convert::status_range(&written) {
            Some(range) => ranges.push(range),
            None => entry.lose(format!("the status code `{written}`"), "add an assertion for it"),
        }
    }
    convert::statuses(http, field, &ranges, entry);
}

fn redirects(record: &mut Record, http: &mut HttpDraft, entry: &mut Entry) {
    let most = record.integer("maxredirects").unwrap_or(i64::from(REDIRECTS_MAX));
    if most == 0 {
        http.follow_redirects = Some(false);
    } else if most != i64::from(REDIRECTS_MAX) {
        entry.change("maxredirects", most, REDIRECTS_MAX, "redirects are followed or not");
    }
}

/// Reads a JSON query. Uptime Kuma evaluates JSONata, of which plain paths mean the same.
fn json_query(record: &mut Record, kind: &str, http: &mut HttpDraft, entry: &mut Entry) {
    let written = record.text("json_path");
    let operator = record.text("json_path_operator");
    let expected = record.text("expected_value").unwrap_or_default();
    if kind != "json-query" {
        return;
    }
    let written = written.unwrap_or_else(|| "$".to_owned());
    let comparator = match operator.as_deref() {
        Some("contains") => Some(TextComparator::Contains),
        other => convert::comparator(other.unwrap_or("==")),
    };
    let Some((path, comparator)) = plain_path(&written).zip(comparator) else {
        let operator = operator.unwrap_or_default();
        let words = format!("{written} {operator} {expected}");
        let remedy = "add a JSON assertion with a JSONPath (RFC 9535)";
        entry.lose(format!("the JSON query `{}`", words.trim()), remedy);
        return;
    };
    json_differences(&written, &path, (comparator, &expected), entry);
    convert::json_value(http, path, comparator, expected);
}

/// Notes how a JSON assertion differs from the query.
fn json_differences(
    written: &str,
    path: &str,
    (comparator, target): (TextComparator, &str),
    entry: &mut Entry,
) {
    if comparator == TextComparator::Neq {
        let before = format_args!("{written} != {target}");
        let after = format_args!("JSON {path} {comparator} {target}");
        entry.change("json_path_operator", before, after, "a value that is absent satisfies it");
    }
    if path.matches(['.', '[']).count() > 1 {
        let why = "a step into all values of a list needs `[*]`, which JSONata adds itself";
        entry.change("json_path", written, format_args!("JSONPath {path}"), why);
    }
}

/// Returns the JSONPath of a JSONata that only names members and indexes, such as `$.a.b[0]`.
fn plain_path(written: &str) -> Option<String> {
    let rest = written
        .trim()
        .strip_prefix('$')
        .map_or_else(|| format!(".{}", written.trim()), |rest| rest.trim_start().to_owned());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._[]-".contains(c);
    // A hyphen outside of an index is a subtraction.
    let subtracts = rest.match_indices('-').any(|(at, _)| !rest[..at].ends_with('['));
    let path = format!("${rest}");
    let is_path = rest.chars().all(is_plain) && !rest.contains("..") && !subtracts;
    (is_path && JsonPath::parse(&path).is_ok()).then_some(path)
}

fn losses(record: &mut Record, entry: &mut Entry) {
    if record.flag("ignore_tls") == Some(true) {
        let remedy = "trust the certificate with the setting `extra_ca_file` of server and probes";
        entry.lose("ignored TLS errors", remedy);
    }
    if record.flag("domain_expiry_notification") == Some(true) {
        entry.lose("warnings before the domain expires", "let the registrar renew it");
    }
    if record.flag("cache_bust") == Some(true) {
        entry
            .lose("a random parameter in each request", "set the header `Cache-Control: no-cache`");
    }
    if record.flag("retry_only_on_status_code_failure") == Some(true) {
        entry.lose("retries after wrong status codes only", "every failure is retried");
    }
    if record.take("proxy_id").is_some() {
        entry.lose("the proxy", "run a probe in the network that the proxy reaches");
    }
    if let Some(alert) = record.text("expected_tls_alert").filter(|alert| alert != "none") {
        entry
            .lose(format!("the expected TLS alert `{alert}`"), "check the port with a TCP monitor");
    }
    record.ignore_default("conditions", &json!("[]"));
}
