//! DNS checks: queried types and assertions.

use proptest::prelude::*;
use rules::RecordComparator::{self, Contains, Eq, Neq, NotContains};
use rules::RecordKind::{self, A, Aaaa, Cname, Mx, Txt};
use rules::monitor::{DnsCheck, RecordAssertion};

use super::{DnsPlan, assess};
use crate::check::findings::Findings;
use crate::check::{DnsAnswer, DnsObservation, DnsRecord, Phases};

fn plan(uri: &str, assertions: &[(RecordKind, RecordComparator, &str)]) -> Result<DnsPlan, String> {
    let record_assertions = assertions
        .iter()
        .map(|(record, comparator, target)| RecordAssertion {
            record: *record,
            target: (*target).to_owned(),
            comparator: *comparator,
        })
        .collect();
    DnsPlan::new(&DnsCheck { uri: uri.to_owned(), record_assertions })
}

fn answer(kind: RecordKind, rcode: &str, values: &[&str]) -> DnsAnswer {
    DnsAnswer {
        kind,
        rcode: rcode.to_owned(),
        server: None,
        over_tcp: false,
        aliases: Vec::new(),
        records: values
            .iter()
            .map(|value| DnsRecord { value: (*value).to_owned(), ttl: 60 })
            .collect(),
        latency_us: 1,
    }
}

fn found(assertions: &[(RecordKind, RecordComparator, &str)], answers: Vec<DnsAnswer>) -> Findings {
    let plan = plan("example.com", assertions).unwrap();
    assess(&plan, &DnsObservation { answers, phases: Phases::default() })
}

// design: §5 "asking only for the types asserted (A and AAAA when none is)"
#[test]
fn asserted_types_are_queried_once() {
    let kinds = |assertions: &[_]| plan("example.com", assertions).unwrap().kinds;
    assert_eq!(kinds(&[]), [A, Aaaa]);
    assert_eq!(kinds(&[(Txt, Eq, "a"), (Mx, Eq, "b"), (Txt, Neq, "c")]), [Txt, Mx]);
}

#[test]
fn names_are_queried_as_a_labels() {
    let long = format!("{}.example", "a".repeat(63));
    let longest = ["a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61)].join(".");
    for (uri, expected) in [
        ("Example.COM.", "example.com"),
        ("_dmarc.example.com", "_dmarc.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("localhost", "localhost"),
        (&*long, &*long),
        (&*longest, &*longest),
    ] {
        assert_eq!(plan(uri, &[]).map(|plan| plan.name).as_deref(), Ok(expected), "{uri}");
    }
    let label = format!("{}.example", "a".repeat(64));
    let name = format!("{longest}d");
    for uri in ["", ".", "a..b", ".a", "a b.example", "a\u{7}", &label, &name] {
        assert!(plan(uri, &[]).is_err(), "{uri}");
    }
}

// design: §5 "Addresses are compared parsed, names without case and trailing dot, MX as …, TXT joined"
#[test]
fn records_compare_by_type() {
    for (kind, record, comparator, target, holds) in [
        (A, "192.0.2.1", Eq, "192.0.2.1", true),
        (A, "192.0.2.1", Eq, " 192.0.2.1", true),
        (A, "192.0.2.1", Eq, "192.0.2.10", false),
        (A, "192.0.2.1", Eq, "example.com", false),
        (A, "192.0.2.1", Neq, "example.com", true),
        (A, "192.0.2.1", Contains, "192.0.2.", true),
        (Aaaa, "2001:db8::1", Eq, "2001:0DB8:0:0::0001", true),
        (Aaaa, "2001:db8::1", Neq, "2001:0DB8:0:0::0001", false),
        (Aaaa, "2001:db8::1", Contains, "2001:DB8:", true),
        (Cname, "www.example.net", Eq, "WWW.Example.net.", true),
        (Cname, "www.example.net", Contains, "Example.NET.", true),
        (Cname, "xn--bcher-kva.example", Eq, "Bücher.example", true),
        (Mx, "10 mail.example.com", Eq, "10  Mail.example.com.", true),
        (Mx, "10 mail.example.com", Eq, "mail.example.com", false),
        (Mx, "10 mail.example.com", Contains, "mail.example.com", true),
        (Txt, "v=spf1 -all", Eq, "v=spf1 -all", true),
        (Txt, "v=spf1 -all", Eq, "V=spf1 -all", false),
        (Txt, "v=spf1 -all", Contains, "-all", true),
        (Txt, "v=spf1 -all", NotContains, "-ALL", true),
    ] {
        let found = found(&[(kind, comparator, target)], vec![answer(kind, "NOERROR", &[record])]);
        assert_eq!(found.assertions[0].passed, holds, "{record} {comparator} {target}");
        assert_eq!(found.reasons.is_empty(), holds);
    }
}

// design: §5 "Positive comparators need any record, negative ones all; an existing name without
// such records satisfies the negative ones"
#[test]
fn positive_comparators_need_any_record_negative_all() {
    let two = &["a.example", "b.example"][..];
    for (values, comparator, target, reason) in [
        (two, Eq, "b.example", ""),
        (two, Eq, "c", "no record of type CNAME is `c`: a.example, b.example"),
        (two, Contains, "b.", ""),
        (two, Contains, "c.", "no record of type CNAME contains `c.`: a.example, b.example"),
        (two, Neq, "c", ""),
        (two, Neq, "b.example", "a record of type CNAME is `b.example`: `b.example`"),
        (two, NotContains, "c.", ""),
        (two, NotContains, "b.", "a record of type CNAME contains `b.`: `b.example`"),
        (&[], Eq, "c", "no record of type CNAME is `c`: no records"),
        (&[], Contains, "", "no record of type CNAME contains ``: no records"),
        (&[], Neq, "c", ""),
        (&[], NotContains, "", ""),
    ] {
        let found = found(&[(Cname, comparator, target)], vec![answer(Cname, "NOERROR", values)]);
        assert_eq!(found.reasons.join("; "), reason, "{comparator} {target}");
    }
}

// design: §5 "NXDOMAIN, SERVFAIL, REFUSED and time-outs are failures"
#[test]
fn error_response_code_fails_any_assertion() {
    for (rcode, reason) in [
        ("NXDOMAIN", "`example.com` does not exist (NXDOMAIN)"),
        ("SERVFAIL", "looking up `example.com` answered SERVFAIL"),
        ("REFUSED", "looking up `example.com` answered REFUSED"),
    ] {
        let both = vec![answer(A, rcode, &[]), answer(Aaaa, rcode, &[])];
        assert_eq!(found(&[], both).reasons, [reason]);
        let negative = found(&[(Txt, Neq, "x")], vec![answer(Txt, rcode, &[])]);
        assert_eq!(negative.reasons, [reason]);
        assert!(!negative.assertions[0].passed);
        assert_eq!(negative.assertions[0].actual, rcode);
    }
    let one = vec![answer(A, "NOERROR", &["192.0.2.1"]), answer(Aaaa, "SERVFAIL", &[])];
    assert_eq!(found(&[], one).reasons, ["looking up `example.com` answered SERVFAIL"]);
    let missing = vec![answer(A, "NOERROR", &["192.0.2.1"])];
    assert_eq!(
        found(&[], missing).reasons,
        ["the AAAA records of `example.com` were not answered"]
    );
}

#[test]
fn name_without_address_fails_without_assertions() {
    let none: &[&str] = &[];
    for (a, aaaa, reason) in [
        (&["192.0.2.1"][..], none, ""),
        (none, &["2001:db8::1"][..], ""),
        (none, none, "`example.com` has no A or AAAA record"),
    ] {
        let found = found(&[], vec![answer(A, "NOERROR", a), answer(Aaaa, "NOERROR", aaaa)]);
        assert_eq!(found.reasons.join("; "), reason);
        let allocates = found.reasons.capacity() + found.assertions.capacity() > 0;
        assert_eq!(allocates, !reason.is_empty());
    }
}

#[test]
fn assertion_results_include_actual_values() {
    let assertions = &[(Mx, Eq, "10 mail.example.com"), (Txt, NotContains, "spf")];
    let answers = vec![
        answer(Mx, "NOERROR", &["10 mail.example.com", "20 backup.example.com"]),
        answer(Txt, "NOERROR", &["v=spf1 -all"]),
    ];
    insta::assert_debug_snapshot!(found(assertions, answers), @r#"
    Findings {
        reasons: [
            "a record of type TXT contains `spf`: `v=spf1 -all`",
        ],
        assertions: [
            AssertionResult {
                assertion: "MX eq `10 mail.example.com`",
                passed: true,
                actual: "10 mail.example.com, 20 backup.example.com",
            },
            AssertionResult {
                assertion: "TXT not_contains `spf`",
                passed: false,
                actual: "v=spf1 -all",
            },
        ],
        lacks_memory: false,
    }
    "#);
}

proptest! {
    #[test]
    fn negated_comparators_return_opposite_results(
        uri: String, record: String, target: String, which in 0_usize..5,
    ) {
        let _ = plan(&uri, &[]);
        let kind = RecordKind::ALL[which];
        let holds = |comparator| {
            let answers = vec![answer(kind, "NOERROR", &[&record])];
            found(&[(kind, comparator, &target)], answers).assertions[0].passed
        };
        prop_assert_ne!(holds(Eq), holds(Neq));
        prop_assert_ne!(holds(Contains), holds(NotContains));
    }
}
