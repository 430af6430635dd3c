//! Every limit of §8.1 for monitors and each of ours: at its bound, and one past it.

use aloft_rules::Secret;
use aloft_rules::monitor::{HttpDraft, MonitorDraft};

use crate::drafts::{
    CERTIFICATE, KEY, body, dns, header, header_assertion, http, json_assertion, record, refused,
    status, tcp, text,
};

type Change = fn(&mut MonitorDraft, &mut HttpDraft, i32);

/// Field, valid values at the bounds, invalid values one past them, and how to set one.
const LIMITS: &[(&str, &[i32], &[i32], Change)] = &[
    ("name", &[1, 256], &[0, 257], |draft, _, size| draft.name = long("n", size)),
    ("description", &[0, 1_024], &[1_025], |draft, _, size| draft.description = long("d", size)),
    ("tags", &[0, 20], &[21], |draft, _, count| {
        draft.tags = (0..count).map(|number| number.to_string()).collect();
    }),
    ("tags", &[1, 64], &[0, 65], |draft, _, size| {
        draft.tags = vec!["ä".repeat(size as usize)];
    }),
    ("timeout", &[0, 120_000], &[-1, 120_001], |draft, _, ms| draft.timeout = Some(ms)),
    ("degraded_at", &[0, 120_000], &[-1, 120_001], |draft, _, ms| draft.degraded_at = Some(ms)),
    ("retry", &[0, 10], &[-1, 11], |draft, _, count| draft.retry = Some(count)),
    ("url", &[2_048], &[2_049], |_, http, size| http.url = url(size)),
    ("body", &[0, 65_536], &[65_537], |_, http, size| http.body = long("b", size)),
    ("client_certificate", &[16_384], &[16_385], |_, http, size| {
        http.client_certificate = Some(filled(CERTIFICATE, size));
        http.client_key = Some(Secret::new(KEY.to_owned()));
    }),
    ("client_key", &[16_384], &[16_385], |_, http, size| {
        http.client_certificate = text(CERTIFICATE);
        http.client_key = Some(Secret::new(filled(KEY, size)));
    }),
    ("headers", &[0, 20], &[21], |_, http, count| http.headers = many(count, header("A", "b"))),
    ("headers[0].key", &[1, 256], &[0, 257], |_, http, size| {
        http.headers = vec![header(&"k".repeat(size as usize), "v")];
    }),
    ("headers[0].value", &[0, 8_192], &[8_193], |_, http, size| {
        http.headers = vec![header("K", &"v".repeat(size as usize))];
    }),
    ("status_code_assertions", &[0, 10], &[11], |_, http, count| {
        http.status_code_assertions = many(count, status(200, "eq"));
    }),
    ("status_code_assertions[0].target", &[100, 599], &[99, 600], |_, http, target| {
        http.status_code_assertions = vec![status(target, "eq")];
    }),
    ("body_assertions", &[0, 10], &[11], |_, http, count| {
        http.body_assertions = many(count, body("ok", "eq"));
    }),
    ("body_assertions[0].target", &[0, 8_192], &[8_193], |_, http, size| {
        http.body_assertions = vec![body(&"t".repeat(size as usize), "eq")];
    }),
    ("json_assertions", &[0, 10], &[11], |_, http, count| {
        http.json_assertions = many(count, json_assertion("$.a", "b", "eq"));
    }),
    ("json_assertions[0].path", &[1, 512], &[0, 513], |_, http, size| {
        let named = |length| format!("$['{}']", "k".repeat(length));
        let path = (size as usize).checked_sub("$['']".len()).map(named);
        let path = path.unwrap_or_else(|| "$".repeat(size as usize));
        http.json_assertions = vec![json_assertion(&path, "v", "eq")];
    }),
    ("json_assertions[0].target", &[0, 8_192], &[8_193], |_, http, size| {
        http.json_assertions = vec![json_assertion("$", &"v".repeat(size as usize), "eq")];
    }),
    ("header_assertions", &[0, 10], &[11], |_, http, count| {
        http.header_assertions = many(count, header_assertion("A", "b", "eq"));
    }),
    ("header_assertions[0].key", &[1, 256], &[0, 257], |_, http, size| {
        http.header_assertions = vec![header_assertion(&"k".repeat(size as usize), "v", "eq")];
    }),
    ("header_assertions[0].target", &[0, 8_192], &[8_193], |_, http, size| {
        http.header_assertions = vec![header_assertion("K", &"v".repeat(size as usize), "eq")];
    }),
];

/// Returns PEM of this size, with a line before its object.
fn filled(pem: &str, size: i32) -> String {
    format!("{}\n{pem}", "x".repeat(size as usize - pem.len() - 1))
}

#[test]
fn values_past_a_limit_are_rejected() {
    // spec: §2.1, §8.1
    for (field, allowed, past, change) in LIMITS {
        for value in *allowed {
            let draft = http(|draft, http| change(draft, http, *value));
            assert_eq!(refused(draft), Vec::<String>::new(), "{field}: {value}");
        }
        for value in *past {
            let draft = http(|draft, http| change(draft, http, *value));
            assert_eq!(refused(draft), [*field], "{field}: {value}");
        }
    }
}

#[test]
fn record_assertions_past_a_limit_are_rejected() {
    // spec: §2.3, §8.1
    let of = |count| many(count, record("TXT", "v", "eq"));
    assert_eq!(refused(dns("example.com", of(10))), Vec::<String>::new());
    assert_eq!(refused(dns("example.com", of(11))), ["record_assertions"]);
    let target = |size| vec![record("TXT", &"v".repeat(size), "eq")];
    assert_eq!(refused(dns("example.com", target(8_192))), Vec::<String>::new());
    assert_eq!(refused(dns("example.com", target(8_193))), ["record_assertions[0].target"]);
}

#[test]
fn text_limits_count_characters() {
    // design: §4
    assert_eq!(refused(http(|draft, _| draft.name = long("🛰", 256))), Vec::<String>::new());
    assert_eq!(refused(http(|draft, _| draft.name = long("🛰", 257))), ["name"]);
}

#[test]
fn uri_past_2048_characters_is_rejected() {
    // issue 3, bad input
    let uri = format!("{}:80", "a".repeat(2_046));
    let message = tcp(&uri).parse().unwrap_err().to_string();
    assert_eq!(message, "`uri` must have at most 2048 characters (given: `2049 characters`)");
    let message = dns(&uri, vec![]).parse().unwrap_err().to_string();
    assert_eq!(message, "`uri` must have at most 2048 characters (given: `2049 characters`)");
}

#[test]
fn dns_name_past_253_characters_is_rejected() {
    // issue 3, bad input
    let label = "a".repeat(63);
    let name = format!("{label}.{label}.{label}.{}", "a".repeat(61));
    assert_eq!(refused(dns(&name, vec![])), Vec::<String>::new());
    let violations = dns(&format!("{name}a"), vec![]).parse().unwrap_err();
    assert_eq!(violations.0[0].allowed, "must have at most 253 characters as a domain name");
}

#[test]
fn blocks_past_the_limit_are_not_validated() {
    let draft = http(|_, http| http.headers = many(100_000, header("", "")));
    assert_eq!(refused(draft).len(), 21, "one for the count, and one for each of the first 20");
}

#[test]
fn reported_violations_are_bounded() {
    let draft = http(|_, http| {
        http.headers = many(20, header("", ""));
        http.header_assertions = many(10, header_assertion("", "", ""));
    });
    assert_eq!(refused(draft).len(), aloft_rules::limits::VIOLATIONS_MAX);
}

#[test]
fn unknown_regions_are_reported_together() {
    let draft = http(|draft, _| draft.regions = (0..1_000).map(|n| n.to_string()).collect());
    let violations = draft.parse().unwrap_err().0;
    assert_eq!(violations.len(), 1);
    assert!(violations[0].given.as_deref().is_some_and(|given| given.chars().count() == 65));
}

fn long(character: &str, size: i32) -> Option<String> {
    text(&character.repeat(size as usize))
}

fn url(size: i32) -> Option<String> {
    let start = "https://example.com/";
    text(&format!("{start}{}", "a".repeat(size as usize - start.len())))
}

fn many<T: Clone>(count: i32, one: T) -> Vec<T> {
    vec![one; count as usize]
}
