//! Accepted and rejected values of each field besides its limits: names, headers, addresses,
//! defaults.

use std::time::Duration;

use aloft_rules::monitor::{CheckDraft, HttpDraft, MonitorDraft, MonitorSettings};
use aloft_rules::{
    Method, NumberComparator, Periodicity, RecordComparator, RecordKind, Region, Secret, Tag,
    TextComparator,
};

use crate::drafts::{
    CERTIFICATE, KEY, body, dns, header, header_assertion, http, json_assertion, record, refused,
    status, tcp, text,
};

const NONE: [&str; 0] = [];

#[test]
fn omitted_fields_get_the_specified_defaults() {
    // spec: §2.1
    let settings = http(|_, _| ()).parse().unwrap();
    insta::assert_json_snapshot!(settings, @r#"
    {
      "name": "API",
      "periodicity": "30s",
      "timeout_ms": 45000,
      "degraded_at_ms": null,
      "retry": 3,
      "active": false,
      "public": false,
      "description": null,
      "tags": [],
      "regions": [],
      "check": {
        "http": {
          "url": "https://example.com/health",
          "method": "GET",
          "body": "",
          "follow_redirects": true,
          "ip_version": "any",
          "certificate_warn_days": 0,
          "client_certificate": null,
          "client_key": null,
          "headers": [],
          "status_code_assertions": [],
          "body_assertions": [],
          "json_assertions": [],
          "header_assertions": []
        }
      }
    }
    "#);
}

#[test]
fn zero_timeout_means_the_maximum() {
    // design: §4
    let settings = http(|draft, _| {
        draft.timeout = Some(0);
        draft.retry = Some(0);
        draft.degraded_at = Some(0);
    });
    let settings = settings.parse().unwrap();
    assert_eq!((settings.timeout_ms, settings.retry), (0, 0));
    assert_eq!(settings.effective_timeout(), Duration::from_mins(2));
    assert_eq!(settings.effective_degraded_at_ms(), 0, "0 means never");
}

#[test]
fn omitted_degraded_at_is_two_thirds_of_timeout() {
    // design: §4
    let effective = |timeout| {
        let draft = http(|draft, _| draft.timeout = timeout);
        draft.parse().unwrap().effective_degraded_at_ms()
    };
    assert_eq!(effective(None), 30_000);
    assert_eq!(effective(Some(0)), 80_000);
    assert_eq!(effective(Some(1_000)), 666);
}

#[test]
fn empty_description_is_kept() {
    // design: §4
    let settings = http(|draft, _| draft.description = text("")).parse().unwrap();
    assert_eq!(settings.description.as_deref(), Some(""));
}

#[test]
fn only_specified_names_are_accepted() {
    // spec: §2.1, §8.2
    for word in Periodicity::WORDS {
        assert_eq!(refused(http(|draft, _| draft.periodicity = text(word))), NONE, "{word}");
    }
    for word in ["", "7s", "30S", " 30s", "60s"] {
        let draft = http(|draft, _| draft.periodicity = text(word));
        assert_eq!(refused(draft), ["periodicity"], "{word}");
    }
    for word in Method::WORDS {
        assert_eq!(refused(http(|_, http| http.method = text(word))), NONE, "{word}");
    }
    for word in ["", "get", "TRACE", "CONNECT"] {
        assert_eq!(refused(http(|_, http| http.method = text(word))), ["method"], "{word}");
    }
}

#[test]
fn comparators_are_limited_to_their_assertions() {
    // spec: §2.1, §2.3
    let all = [NumberComparator::WORDS, TextComparator::WORDS, RecordComparator::WORDS].concat();
    for word in all.into_iter().chain(["", "EQ", "equals", "like"]) {
        let of = |known: &[&str], path: &'static str| {
            if known.contains(&word) { vec![] } else { vec![path] }
        };
        assert_eq!(
            refused(http(|_, http| http.status_code_assertions = vec![status(200, word)])),
            of(NumberComparator::WORDS, "status_code_assertions[0].comparator"),
        );
        assert_eq!(
            refused(http(|_, http| http.body_assertions = vec![body("", word)])),
            of(TextComparator::WORDS, "body_assertions[0].comparator"),
        );
        assert_eq!(
            refused(http(|_, http| http.json_assertions = vec![json_assertion("$", "", word)])),
            of(TextComparator::WORDS, "json_assertions[0].comparator"),
        );
        assert_eq!(
            refused(http(|_, http| http.header_assertions = vec![header_assertion("A", "", word)])),
            of(TextComparator::WORDS, "header_assertions[0].comparator"),
        );
        assert_eq!(
            refused(dns("example.com", vec![record("TXT", "", word)])),
            of(RecordComparator::WORDS, "record_assertions[0].comparator"),
        );
    }
}

#[test]
fn regions_are_sorted_and_unique() {
    // spec: §2.1; design: §4
    let words = ["koyeb-fra", "fly-ams", "koyeb-fra"];
    let draft = http(|draft, _| draft.regions = words.map(ToOwned::to_owned).to_vec());
    assert_eq!(draft.parse().unwrap().regions, [Region::FlyAms, Region::KoyebFra]);
    let all = Region::WORDS.iter().map(ToString::to_string).collect();
    assert_eq!(http(|draft, _| draft.regions = all).parse().unwrap().regions, Region::ALL);
}

#[test]
fn tags_are_sorted_and_unique_without_case() {
    // issue 18, point 3
    let tagged = |words: &[&str]| {
        let words = words.iter().map(ToString::to_string).collect();
        http(|draft, _| draft.tags = words)
    };
    let sorted = tagged(&["prod", "Team B", "prod", "api", "Ärger"]).parse().unwrap().tags;
    let texts: Vec<_> = sorted.iter().map(Tag::as_str).collect();
    assert_eq!(texts, ["api", "prod", "Team B", "Ärger"]);
    assert_eq!(refused(tagged(&["Prod", "ä", "Ä", "prod", "Prod"])), ["tags", "tags"]);
    insta::assert_snapshot!(
        tagged(&["Prod", "prod", "a,b"]).parse().unwrap_err(),
        @"`tags` has the tag `Prod` in different case (given: `prod`); `tags` has a tag that must not contain a comma (given: `a,b`)"
    );
}

#[test]
fn tag_is_one_visible_line_without_commas() {
    // issue 18, point 3
    for good in ["a", "two words", "team:web", "☂", "100%", "a_b\\c"] {
        assert_eq!(Tag::parse(good).unwrap().as_str(), good);
    }
    for bad in ["", " ", " a", "a ", "a\u{a0}", "a\nb", "a\u{2028}b", "\0", "a,b", ","] {
        assert!(Tag::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn connection_headers_and_invalid_names_are_rejected() {
    // design: §5 HTTP
    for key in ["Host", "Authorization", "x-team", "User-Agent", "Cookie"] {
        let draft = http(|_, http| http.headers = vec![header(key, "a.example")]);
        assert_eq!(refused(draft), NONE, "{key}");
    }
    for key in ["Connection", "te", "TRANSFER-ENCODING", "Content-Length", "a b", "a\r\nb", ":a"] {
        let draft = http(|_, http| http.headers = vec![header(key, "x")]);
        assert_eq!(refused(draft), ["headers[0].key"], "{key}");
    }
    for value in ["a\r\nb: c", "a\nb", "a\rb", "a\0"] {
        let draft = http(|_, http| http.headers = vec![header("A", "b"), header("C", value)]);
        assert_eq!(refused(draft), ["headers[1].value"], "{value:?}");
    }
}

#[test]
fn name_is_one_line_unlike_description() {
    for bad in ["a\nb", "a\r\nSubject: b", "\u{1b}[31m", "a\u{2028}b", "\0"] {
        assert_eq!(refused(http(|draft, _| draft.name = text(bad))), ["name"], "{bad:?}");
    }
    assert_eq!(refused(http(|draft, _| draft.description = text("a\r\n\tb"))), NONE);
    assert_eq!(refused(http(|draft, _| draft.description = text("a\0"))), ["description"]);
}

#[test]
fn host_header_requires_one_authority() {
    // design: §5 HTTP
    for value in ["example.com", "example.com:8080", "[::1]:80", "127.0.0.1"] {
        let draft = http(|_, http| http.headers = vec![header("host", value)]);
        assert_eq!(refused(draft), NONE, "{value}");
    }
    for value in
        ["", "a b", "bücher.example", "example.com:", "https://example.com", "example.com/a"]
    {
        let draft = http(|_, http| http.headers = vec![header("host", value)]);
        assert_eq!(refused(draft), ["headers[0].value"], "{value}");
    }
    let twice = vec![header("Host", "a.example"), header("HOST", "b.example")];
    assert_eq!(refused(http(|_, http| http.headers = twice)), ["headers"]);
}

#[test]
fn connection_headers_may_be_asserted() {
    // spec: §2.1
    let assertion = header_assertion("Transfer-Encoding", "chunked", "eq");
    assert_eq!(refused(http(|_, http| http.header_assertions = vec![assertion])), NONE);
}

// decision 0081
#[test]
fn expressions_and_paths_must_compile() {
    let draft = http(|_, http| {
        http.body_assertions = vec![body("a(", "matches"), body("a(", "contains")];
        http.json_assertions =
            vec![json_assertion("status", "ok", "eq"), json_assertion("$..a", "[", "not_matches")];
        http.header_assertions = vec![header_assertion("Server", r"(?=a)", "matches")];
    });
    insta::assert_snapshot!(draft.parse().unwrap_err(), @"`body_assertions[0].target` must be a regular expression: unclosed group at character 2 (given: `a(`); `json_assertions[0].path` must be a JSONPath, which begins with `$`, such as `$.items[0].name` (given: `status`); `json_assertions[1].target` must be a regular expression: unclosed character class at character 1 (given: `[`); `header_assertions[0].target` must be a regular expression: look-around, including look-ahead and look-behind, is not supported at character 1 (given: `(?=a)`)");
}

// decision 0085
#[test]
fn client_certificate_and_key_come_together() {
    let with = |certificate: Option<&str>, key: Option<&str>| {
        let secret = key.map(|key| Secret::new(key.to_owned()));
        let draft = http(|_, http| {
            http.client_certificate = certificate.map(ToOwned::to_owned);
            http.client_key = secret;
        });
        draft.parse().map(drop).map_err(|violations| violations.to_string())
    };
    assert_eq!(with(Some(CERTIFICATE), Some(KEY)), Ok(()));
    insta::assert_snapshot!(with(Some(CERTIFICATE), None).unwrap_err(), @"`client_key` must be given with `client_certificate`");
    insta::assert_snapshot!(with(None, Some(KEY)).unwrap_err(), @"`client_certificate` must be given with `client_key`");
    // Neither message repeats what may be a secret.
    insta::assert_snapshot!(with(Some(KEY), Some(CERTIFICATE)).unwrap_err(), @"`client_certificate` must have certificates only; the private key belongs in `client_key`, and must be replaced if others may have seen it; `client_key` must have the private key only; certificates belong in `client_certificate`");
    insta::assert_snapshot!(with(Some(""), Some("")).unwrap_err(), @"`client_certificate` must not be empty; `client_key` must not be empty");
}

#[test]
fn address_records_require_matching_addresses() {
    // design: §5 DNS
    for (kind, target, comparator, fine) in [
        (RecordKind::A, "192.0.2.1", "eq", true),
        (RecordKind::A, "192.0.2.1", "neq", true),
        (RecordKind::A, "192.0.2.", "contains", true),
        (RecordKind::A, "", "not_contains", true),
        (RecordKind::A, "", "eq", false),
        (RecordKind::A, "192.0.2", "eq", false),
        (RecordKind::A, "2001:db8::1", "neq", false),
        (RecordKind::Aaaa, "2001:DB8:0::1", "eq", true),
        (RecordKind::Aaaa, "192.0.2.1", "eq", false),
        (RecordKind::Aaaa, "2001:", "contains", true),
        (RecordKind::Cname, "www.example.com.", "eq", true),
        (RecordKind::Mx, "10 mail.example.com", "neq", true),
        (RecordKind::Txt, "", "eq", true),
    ] {
        let draft = dns("example.com", vec![record(kind.as_str(), target, comparator)]);
        let expected: &[&str] = if fine { &[] } else { &["record_assertions[0].target"] };
        assert_eq!(refused(draft), expected, "{kind} {comparator} {target}");
    }
    for kind in ["", "a", "NS", "SOA"] {
        let draft = dns("example.com", vec![record(kind, "", "eq")]);
        assert_eq!(refused(draft), ["record_assertions[0].record"], "{kind}");
    }
}

#[test]
fn blank_name_is_rejected() {
    // design: §4, required texts are never empty
    for (name, expected) in
        [(" ", &["name"][..]), ("\u{a0}\u{3000}  ", &["name"]), (" a ", &[]), ("☂", &[])]
    {
        let draft = http(|draft, _| draft.name = text(name));
        assert_eq!(refused(draft), expected, "{name:?}");
    }
}

#[test]
fn targets_are_kept_as_written() {
    // design: §4
    let kept = |draft: MonitorDraft| -> MonitorSettings { draft.parse().unwrap() };
    let url = "HTTPS://user:pw@Bücher.example:443/a b?q#f";
    let http = kept(http(|_, http: &mut HttpDraft| http.url = text(url)));
    for (settings, written) in [
        (http, url),
        (kept(tcp("LOCALHOST:080")), "LOCALHOST:080"),
        (kept(dns("Ä.example.", vec![])), "Ä.example."),
    ] {
        let read = match MonitorDraft::from(&settings).check {
            CheckDraft::Http(http) => http.url,
            CheckDraft::Tcp(tcp) => tcp.uri,
            CheckDraft::Dns(dns) => dns.uri,
            CheckDraft::Heartbeat(_) => None,
        };
        assert_eq!(read.as_deref(), Some(written));
    }
}
