//! `aloft check`: its output and its exit codes.

use std::time::Duration;

use rules::RecordKind;
use serde_json::Value;
use testkit::pem;
use testkit::target::{
    Authority, ClientTrust, DnsTarget, HttpTarget, Protocol, ScriptedResponse, TcpTarget,
    TlsVersion, Validity,
};

use crate::process::Home;

const OPEN: &str = "--allow-private-networks";

/// Replaces times by words, so that each run gives the same text.
fn still(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    "latencyUs" | "dnsUs" | "connectUs" | "tlsUs" | "firstByteUs"
                    | "transferUs"
                        if field.is_number() =>
                    {
                        *field = "[µs]".into();
                    }
                    "startedAt" | "fingerprint" => *field = format!("[{name}]").into(),
                    _ => still(field),
                }
            }
        }
        Value::Array(pair) if pair.first().is_some_and(|name| name == "date") => {
            pair[1] = "[date]".into();
        }
        Value::Array(items) => items.iter_mut().for_each(still),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_code_reports_the_outcome() {
    let target = HttpTarget::start().await;
    target.on("/well", ScriptedResponse::ok("all is well"));
    target.on("/slow", ScriptedResponse::ok("at last").after(Duration::from_millis(20)));
    target.on("/failing", ScriptedResponse::status(503));
    let home = Home::new();
    let (well, slow, failing) = (target.url("/well"), target.url("/slow"), target.url("/failing"));
    let refusing = TcpTarget::refusing().address().to_string();
    for (args, code, last) in [
        (&["http", &well, OPEN][..], 0, "  ✓ success"),
        (&["http", &well, OPEN, "--expect-body", "contains well"], 0, "  ✓ success"),
        (&["http", &slow, OPEN, "--degraded-at", "1"], 3, "  ! degraded: took "),
        (&["http", &failing, OPEN], 1, "  ✗ failure: status is 503, expected 2xx"),
        (&["http", &failing, OPEN, "--expect-status", "eq 503"], 0, "  ✓ success"),
        (&["http", &well, OPEN, "--expect-status", "gte 300"], 1, "  ✗ failure: status is 200"),
        (&["tcp", &refusing, OPEN], 1, "  ✗ failure: connection to "),
        (&["http", &well], 1, "  ✗ failure: `127.0.0.1` is blocked: "),
    ] {
        let ran = home.run(&[&["check"], args].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{args:?} {}", ran.out);
        let drawn = ran.out.lines().last().unwrap();
        assert!(drawn.starts_with(last), "{args:?}: {drawn}");
        assert!(!ran.out.contains('\u{1b}'), "{args:?} prints colours to a pipe");
    }
}

#[test]
fn blocked_address_names_the_flag() {
    // design: §6
    let ran = Home::new().run(&["check", "tcp", "10.0.0.1:80", "--json"]);
    assert_eq!(ran.code, Some(1));
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    insta::assert_snapshot!(value["attempts"][0]["reasons"][0].as_str().unwrap(), @"`10.0.0.1` is blocked: address 10.0.0.1 is private; `--allow-private-networks` opens private and loopback networks");
}

#[test]
fn impossible_check_differs_from_failed_check() {
    let home = Home::new();
    let refusals = [
        &["http", "ftp://example.com"][..],
        &["http", "http://example.com", "--method", "FETCH"],
        &["http", "http://example.com", "--header", "no colon"],
        &["http", "http://example.com", "--expect-status", "eq"],
        &["http", "http://example.com", "--expect-status", "about 200"],
        &["http", "http://example.com", "--expect-header", "server"],
        &["http", "http://example.com", "--expect-json", "$.status is ok"],
        &["http", "http://example.com", "--expect-json", "status eq ok"],
        &["http", "http://example.com", "--expect-body", "matches a("],
        &["http", "http://example.com", "--timeout", "120001"],
        &["tcp", "example.com"],
        &["dns", "example.com", "--expect-record", "A"],
        &["dns", "example.com", "--expect-record", "SRV eq x"],
        &["dns", "example.com", "--retry", "11"],
        &["http", "http://example.com", "--extra-ca-file", "nowhere.pem"],
    ]
    .map(|args| {
        let refused = home.run(&[&["check"], args].concat());
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{args:?}");
        refused.err.trim_end().to_owned()
    });
    insta::assert_snapshot!(refusals.join("\n"), @"
    error: `url` must be an absolute URL that begins with http:// or https:// (given: `ftp://example.com`)
    error: `method` must be one of GET, POST, HEAD, PUT, PATCH, DELETE, OPTIONS (given: `FETCH`)
    error: --header `no colon` has no colon; write `Name: value`
    error: --expect-status `eq` has no code; write `eq 200`
    error: `status_code_assertions[0].comparator` must be one of eq, neq, gt, gte, lt, lte (given: `about`)
    error: --expect-header `server` has no comparator; write `content-type contains json`
    error: --expect-json `$.status is ok` has no comparator; write `$.status eq ok`
    error: `json_assertions[0].path` must be a JSONPath, which begins with `$`, such as `$.items[0].name` (given: `status`)
    error: `body_assertions[0].target` must be a regular expression: unclosed group at character 2 (given: `a(`)
    error: `timeout` must be a whole number from 0 to 120000 (given: `120001`)
    error: `uri` must be host:port, such as example.com:443 (given: `example.com`)
    error: --expect-record `A` has no comparator; write `A eq 203.0.113.10`
    error: `record_assertions[0].record` must be one of A, AAAA, CNAME, MX, TXT (given: `SRV`)
    error: `retry` must be a whole number from 0 to 10 (given: `11`)
    error: `extra_ca_file` `nowhere.pem` cannot be used: No such file or directory (os error 2)
    ");
}

// decision 0085
#[tokio::test(flavor = "multi_thread")]
async fn client_certificate_comes_from_files() {
    let (servers, clients) = (Authority::new("Servers"), Authority::new("Clients"));
    let identity = servers.issue(&["127.0.0.1"], Validity::Valid);
    let trust = ClientTrust { authority: &clients, version: TlsVersion::V13 };
    let target = HttpTarget::start_mutual_tls(identity, Protocol::Http1, trust).await;
    target.on("/", ScriptedResponse::ok("fine"));
    let home = Home::new();
    let identity = clients.issue(&["probe"], Validity::Valid);
    for (name, text) in [
        ("ca.pem", servers.pem()),
        ("client.pem", identity.chain_pem()),
        ("client.key", identity.key_pem()),
        ("other.key", pem::OTHER_KEY.to_owned()),
    ] {
        std::fs::write(home.path().join(name), text).unwrap();
    }
    let url = target.url("/");
    let check = |flags: &[&str]| {
        let args = ["check", "http", &url, OPEN, "--extra-ca-file", "ca.pem"];
        home.run(&[&args, flags].concat())
    };
    let certificate = ["--client-certificate-file", "client.pem"];
    let fine = check(&[&certificate[..], &["--client-key-file", "client.key", "--json"]].concat());
    assert_eq!((fine.code, target.hits()), (Some(0), 1), "{}{}", fine.out, fine.err);
    assert!(!fine.out.contains("PRIVATE KEY"), "{}", fine.out);
    let absent = check(&[]);
    assert!(absent.out.contains("requires a client certificate"), "{}", absent.out);
    let wrong = check(&[&certificate[..], &["--client-key-file", "other.key"]].concat());
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.err.contains("`client_key` must be the key of the certificate `CN=probe`"),
        "{}",
        wrong.err
    );
    assert_eq!(check(&certificate).code, Some(2), "its key is required");
}

/// A plain page that redirects to an HTTPS page, and a home that trusts its authority.
struct Redirect {
    plain: HttpTarget,
    secure: HttpTarget,
    home: Home,
}

impl Redirect {
    async fn start() -> Self {
        let authority = Authority::new("Example Authority");
        let identity = authority.issue(&["localhost"], Validity::Valid);
        let secure = HttpTarget::start_tls(identity, Protocol::Http2).await;
        secure.on("/", ScriptedResponse::ok("hello"));
        let plain = HttpTarget::start().await;
        plain.on("/", ScriptedResponse::redirect(302, secure.url_as("localhost", "/")));
        let home = Home::new();
        std::fs::write(home.path().join("ca.pem"), authority.pem()).unwrap();
        Self { plain, secure, home }
    }

    fn check(&self, flags: &[&str]) -> String {
        let url = self.plain.url("/");
        let args = ["check", "http", &url, OPEN, "--extra-ca-file", "ca.pem"];
        let ran = self.home.run(&[&args, flags].concat());
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        ran.out
    }

    /// Replaces ports by names, so that each run gives the same text.
    fn stable(&self, text: &str) -> String {
        let (plain, secure) = (self.plain.address().port(), self.secure.address().port());
        text.replace(&format!(":{plain}"), ":PLAIN").replace(&format!(":{secure}"), ":SECURE")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_shown_per_hop_with_certificate() {
    let redirect = Redirect::start().await;
    let drawn = redirect.check(&["--expect-body", "eq hello"]);
    let rows: Vec<&str> = drawn
        .lines()
        .filter(|line| !line.contains(" ms  ") && !line.is_empty())
        .map(|line| line.split(", 2").next().unwrap())
        .collect();
    insta::assert_snapshot!(redirect.stable(&rows.join("\n")), @"
    http://127.0.0.1:PLAIN/
      302 Found  HTTP/1.1  127.0.0.1:PLAIN
    ↳ https://localhost:SECURE/
      200 OK  HTTP/2  127.0.0.1:SECURE
      certificate  localhost, by Example Authority
    ✓ body eq `hello`
    ✓ success
    ");
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "a complete snapshot")]
async fn json_output_has_all_evidence() {
    let redirect = Redirect::start().await;
    let mut value = serde_json::from_str(&redirect.check(&["--json"])).unwrap();
    still(&mut value);
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    insta::assert_snapshot!(redirect.stable(&pretty), @r#"
    {
      "target": "http://127.0.0.1:PLAIN/",
      "outcome": "success",
      "attempts": [
        {
          "startedAt": "[startedAt]",
          "latencyUs": "[µs]",
          "failure": null,
          "reasons": [],
          "assertions": [],
          "hops": [
            {
              "url": "http://127.0.0.1:PLAIN/",
              "address": "127.0.0.1:PLAIN",
              "phases": {
                "dnsUs": null,
                "connectUs": "[µs]",
                "tlsUs": null,
                "firstByteUs": "[µs]",
                "transferUs": null
              },
              "version": "HTTP/1.1",
              "status": 302,
              "headers": [
                [
                  "location",
                  "https://localhost:SECURE/"
                ],
                [
                  "content-length",
                  "0"
                ],
                [
                  "connection",
                  "close"
                ]
              ],
              "certificate": null
            },
            {
              "url": "https://localhost:SECURE/",
              "address": "127.0.0.1:SECURE",
              "phases": {
                "dnsUs": "[µs]",
                "connectUs": "[µs]",
                "tlsUs": "[µs]",
                "firstByteUs": "[µs]",
                "transferUs": "[µs]"
              },
              "version": "HTTP/2.0",
              "status": 200,
              "headers": [
                [
                  "date",
                  "[date]"
                ],
                [
                  "content-length",
                  "5"
                ]
              ],
              "certificate": {
                "subject": "CN=localhost",
                "issuer": "CN=Example Authority",
                "notBefore": "2020-01-01T00:00:00.000Z",
                "notAfter": "2090-01-01T00:00:00.000Z",
                "chainNotAfter": "2090-01-01T00:00:00.000Z",
                "chain": [
                  "CN=localhost"
                ],
                "fingerprint": "[fingerprint]"
              }
            }
          ],
          "body": "hello",
          "bodyTruncated": false,
          "answers": []
        }
      ]
    }
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn dns_assertions_are_checked() {
    let zone = DnsTarget::start().await;
    zone.address_of("example.test", "192.0.2.7");
    zone.record("example.test", RecordKind::Mx, "10 mail.example.test");
    let server = zone.address().to_string();
    let home = Home::new();
    let check = |args: &[&str]| {
        home.run(&[&["check", "dns", "example.test", "--nameservers", &server], args].concat())
    };
    let held = check(&["--expect-record", "A eq 192.0.2.7", "--expect-record", "MX contains mail"]);
    assert_eq!(held.code, Some(0), "{}", held.out);
    let broken = check(&["--expect-record", "A eq 192.0.2.8"]);
    assert_eq!(broken.code, Some(1));
    let seen = "  ✗ A eq `192.0.2.8`; actual: 192.0.2.7";
    assert!(broken.out.lines().any(|line| line == seen), "{}", broken.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_is_retried_the_given_number() {
    let target = HttpTarget::start().await;
    target.on_each("/", vec![ScriptedResponse::status(500), ScriptedResponse::ok("now")]);
    let ran = Home::new().run(&["check", "http", &target.url("/"), OPEN, "--retry", "1"]);
    assert_eq!((ran.code, target.hits()), (Some(0), 2), "{}", ran.out);
    assert!(ran.out.contains("attempt 1 of 2") && ran.out.contains("attempt 2 of 2"));
}
