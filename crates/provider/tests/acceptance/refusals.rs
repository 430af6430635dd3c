//! Every rule without a call: `terraform validate` points at the line of the argument and names the allowed values
//! (spec §2, §8.1).

use rules::field::{Field, Presence, Resource, ValueType};
use rules::tables;
use testkit::tools::terraform_hosts;

use crate::world::World;

const WRONG: &str = r#"
resource "service_http_monitor" "m" {
  name        = ""
  url         = "ftp://example.com"
  periodicity = "2m"
  method      = "TRACE"
  timeout     = 120001
  degraded_at = -1
  retry       = 11
  regions     = ["fly-ams", "mars"]
  headers {
    key   = "Connection"
    value = "close"
  }
  status_code_assertions {
    target     = 600
    comparator = "contains"
  }
  header_assertions {
    key        = "X Y"
    target     = ""
    comparator = "eq"
  }
}
resource "service_tcp_monitor" "m" {
  name        = "m"
  uri         = "2001:db8::1"
  periodicity = "1m"
}
resource "service_dns_monitor" "m" {
  name        = "m"
  uri         = "https://example.com"
  periodicity = "1m"
  record_assertions {
    record     = "SRV"
    target     = ""
    comparator = "gt"
  }
}
resource "service_notification" "none" {
  provider_type = "slack"
}
resource "service_notification" "two" {
  provider_type = "email"
  email {
    email = "nobody"
  }
  sms {
    phone_number = "+4915112345678"
  }
}
resource "service_notification" "ids" {
  provider_type = "opsgenie"
  monitor_ids   = ["page_0000000000000"]
  opsgenie {
    api_key = "k"
    region  = "mars"
  }
}
resource "service_status_page" "p" {
  title                = ""
  slug                 = "Not-a-slug"
  homepage_url         = "javascript:alert(1)"
  custom_domain        = "https://status.example.com"
  access_type          = "password"
  auth_email_domains   = ["@example.com"]
}
resource "service_status_page" "q" {
  title       = "Q"
  slug        = "q"
  access_type = "email-domain"
}
resource "service_status_page_component" "c" {
  page_id = "mon_0000000000000"
  type    = "monitor"
  order   = 2147483648
}
resource "service_status_page_component_group" "g" {
  page_id = "page_0000000000000"
  name    = ""
}
"#;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "three lines a rule")]
async fn violation_points_at_line_with_allowed_values() {
    // issue 5 point 4
    let world = World::start().await;
    let refused = world.validation_errors(WRONG).await;
    insta::assert_snapshot!(refused.join("\n"), @r#"
    error: Invalid auth_email_domains
      on main.tf line 72: auth_email_domains   = ["@example.com"]
      `auth_email_domains[0]` must have only letters, digits, hyphens and underscores in its domain name (given: `@example.com`).
    error: Invalid auth_email_domains
      on main.tf line 74: resource "service_status_page" "q" {
      `auth_email_domains` must be given when `access_type` is `email-domain`.
    error: Invalid comparator
      on main.tf line 23: comparator = "contains"
      `status_code_assertions[0].comparator` must be one of eq, neq, gt, gte, lt, lte (given: `contains`).
    error: Invalid comparator
      on main.tf line 43: comparator = "gt"
      `record_assertions[0].comparator` must be one of eq, neq, contains, not_contains (given: `gt`).
    error: Invalid custom_domain
      on main.tf line 70: custom_domain        = "https://status.example.com"
      `custom_domain` must be a domain name without scheme and path, such as example.com (given: `https://status.example.com`).
    error: Invalid degraded_at
      on main.tf line 14: degraded_at = -1
      `degraded_at` must be a whole number from 0 to 120000 (given: `-1`).
    error: Invalid email
      on main.tf line 52: email = "nobody"
      `email.email` must be an email address, such as ops@example.com (given: `nobody`).
    error: Invalid homepage_url
      on main.tf line 69: homepage_url         = "javascript:alert(1)"
      `homepage_url` must be an absolute URL that begins with http:// or https:// (given: `javascript:alert(1)`).
    error: Invalid key
      on main.tf line 18: key   = "Connection"
      `headers[0].key` must not be a header of the connection's own: connection, content-length, http2-settings, keep-alive, proxy-authenticate, proxy-authorization, proxy-connection, te, trailer, trailers, transfer-encoding, upgrade (given: `Connection`).
    error: Invalid key
      on main.tf line 26: key        = "X Y"
      `header_assertions[0].key` must be a header name: letters, digits and !#$%&'*+-.^_`|~ (given: `X Y`).
    error: Invalid method
      on main.tf line 12: method      = "TRACE"
      `method` must be one of GET, POST, HEAD, PUT, PATCH, DELETE, OPTIONS (given: `TRACE`).
    error: Invalid monitor_id
      on main.tf line 79: resource "service_status_page_component" "c" {
      `monitor_id` must be given when `type` is `monitor`.
    error: Invalid monitor_ids
      on main.tf line 60: monitor_ids   = ["page_0000000000000"]
      `monitor_ids` must be an identifier of the form mon_… (given: `page_0000000000000`).
    error: Invalid name
      on main.tf line 86: name    = ""
      `name` must not be empty.
    error: Invalid name
      on main.tf line 9: name        = ""
      `name` must not be empty.
    error: Invalid order
      on main.tf line 82: order   = 2147483648
      `order` must be a whole number from -2147483648 to 2147483647 (given: `2147483648`).
    error: Invalid page_id
      on main.tf line 80: page_id = "mon_0000000000000"
      `page_id` must be an identifier of the form page_… (given: `mon_0000000000000`).
    error: Invalid password
      on main.tf line 66: resource "service_status_page" "p" {
      `password` must be given when `access_type` is `password`.
    error: Invalid periodicity
      on main.tf line 11: periodicity = "2m"
      `periodicity` must be one of 30s, 1m, 5m, 10m, 30m, 1h (given: `2m`).
    error: Invalid record
      on main.tf line 41: record     = "SRV"
      `record_assertions[0].record` must be one of A, AAAA, CNAME, MX, TXT (given: `SRV`).
    error: Invalid region
      on main.tf line 63: region  = "mars"
      `opsgenie.region` must be one of us, eu (given: `mars`).
    error: Invalid regions
      on main.tf line 16: regions     = ["fly-ams", "mars"]
      `regions` may only hold the 44 values fly-ams, fly-arn, fly-bom, fly-cdg, fly-dfw, fly-ewr, fly-fra, fly-gru, fly-iad, fly-jnb, fly-lax, fly-lhr, fly-nrt, fly-ord, fly-sjc, fly-sin, fly-syd, fly-yyz, koyeb-fra, koyeb-par, koyeb-sfo, koyeb-sin, koyeb-tyo, koyeb-was, railway-us-west2, railway-us-east4, railway-europe-west4, railway-asia-southeast1, private-1, private-2, private-3, private-4, private-5, private-6, private-7, private-8, private-9, private-10, private-11, private-12, private-13, private-14, private-15, private-16 (given: `mars`).
    error: Invalid retry
      on main.tf line 15: retry       = 11
      `retry` must be a whole number from 0 to 10 (given: `11`).
    error: Invalid slack
      on main.tf line 46: resource "service_notification" "none" {
      `slack` must be given when `provider_type` is `slack`.
    error: Invalid slug
      on main.tf line 68: slug                 = "Not-a-slug"
      `slug` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Not-a-slug`).
    error: Invalid sms
      on main.tf line 49: resource "service_notification" "two" {
      `sms` must not be given when `provider_type` is `email`.
    error: Invalid target
      on main.tf line 22: target     = 600
      `status_code_assertions[0].target` must be a whole number from 100 to 599 (given: `600`).
    error: Invalid timeout
      on main.tf line 13: timeout     = 120001
      `timeout` must be a whole number from 0 to 120000 (given: `120001`).
    error: Invalid title
      on main.tf line 67: title                = ""
      `title` must not be empty.
    error: Invalid uri
      on main.tf line 33: uri         = "2001:db8::1"
      `uri` must have an IPv6 address in brackets and a port, such as [2001:db8::1]:443 (given: `2001:db8::1`).
    error: Invalid uri
      on main.tf line 38: uri         = "https://example.com"
      `uri` must be a domain name without scheme and path, such as example.com (given: `https://example.com`).
    error: Invalid url
      on main.tf line 10: url         = "ftp://example.com"
      `url` must be an absolute URL that begins with http:// or https:// (given: `ftp://example.com`).
    "#);
}

#[tokio::test]
async fn too_many_blocks_are_refused() {
    // spec: §2.1, §8.1
    let world = World::start().await;
    let header = "  headers {\n    key   = \"X\"\n    value = \"\"\n  }\n".repeat(21);
    let body = format!(
        "resource \"service_http_monitor\" \"m\" {{\n  name = \"m\"\n  url = \"https://example.com\"\n  \
         periodicity = \"1m\"\n{header}}}\n"
    );
    let refused = world.validation_errors(&body).await;
    assert_eq!(refused.len(), 1);
    assert!(refused[0].contains("No more than 20 \"headers\" blocks are allowed"), "{refused:?}");
}

/// Returns an expression of the type of a field.
fn expression(field: &Field) -> &'static str {
    match field.shape.value_type() {
        ValueType::Text => "\"x\"",
        ValueType::Integer => "1",
        ValueType::Bool => "true",
        ValueType::SetOfTexts | ValueType::ListOfTexts | ValueType::ListOf(_) => "[]",
    }
}

/// Returns a body that sets each read-only attribute of a table, and their names.
fn read_only(kind: &str, table: &Resource) -> (String, Vec<String>) {
    let fields = table.fields.iter().filter(|field| field.presence == Presence::Output);
    let given = fields.clone().map(|field| format!("  {} = {}\n", field.name, expression(field)));
    let given: String = given.collect();
    let required = table.fields.iter().filter(|field| field.presence == Presence::Required);
    let required = required.map(|field| format!("  {} = null\n", field.name));
    let required: String = required.collect();
    let body = format!("{kind} \"{}\" \"it\" {{\n{required}{given}}}\n", table.name);
    (body, fields.map(|field| field.name.to_owned()).collect())
}

// issue 16 point 18: read-only attributes are refused at validate, in data sources too
#[tokio::test]
async fn read_only_attribute_is_refused() {
    let resources = tables::RESOURCES.iter().map(|table| read_only("resource", table));
    let data = tables::DATA_SOURCES.iter().map(|table| read_only("data", table));
    let (bodies, mut names): (String, Vec<String>) =
        resources.chain(data).fold((String::new(), Vec::new()), |(bodies, names), it| {
            (bodies + &it.0, [names, it.1].concat())
        });
    assert!(names.len() > 40, "{names:?}");
    names.sort();
    for host in terraform_hosts() {
        let world = World::start_on(&host).await;
        let refused = world.validation_errors(&bodies).await;
        let refused = refused.iter().filter(|it| it.starts_with("error: Read-only attribute"));
        let named = refused.map(|it| it.split('`').nth(1).unwrap().to_owned());
        let mut named: Vec<_> = named.collect();
        named.sort();
        assert_eq!(named, names, "{}", host.name);
    }
}

#[tokio::test]
async fn read_only_attribute_refusal_points_at_line() {
    let world = World::start().await;
    let page = "resource \"service_status_page\" \"p\" {\n  title     = \"P\"\n  slug      = \"p\"\n  \
                published = true\n}\n";
    insta::assert_snapshot!(world.validation_errors(page).await.join("\n"), @r"
    error: Read-only attribute
      on main.tf line 10: published = true
      `published` is read-only: the provider sets its value. Remove it from the configuration.
    ");
    assert!(world.terraform.plan().await.is_err());
}
