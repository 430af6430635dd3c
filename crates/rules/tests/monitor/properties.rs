//! Properties of any input: valid settings round-trip, and nothing panics.

use std::collections::BTreeMap;

use aloft_rules::monitor::{
    Check, ClientKey, DnsCheck, Header, HeaderAssertion, HeartbeatCheck, HttpCheck, JsonAssertion,
    MonitorDraft, MonitorSettings, RecordAssertion, StatusCodeAssertion, TcpCheck, TextAssertion,
};
use aloft_rules::{
    DomainName, HostPort, IpVersion, Method, NumberComparator, Pattern, Periodicity,
    RecordComparator, RecordKind, Region, Secret, Tag, TextComparator,
};
use proptest::collection::{btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::drafts::{dns, header, header_assertion, http, record, tcp, text};

fn a_line() -> impl Strategy<Value = String> {
    "[^\\p{C}\\p{Zl}\\p{Zp}]{1,40}"
}

fn any_text() -> impl Strategy<Value = String> {
    vec(any::<char>().prop_filter("kept by both databases", |c| *c != '\0'), 0..40)
        .prop_map(|characters| characters.into_iter().collect())
}

fn domain() -> impl Strategy<Value = String> {
    "([a-z0-9_]([a-z0-9-]{0,8}[a-z0-9])?\\.){1,3}(com|example|xn--bcher-kva|bücher)\\.?"
        // Hyphens in third and fourth position are reserved for A-labels.
        .prop_filter("no accidental A-label", |name| DomainName::parse(name).is_ok())
}

fn url() -> impl Strategy<Value = String> {
    (
        select(vec!["http", "https", "HTTP"]),
        domain(),
        option::of(1_u16..),
        "(/[a-zA-Z0-9ä %?#]{0,20}[a-z])?",
    )
        .prop_map(|(scheme, host, port, path)| match port {
            Some(port) => format!("{scheme}://{host}:{port}{path}"),
            None => format!("{scheme}://{host}{path}"),
        })
}

fn host_port() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        domain(),
        any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
    ];
    (host, 1_u16..).prop_map(|(host, port)| format!("{host}:{port}"))
}

/// Targets and comparators of texts. Those that match have an expression.
fn comparison() -> impl Strategy<Value = (String, TextComparator)> {
    let patterns = vec![TextComparator::Matches, TextComparator::NotMatches];
    let texts: Vec<_> =
        TextComparator::ALL.iter().copied().filter(|it| !patterns.contains(it)).collect();
    prop_oneof![(any_text(), select(texts)), ("[a-z.*]{1,9}|\\(a\\)?", select(patterns))]
        .prop_filter("an expression repeats something", |(target, comparator)| {
            !matches!(comparator, TextComparator::Matches | TextComparator::NotMatches)
                || Pattern::parse(target).is_ok()
        })
}

/// A certificate with its key.
fn client_identity() -> impl Strategy<Value = (String, ClientKey)> {
    let object = |label: &str, content: &str| {
        format!("-----BEGIN {label}-----\n{content}\n-----END {label}-----\n")
    };
    let label = select(vec!["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]);
    ("[A-Za-z0-9+/]{4}", label, "[A-Za-z0-9+/]{4}").prop_map(move |(certificate, label, key)| {
        let key = ClientKey(Secret::new(object(label, &key)));
        (object("CERTIFICATE", &certificate), key)
    })
}

fn an_http_check() -> impl Strategy<Value = Check> {
    let header = ("X-[A-Za-z0-9-]{1,12}", "[a-zA-Z0-9ä \t]{0,20}")
        .prop_map(|(key, value)| Header { key, value });
    let status = (100_u16..=599, select(NumberComparator::ALL))
        .prop_map(|(target, comparator)| StatusCodeAssertion { target, comparator });
    let body = comparison().prop_map(|(target, comparator)| TextAssertion { target, comparator });
    let json = ("\\$(\\.[a-z]{1,5}|\\[[0-9]\\]){0,4}", comparison())
        .prop_map(|(path, (target, comparator))| JsonAssertion { path, target, comparator });
    let of_header = ("[A-Za-z0-9-]{1,12}", comparison())
        .prop_map(|(key, (target, comparator))| HeaderAssertion { key, target, comparator });
    (
        (url(), select(Method::ALL), any_text(), any::<bool>()),
        (select(IpVersion::ALL), 0..=397_u16, option::of(client_identity())),
        (
            vec(header, 0..=20),
            vec(status, 0..=10),
            vec(body, 0..=10),
            vec(json, 0..=10),
            vec(of_header, 0..=10),
        ),
    )
        .prop_map(|((url, method, body, follow_redirects), tls, blocks)| {
            let (ip_version, certificate_warn_days, identity) = tls;
            let (client_certificate, client_key) = identity.unzip();
            let (
                headers,
                status_code_assertions,
                body_assertions,
                json_assertions,
                header_assertions,
            ) = blocks;
            Check::Http(HttpCheck {
                url,
                method,
                body,
                follow_redirects,
                ip_version,
                certificate_warn_days,
                client_certificate,
                client_key,
                headers,
                status_code_assertions,
                body_assertions,
                json_assertions,
                header_assertions,
            })
        })
}

fn a_record_assertion() -> impl Strategy<Value = RecordAssertion> {
    let partial = vec![RecordComparator::Contains, RecordComparator::NotContains];
    let addresses = any::<std::net::Ipv4Addr>().prop_map(|a| (RecordKind::A, a.to_string()));
    let long = any::<std::net::Ipv6Addr>().prop_map(|a| (RecordKind::Aaaa, a.to_string()));
    let named = (select(vec![RecordKind::Cname, RecordKind::Mx, RecordKind::Txt]), any_text());
    prop_oneof![
        (prop_oneof![addresses, long, named], select(RecordComparator::ALL)),
        ((select(RecordKind::ALL), any_text()), select(partial)),
    ]
    .prop_map(|((record, target), comparator)| RecordAssertion { record, target, comparator })
}

fn a_check() -> impl Strategy<Value = Check> {
    prop_oneof![
        an_http_check(),
        (host_port(), select(IpVersion::ALL))
            .prop_map(|(uri, ip_version)| Check::Tcp(TcpCheck { uri, ip_version })),
        (domain(), vec(a_record_assertion(), 0..=10))
            .prop_map(|(uri, record_assertions)| Check::Dns(DnsCheck { uri, record_assertions })),
    ]
}

fn some_tags() -> impl Strategy<Value = Vec<Tag>> {
    let tag = "[^\\p{C}\\p{Z},][^\\p{C}\\p{Zl}\\p{Zp},]{0,62}[^\\p{C}\\p{Z},]";
    vec(tag, 0..=20).prop_map(|texts| {
        let tags = texts.iter().map(|text| Tag::parse(text).expect("the pattern describes tags"));
        let by_key: BTreeMap<_, _> = tags.map(|tag| (tag.key(), tag)).collect();
        by_key.into_values().collect()
    })
}

fn settings() -> impl Strategy<Value = MonitorSettings> {
    let numbers = (0_u32..=120_000, option::of(0_u32..=120_000), 0_u8..=10);
    let texts = (a_line(), option::of(any_text()), select(Periodicity::ALL));
    let regions = btree_set(select(Region::ALL), 0..=44);
    let sets = (some_tags(), regions);
    (numbers, texts, any::<(bool, bool)>(), sets, a_check()).prop_map(
        |((timeout_ms, degraded_at_ms, retry), texts, (active, public), (tags, regions), check)| {
            let (name, description, periodicity) = texts;
            MonitorSettings {
                name,
                periodicity,
                timeout_ms,
                degraded_at_ms,
                retry,
                active,
                public,
                description,
                tags,
                regions: regions.into_iter().collect(),
                check,
            }
        },
    )
}

fn heartbeat_settings() -> impl Strategy<Value = MonitorSettings> {
    let times = (30_u32..=31_622_400, 0_u32..=31_622_400);
    (a_line(), option::of(any_text()), any::<(bool, bool)>(), some_tags(), times).prop_map(
        |(name, description, (active, public), tags, (interval, grace))| {
            let check = Check::Heartbeat(HeartbeatCheck { interval, grace });
            MonitorSettings {
                active,
                public,
                description,
                tags,
                ..MonitorSettings::new(name, Periodicity::ThirtySeconds, check)
            }
        },
    )
}

proptest! {
    #[test]
    fn valid_heartbeats_round_trip_through_draft(settings in heartbeat_settings()) {
        prop_assert_eq!(MonitorDraft::from(&settings).parse(), Ok(settings));
    }

    #[test]
    fn valid_settings_round_trip_through_draft(settings in settings()) {  // design: §4
        prop_assert_eq!(MonitorDraft::from(&settings).parse(), Ok(settings));
    }

    #[test]
    fn parsing_any_text_never_panics(a in any::<String>(), b in any::<String>()) {
        let _ = tcp(&a).parse();
        let _ = dns(&a, vec![record(&a, &b, "eq"), record("A", &b, &a)]).parse();
        let _ = http(|draft, http| {
            draft.name = text(&a);
            draft.periodicity = text(&b);
            draft.description = text(&b);
            draft.tags = vec![a.clone(), b.clone(), a.to_uppercase()];
            draft.regions = vec![a.clone(), b.clone()];
            http.url = text(&a);
            http.method = text(&b);
            http.headers = vec![header(&a, &b), header("host", &a)];
            http.header_assertions = vec![header_assertion(&a, &b, &a)];
        })
        .parse();
    }

    #[test]
    fn parsing_similar_targets_never_panics(
        a in "(https?|tcp|mailto)?(:/{0,3})?[a-zß.@\\[\\]:%_-]{0,12}(xn--)?[0-9a-f:.]{0,12}(:[0-9+-]{0,6})?[/?#]?.{0,4}",
    ) {
        let _ = http(|_, http| http.url = text(&a)).parse();
        let _ = tcp(&a).parse();
        let _ = dns(&a, vec![]).parse();
    }

    #[test]
    fn numbers_are_accepted_exactly_within_limits(timeout: i32, degraded_at: i32, retry: i32) {
        let parsed = http(|draft, _| {
            (draft.timeout, draft.degraded_at, draft.retry) =
                (Some(timeout), Some(degraded_at), Some(retry));
        })
        .parse();
        let within = (0..=120_000).contains(&timeout)
            && (0..=120_000).contains(&degraded_at)
            && (0..=10).contains(&retry);
        prop_assert_eq!(parsed.is_ok(), within);
    }

    #[test]
    fn queried_name_parses_to_itself(a in domain()) {   // design: §5
        let name = DomainName::parse(&a).unwrap();
        prop_assert_eq!(DomainName::parse(name.as_str()), Ok(name));
    }

    #[test]
    fn accepted_target_has_a_port(a in any::<String>()) {
        if let Ok(target) = HostPort::parse(&a) {
            prop_assert_ne!(target.port, 0);
        }
    }
}
