//! Validates a draft: every rule of §2.1–2.3 and §8.1 by the tables, and the few rules between
//! fields that only monitors have.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::draft::{
    HeaderAssertionDraft, HeaderDraft, RecordAssertionDraft, StatusCodeAssertionDraft,
    TextAssertionDraft,
};
use super::{
    Check, CheckDraft, DnsCheck, DnsDraft, Header, HeaderAssertion, HttpCheck, HttpDraft,
    MonitorDraft, MonitorSettings, RecordAssertion, StatusCodeAssertion, TcpCheck, TextAssertion,
};
use crate::{RecordComparator, RecordKind, Validator, Violations, format, tables};

impl MonitorDraft {
    /// Validates the draft; returns all violations. Omitted fields get the defaults of the tables.
    pub fn parse(self) -> Result<MonitorSettings, Violations> {
        let mut reader = Validator::new(tables::monitor(self.check.kind()));
        let settings = settings(&mut reader, self);
        reader.finish(settings)
    }
}

fn settings(reader: &mut Validator, draft: MonitorDraft) -> Option<MonitorSettings> {
    let name = reader.text("name", draft.name);
    let periodicity = reader.word("periodicity", draft.periodicity);
    let timeout = reader.integer("timeout", draft.timeout);
    let degraded_at = reader.integer("degraded_at", draft.degraded_at);
    let retry = reader.integer("retry", draft.retry);
    let active = reader.boolean("active", draft.active);
    let public = reader.boolean("public", draft.public);
    let description = reader.text("description", draft.description);
    let regions = reader.variant_set("regions", draft.regions);
    let check = match draft.check {
        CheckDraft::Http(http) => http_check(reader, http).map(Check::Http),
        CheckDraft::Tcp(tcp) => reader.text("uri", tcp.uri).map(|uri| Check::Tcp(TcpCheck { uri })),
        CheckDraft::Dns(dns) => dns_check(reader, dns).map(Check::Dns),
    };
    Some(MonitorSettings {
        name: name?,
        periodicity: periodicity?,
        timeout_ms: timeout? as u32,
        degraded_at_ms: degraded_at.map(|ms| ms as u32),
        retry: retry? as u8,
        active: active?,
        public: public?,
        description,
        regions,
        check: check?,
    })
}

fn http_check(reader: &mut Validator, draft: HttpDraft) -> Option<HttpCheck> {
    let url = reader.text("url", draft.url);
    let method = reader.word("method", draft.method);
    let body = reader.text("body", draft.body);
    let follow_redirects = reader.boolean("follow_redirects", draft.follow_redirects);
    let headers = reader.blocks("headers", draft.headers, header);
    let status_code_assertions = reader.blocks(
        "status_code_assertions",
        draft.status_code_assertions,
        status_code_assertion,
    );
    let body_assertions = reader.blocks("body_assertions", draft.body_assertions, body_assertion);
    let header_assertions =
        reader.blocks("header_assertions", draft.header_assertions, header_assertion);
    one_host(reader, &headers);
    Some(HttpCheck {
        url: url?,
        method: method?,
        body: body?,
        follow_redirects: follow_redirects?,
        headers,
        status_code_assertions,
        body_assertions,
        header_assertions,
    })
}

fn dns_check(reader: &mut Validator, draft: DnsDraft) -> Option<DnsCheck> {
    let uri = reader.text("uri", draft.uri);
    let record_assertions =
        reader.blocks("record_assertions", draft.record_assertions, record_assertion);
    Some(DnsCheck { uri: uri?, record_assertions })
}

/// Validates a header of a request that we send, including webhooks.
pub(crate) fn header(reader: &mut Validator, draft: HeaderDraft) -> Option<Header> {
    let key = reader.text("key", draft.key);
    let value = reader.text("value", draft.value);
    let (key, value) = (key?, value?);
    // It becomes the authority of the request (design §5), and servers reject other formats.
    if is_host(&key) && (!value.is_ascii() || format::authority(&value).is_err()) {
        return reader.reject_without_value(
            "value",
            "must be a host or host:port in ASCII, as the value of Host",
        );
    }
    Some(Header { key, value })
}

/// Checks that there is at most one authority (RFC 9112 §3.2).
pub(crate) fn one_host(reader: &mut Validator, headers: &[Header]) {
    let hosts = headers.iter().filter(|header| is_host(&header.key)).count();
    if hosts > 1 {
        let _: Option<Header> =
            reader.reject_without_value("headers", "must set Host at most once");
    }
}

fn is_host(key: &str) -> bool {
    key.eq_ignore_ascii_case("host")
}

fn status_code_assertion(
    reader: &mut Validator,
    draft: StatusCodeAssertionDraft,
) -> Option<StatusCodeAssertion> {
    let target = reader.integer("target", draft.target);
    let comparator = reader.word("comparator", draft.comparator);
    Some(StatusCodeAssertion { target: target? as u16, comparator: comparator? })
}

fn body_assertion(reader: &mut Validator, draft: TextAssertionDraft) -> Option<TextAssertion> {
    let target = reader.text("target", draft.target);
    let comparator = reader.word("comparator", draft.comparator);
    Some(TextAssertion { target: target?, comparator: comparator? })
}

fn header_assertion(
    reader: &mut Validator,
    draft: HeaderAssertionDraft,
) -> Option<HeaderAssertion> {
    let key = reader.text("key", draft.key);
    let target = reader.text("target", draft.target);
    let comparator = reader.word("comparator", draft.comparator);
    Some(HeaderAssertion { key: key?, target: target?, comparator: comparator? })
}

fn record_assertion(
    reader: &mut Validator,
    draft: RecordAssertionDraft,
) -> Option<RecordAssertion> {
    let record = reader.word("record", draft.record);
    let target = reader.text("target", draft.target);
    let comparator = reader.word("comparator", draft.comparator);
    let (record, target, comparator) = (record?, target?, comparator?);
    if let Err(allowed) = comparable(record, comparator, &target) {
        return reader.refuse("target", target, allowed);
    }
    Some(RecordAssertion { record, target, comparator })
}

/// Checks the target of a whole comparison: addresses are compared parsed (design §5).
fn comparable(
    record: RecordKind,
    comparator: RecordComparator,
    target: &str,
) -> Result<(), &'static str> {
    let whole = match comparator {
        RecordComparator::Eq | RecordComparator::Neq => true,
        RecordComparator::Contains | RecordComparator::NotContains => false,
    };
    match record {
        RecordKind::A if whole && target.parse::<Ipv4Addr>().is_err() => {
            Err("must be an IPv4 address, such as 192.0.2.1, to be compared with A records")
        }
        RecordKind::Aaaa if whole && target.parse::<Ipv6Addr>().is_err() => {
            Err("must be an IPv6 address, such as 2001:db8::1, to be compared with AAAA records")
        }
        RecordKind::A | RecordKind::Aaaa | RecordKind::Cname | RecordKind::Mx | RecordKind::Txt => {
            Ok(())
        }
    }
}
