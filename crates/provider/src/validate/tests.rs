//! Violations at plan time and their paths, and unknown values that must pass.

use rules::tables::{
    DNS_MONITOR, HTTP_MONITOR, NOTIFICATION, STATUS_PAGE, STATUS_PAGE_COMPONENT, TCP_MONITOR,
};
use terraform_plugin::IntoValue;

use super::*;
use crate::service::{COMPONENTS, DNS_MONITORS, HTTP_MONITORS, NOTIFICATIONS, PAGES, TCP_MONITORS};

fn problem_texts(table: &'static Resource, service: &Service, config: &Object) -> Vec<String> {
    let found = problems(table, service, config);
    let line = |diagnostic: &Diagnostic| {
        let path = diagnostic.path.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{path}: {}", diagnostic.detail)
    };
    found.iter().map(line).collect()
}

fn block(fields: &[(&str, Value)]) -> Value {
    Value::object(fields.iter().map(|(name, value)| (*name, value.clone())))
}

/// Returns a block that may be given once, as Terraform sends it.
fn single(fields: &[(&str, Value)]) -> Value {
    Value::list([block(fields)])
}

fn text(text: &str) -> Value {
    text.into_value()
}

fn monitor() -> Object {
    Object::new().with("name", "API").with("url", "https://example.com").with("periodicity", "30s")
}

fn tcp_monitor() -> Object {
    Object::new().with("name", "DB").with("uri", "example.com:5432").with("periodicity", "30s")
}

fn page() -> Object {
    Object::new().with("title", "Status").with("slug", "status")
}

fn component() -> Object {
    Object::new().with("page_id", "page_0000000000000")
}

#[expect(clippy::too_many_lines, reason = "a table with a row for each rule")]
#[test]
fn each_violation_names_attribute_and_allowed_values() {
    // spec: §2.1–2.7, §8.1
    let bad_header = block(&[("key", text("a b")), ("value", text(""))]);
    let good_header = block(&[("key", text("a")), ("value", text(""))]);
    let assertion = block(&[("target", 99.into_value()), ("comparator", text("is"))]);
    let http = [
        monitor().with("name", Value::Null),
        monitor().with("name", "x".repeat(257)),
        monitor().with("periodicity", "7s"),
        monitor().with("method", "get"),
        monitor().with("timeout", 120_001),
        monitor().with("retry", -1),
        monitor().with("retry", Value::Number("1.5".parse().unwrap())),
        monitor().with("retry", i64::MAX),
        monitor().with("regions", Value::set(["fly-ams", "mars"])),
        monitor().with("url", "example.com"),
        monitor().with("headers", Value::list([good_header, bad_header])),
        monitor().with("status_code_assertions", Value::list([assertion])),
    ];
    let mut all = Vec::new();
    for config in http {
        all.extend(problem_texts(&HTTP_MONITOR, &HTTP_MONITORS, &config));
    }
    all.extend(problem_texts(
        &TCP_MONITOR,
        &TCP_MONITORS,
        &tcp_monitor().with("uri", "example.com"),
    ));
    let records =
        [block(&[("record", text("A")), ("target", text("nowhere")), ("comparator", text("eq"))])];
    let dns =
        tcp_monitor().with("uri", "example.com").with("record_assertions", Value::list(records));
    all.extend(problem_texts(&DNS_MONITOR, &DNS_MONITORS, &dns));
    let pages = [
        page().with("slug", "My Page"),
        page().with("access_type", "secret"),
        page().with("access_type", "password"),
        page()
            .with("access_type", "email-domain")
            .with("auth_email_domains", Value::list::<Value>([])),
        page().with("auth_email_domains", Value::list(["example.com", "no domain"])),
        page().with("contact_url", "javascript:alert(1)"),
    ];
    for config in pages {
        all.extend(problem_texts(&STATUS_PAGE, &PAGES, &config));
    }
    all.extend(problem_texts(
        &STATUS_PAGE_COMPONENT,
        &COMPONENTS,
        &component().with("type", "monitor"),
    ));
    insta::assert_snapshot!(all.join("\n"), @r"
    name: `name` must be given.
    name: `name` must have at most 256 characters (given: `257 characters`).
    periodicity: `periodicity` must be one of 30s, 1m, 5m, 10m, 30m, 1h (given: `7s`).
    method: `method` must be one of GET, POST, HEAD, PUT, PATCH, DELETE, OPTIONS (given: `get`).
    timeout: `timeout` must be a whole number from 0 to 120000 (given: `120001`).
    retry: `retry` must be a whole number from 0 to 10 (given: `-1`).
    retry: `retry` must be a whole number from 0 to 10 (given: `1.5`).
    retry: `retry` must be a whole number from 0 to 10 (given: `9223372036854775807`).
    regions: `regions` may only hold the 44 values fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw, fly-ewr, fly-fra, fly-gru, fly-iad, fly-jnb, fly-lax, fly-lhr, fly-nrt, fly-ord, fly-sjc, fly-sin, fly-syd, fly-yyz, koyeb-fra, koyeb-par, koyeb-sfo, koyeb-sin, koyeb-tyo, koyeb-was, railway-us-west2, railway-us-east4, railway-europe-west4, railway-asia-southeast1, private-1, private-2, private-3, private-4, private-5, private-6, private-7, private-8, private-9, private-10, private-11, private-12, private-13, private-14, private-15, private-16 (given: `mars`).
    url: `url` must be an absolute URL that begins with http:// or https:// (given: `example.com`).
    headers[1].key: `headers[1].key` must be a header name: letters, digits and !#$%&'*+-.^_`|~ (given: `a b`).
    status_code_assertions[0].target: `status_code_assertions[0].target` must be a whole number from 100 to 599 (given: `99`).
    status_code_assertions[0].comparator: `status_code_assertions[0].comparator` must be one of eq, neq, gt, gte, lt, lte (given: `is`).
    uri: `uri` must be host:port, such as example.com:443 (given: `example.com`).
    record_assertions[0].target: `record_assertions[0].target` must be an IPv4 address, such as 192.0.2.1, to be compared with A records (given: `nowhere`).
    slug: `slug` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `My Page`).
    access_type: `access_type` must be one of public, password, email-domain (given: `secret`).
    password: `password` must be given when `access_type` is `password`.
    auth_email_domains: `auth_email_domains` must be given when `access_type` is `email-domain`.
    auth_email_domains[1]: `auth_email_domains[1]` must have only letters, digits, hyphens and underscores in its domain name (given: `no domain`).
    contact_url: `contact_url` must be an http, https or mailto URL (given: `javascript:alert(1)`).
    monitor_id: `monitor_id` must be given when `type` is `monitor`.
    ");
}

#[test]
fn channel_requires_exactly_the_block_of_its_kind() {
    // spec: §2.4
    let email = || single(&[("email", text("ops@example.com"))]);
    let ntfy = || single(&[("topic", text("alerts"))]);
    let sms = single(&[("phone_number", text("0151"))]);
    let headers = [block(&[("key", text("Host")), ("value", text("no host"))])];
    let webhook = single(&[("endpoint", text("ftp://x")), ("headers", Value::list(headers))]);
    let cases = [
        Object::new().with("provider_type", "email"),
        Object::new().with("provider_type", "email").with("ntfy", ntfy()),
        Object::new().with("provider_type", "email").with("email", email()).with("ntfy", ntfy()),
        Object::new().with("provider_type", "pigeon").with("email", email()),
        Object::new().with("provider_type", "sms").with("sms", sms),
        Object::new().with("provider_type", "webhook").with("webhook", webhook),
        Object::new()
            .with("provider_type", Value::UNKNOWN)
            .with("email", email())
            .with("ntfy", ntfy()),
        Object::new().with("provider_type", Value::UNKNOWN),
    ];
    let mut all = Vec::new();
    for config in cases {
        all.push(problem_texts(&NOTIFICATION, &NOTIFICATIONS, &config).join("\n"));
    }
    insta::assert_snapshot!(all.join("\n--\n"), @r"
    email: `email` must be given when `provider_type` is `email`.
    --
    email: `email` must be given when `provider_type` is `email`.
    ntfy: `ntfy` must not be given when `provider_type` is `email`.
    --
    ntfy: `ntfy` must not be given when `provider_type` is `email`.
    --
    provider_type: `provider_type` must be one of discord, email, slack, pagerduty, opsgenie, webhook, telegram, sms, whatsapp, google_chat, grafana_oncall, ntfy, ms_teams (given: `pigeon`).
    --
    sms[0].phone_number: `sms.phone_number` must be a telephone number in international form, such as +4915112345678 (given: `0151`).
    --
    webhook[0].endpoint: `webhook.endpoint` must be an absolute URL that begins with http:// or https:// (given: `ftp://x`).
    webhook[0].headers[0].value: `webhook.headers[0].value` must be a host or host:port in ASCII, as the value of Host.
    --
    ntfy: `ntfy` must not be given together with `email`.
    --
    provider_type: `provider_type` must have its block: one of `discord`, `email`, `slack`, `pagerduty`, `opsgenie`, `webhook`, `telegram`, `sms`, `whatsapp`, `google_chat`, `grafana_oncall`, `ntfy`, `ms_teams`.
    ");
}

#[test]
fn unknown_value_passes_everywhere() {
    let everything = |table: &'static Resource| {
        table.writable().fold(Object::new(), |config, name| config.with(name, Value::UNKNOWN))
    };
    for (table, service) in [
        (&HTTP_MONITOR, &HTTP_MONITORS),
        (&TCP_MONITOR, &TCP_MONITORS),
        (&DNS_MONITOR, &DNS_MONITORS),
        (&NOTIFICATION, &NOTIFICATIONS),
        (&STATUS_PAGE, &PAGES),
        (&STATUS_PAGE_COMPONENT, &COMPONENTS),
    ] {
        assert_eq!(problem_texts(table, service, &everything(table)), [""; 0], "{}", table.name);
    }
}

#[test]
fn known_parts_are_checked_beside_unknown_ones() {
    let half = block(&[("key", Value::UNKNOWN), ("value", text("line\nbreak"))]);
    let config = monitor()
        .with("headers", Value::list([half, Value::UNKNOWN]))
        .with("regions", Value::set([text("mars"), Value::UNKNOWN]));
    let http_problems = problem_texts(&HTTP_MONITOR, &HTTP_MONITORS, &config);
    assert_eq!(http_problems.len(), 2, "{http_problems:?}");
    let record = |record: Value, target: Value, comparator: Value| {
        let assertion =
            block(&[("record", record), ("target", target), ("comparator", comparator)]);
        tcp_monitor().with("uri", "example.com").with("record_assertions", Value::list([assertion]))
    };
    for config in [
        record(Value::UNKNOWN, text("nowhere"), text("eq")),
        record(text("A"), Value::UNKNOWN, text("eq")),
        record(text("A"), text("nowhere"), Value::UNKNOWN),
    ] {
        assert_eq!(problem_texts(&DNS_MONITOR, &DNS_MONITORS, &config), [""; 0]);
    }
    for config in [
        page().with("access_type", Value::UNKNOWN),
        page().with("access_type", "password").with("password", Value::UNKNOWN),
        page().with("access_type", "email-domain").with("auth_email_domains", Value::UNKNOWN),
        page()
            .with("access_type", "email-domain")
            .with("auth_email_domains", Value::list([Value::UNKNOWN])),
    ] {
        assert_eq!(problem_texts(&STATUS_PAGE, &PAGES, &config), [""; 0]);
    }
    let email = single(&[("email", Value::UNKNOWN)]);
    for config in [
        Object::new().with("provider_type", Value::UNKNOWN).with("email", email.clone()),
        Object::new().with("provider_type", "email").with("email", Value::UNKNOWN),
        Object::new()
            .with("provider_type", "email")
            .with("email", email.clone())
            .with("ntfy", Value::UNKNOWN),
        // Two `dynamic` blocks whose `for_each` is unknown, with a kind that is known or not.
        Object::new()
            .with("provider_type", "email")
            .with("email", Value::UNKNOWN)
            .with("ntfy", Value::UNKNOWN),
        Object::new()
            .with("provider_type", Value::UNKNOWN)
            .with("email", Value::UNKNOWN)
            .with("ntfy", Value::UNKNOWN),
        Object::new()
            .with("provider_type", Value::UNKNOWN)
            .with("email", email)
            .with("ntfy", Value::UNKNOWN),
    ] {
        assert_eq!(problem_texts(&NOTIFICATION, &NOTIFICATIONS, &config), [""; 0]);
    }
    for config in [
        component().with("type", Value::UNKNOWN),
        component().with("type", Value::UNKNOWN).with("monitor_id", "mon_0000000000000"),
        component().with("type", "monitor").with("monitor_id", Value::UNKNOWN),
        component().with("type", "static").with("name", "n").with("page_id", Value::UNKNOWN),
    ] {
        assert_eq!(problem_texts(&STATUS_PAGE_COMPONENT, &COMPONENTS, &config), [""; 0]);
    }
}

#[test]
fn null_element_is_refused_at_its_path() {
    // The wire would omit it, so the applied set would differ from the plan.
    let email = single(&[("email", text("ops@example.com"))]);
    let channel = Object::new().with("provider_type", "email").with("email", email);
    let mut all = problem_texts(
        &HTTP_MONITOR,
        &HTTP_MONITORS,
        &monitor().with("regions", Value::set([text("fly-ams"), Value::Null])),
    );
    let monitors = Value::set([text("mon_0000000000000"), Value::Null]);
    all.extend(problem_texts(
        &NOTIFICATION,
        &NOTIFICATIONS,
        &channel.with("monitor_ids", monitors),
    ));
    let domains = Value::list([text("example.com"), Value::Null]);
    all.extend(problem_texts(&STATUS_PAGE, &PAGES, &page().with("auth_email_domains", domains)));
    insta::assert_snapshot!(all.join("\n"), @r"
    regions: `regions` must not be null.
    monitor_ids: `monitor_ids` must not be null.
    auth_email_domains: `auth_email_domains` must not be null.
    ");
}

#[test]
fn secret_has_one_name_and_its_version() {
    let protected = || page().with("access_type", "password");
    let fine = protected().with("password_wo", "hunter2").with("password_wo_version", 1);
    assert_eq!(problem_texts(&STATUS_PAGE, &PAGES, &fine), [""; 0]);
    let cases = [
        protected().with("password", "a").with("password_wo", "b").with("password_wo_version", 1),
        protected().with("password_wo", "hunter2"),
        protected().with("password", "a").with("password_wo_version", 1),
        protected().with("password_wo", "").with("password_wo_version", 1),
    ];
    let mut all = Vec::new();
    for config in cases {
        all.extend(problem_texts(&STATUS_PAGE, &PAGES, &config));
    }
    insta::assert_snapshot!(all.join("\n"), @r"
    password_wo: `password` and `password_wo` must not be given together.
    password_wo: `password_wo_version` must be given with `password_wo`: any number, such as 1.
    password_wo_version: `password_wo_version` must only be given with `password_wo`.
    password_wo: `password` must not be empty.
    ");
}

#[test]
fn duplicate_header_is_a_warning() {
    let header = |key: &str| block(&[("key", text(key)), ("value", text(""))]);
    let config = monitor().with("headers", Value::list([header("X-Team"), header("x-team")]));
    let found = problems(&HTTP_MONITOR, &HTTP_MONITORS, &config);
    assert!(!found.has_errors());
    insta::assert_snapshot!(problem_texts(&HTTP_MONITOR, &HTTP_MONITORS, &config).join("\n"), @"headers[1].key: `x-team` is also the name of block 1 of `headers`. Both are sent.");
}

#[test]
fn mocked_id_passes_and_others_are_checked() {
    let channel = |id: &str| {
        let email = single(&[("email", text("ops@example.com"))]);
        let channel = Object::new().with("provider_type", "email").with("email", email);
        channel.with("monitor_ids", Value::set([id]))
    };
    for id in ["8qq1n0bl", "aZ09", "abcdefghijklmnop"] {
        assert_eq!(problem_texts(&NOTIFICATION, &NOTIFICATIONS, &channel(id)), [""; 0], "{id}");
        let static_one = Object::new().with("page_id", id).with("type", "static").with("name", "n");
        assert_eq!(
            problem_texts(&STATUS_PAGE_COMPONENT, &COMPONENTS, &static_one),
            [""; 0],
            "{id}"
        );
    }
    for id in ["", "page_0000000000000", "mon_", "abcdefghijklmnopq", "a-b"] {
        assert_eq!(problem_texts(&NOTIFICATION, &NOTIFICATIONS, &channel(id)).len(), 1, "{id}");
        let component = Object::new().with("page_id", id.replace("page", "mon"));
        let component = component.with("type", "static").with("name", "n");
        assert_eq!(problem_texts(&STATUS_PAGE_COMPONENT, &COMPONENTS, &component).len(), 1, "{id}");
    }
}
