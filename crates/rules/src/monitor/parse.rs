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
        let mut validator = Validator::new(tables::monitor(self.check.kind()));
        let settings = settings(&mut validator, self);
        validator.finish(settings)
    }
}

fn settings(validator: &mut Validator, draft: MonitorDraft) -> Option<MonitorSettings> {
    let name = validator.text("name", draft.name);
    let periodicity = validator.word("periodicity", draft.periodicity);
    let timeout = validator.integer("timeout", draft.timeout);
    let degraded_at = validator.integer("degraded_at", draft.degraded_at);
    let retry = validator.integer("retry", draft.retry);
    let active = validator.boolean("active", draft.active);
    let public = validator.boolean("public", draft.public);
    let description = validator.text("description", draft.description);
    let regions = validator.variant_set("regions", draft.regions);
    let check = match draft.check {
        CheckDraft::Http(http) => http_check(validator, http).map(Check::Http),
        CheckDraft::Tcp(tcp) => {
            validator.text("uri", tcp.uri).map(|uri| Check::Tcp(TcpCheck { uri }))
        }
        CheckDraft::Dns(dns) => dns_check(validator, dns).map(Check::Dns),
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

fn http_check(validator: &mut Validator, draft: HttpDraft) -> Option<HttpCheck> {
    let url = validator.text("url", draft.url);
    let method = validator.word("method", draft.method);
    let body = validator.text("body", draft.body);
    let follow_redirects = validator.boolean("follow_redirects", draft.follow_redirects);
    let headers = validator.blocks("headers", draft.headers, header);
    let status_code_assertions = validator.blocks(
        "status_code_assertions",
        draft.status_code_assertions,
        status_code_assertion,
    );
    let body_assertions =
        validator.blocks("body_assertions", draft.body_assertions, body_assertion);
    let header_assertions =
        validator.blocks("header_assertions", draft.header_assertions, header_assertion);
    one_host(validator, &headers);
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

fn dns_check(validator: &mut Validator, draft: DnsDraft) -> Option<DnsCheck> {
    let uri = validator.text("uri", draft.uri);
    let record_assertions =
        validator.blocks("record_assertions", draft.record_assertions, record_assertion);
    Some(DnsCheck { uri: uri?, record_assertions })
}

/// Validates a header of a request that we send, including webhooks.
pub(crate) fn header(validator: &mut Validator, draft: HeaderDraft) -> Option<Header> {
    let key = validator.text("key", draft.key);
    let value = validator.text("value", draft.value);
    let (key, value) = (key?, value?);
    // It becomes the authority of the request (design §5), and servers reject other formats.
    if is_host(&key) && (!value.is_ascii() || format::authority(&value).is_err()) {
        return validator.reject_without_value(
            "value",
            "must be a host or host:port in ASCII, as the value of Host",
        );
    }
    Some(Header { key, value })
}

/// Checks that there is at most one authority (RFC 9112 §3.2).
pub(crate) fn one_host(validator: &mut Validator, headers: &[Header]) {
    let hosts = headers.iter().filter(|header| is_host(&header.key)).count();
    if hosts > 1 {
        let _: Option<Header> =
            validator.reject_without_value("headers", "must set Host at most once");
    }
}

fn is_host(key: &str) -> bool {
    key.eq_ignore_ascii_case("host")
}

fn status_code_assertion(
    validator: &mut Validator,
    draft: StatusCodeAssertionDraft,
) -> Option<StatusCodeAssertion> {
    let target = validator.integer("target", draft.target);
    let comparator = validator.word("comparator", draft.comparator);
    Some(StatusCodeAssertion { target: target? as u16, comparator: comparator? })
}

fn body_assertion(validator: &mut Validator, draft: TextAssertionDraft) -> Option<TextAssertion> {
    let target = validator.text("target", draft.target);
    let comparator = validator.word("comparator", draft.comparator);
    Some(TextAssertion { target: target?, comparator: comparator? })
}

fn header_assertion(
    validator: &mut Validator,
    draft: HeaderAssertionDraft,
) -> Option<HeaderAssertion> {
    let key = validator.text("key", draft.key);
    let target = validator.text("target", draft.target);
    let comparator = validator.word("comparator", draft.comparator);
    Some(HeaderAssertion { key: key?, target: target?, comparator: comparator? })
}

fn record_assertion(
    validator: &mut Validator,
    draft: RecordAssertionDraft,
) -> Option<RecordAssertion> {
    let record = validator.word("record", draft.record);
    let target = validator.text("target", draft.target);
    let comparator = validator.word("comparator", draft.comparator);
    let (record, target, comparator) = (record?, target?, comparator?);
    if let Err(allowed) = comparable(record, comparator, &target) {
        return validator.refuse("target", target, allowed);
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
