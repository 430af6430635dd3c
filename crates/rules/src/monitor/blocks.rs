//! The blocks of monitors: headers and assertions, with the rules that a table cannot express.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::argument::{FieldValue, settings};
use crate::format::{FormatError, Pattern};
use crate::{NumberComparator, RecordComparator, RecordKind, TextComparator, Validator, format};

settings! {
    /// An assertion on the status code.
    StatusCodeAssertion, StatusCodeAssertionDraft {
        /// 100 to 599.
        target: u16,
        comparator: NumberComparator,
    }

    /// An assertion on the body.
    TextAssertion, TextAssertionDraft checked by comparable_body {
        /// May be empty.
        target: String,
        comparator: TextComparator,
    }

    /// An assertion on values in a body of JSON.
    JsonAssertion, JsonAssertionDraft checked by comparable_json {
        /// A [`JsonPath`].
        path: String,
        /// May be empty.
        target: String,
        comparator: TextComparator,
    }

    /// An assertion on a response header.
    HeaderAssertion, HeaderAssertionDraft checked by comparable_header {
        /// Name of the header, in any case.
        key: String,
        /// May be empty.
        target: String,
        comparator: TextComparator,
    }

    /// An assertion on the records of a type.
    RecordAssertion, RecordAssertionDraft checked by comparable_records {
        record: RecordKind,
        /// May be empty.
        target: String,
        comparator: RecordComparator,
    }
}

/// A request header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// As written.
    pub key: String,
    /// As written; may be empty, and may be a secret.
    pub value: String,
}

/// [`Header`] as written by a caller.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeaderDraft {
    pub key: Option<String>,
    pub value: Option<String>,
}

impl FieldValue for Vec<Header> {
    type Draft = Vec<HeaderDraft>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        let headers = validator.blocks(name, draft, header);
        one_host(validator, &headers);
        Some(headers)
    }

    fn draft(&self) -> Self::Draft {
        let draft = |header: &Header| HeaderDraft {
            key: Some(header.key.clone()),
            value: Some(header.value.clone()),
        };
        self.iter().map(draft).collect()
    }
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

fn comparable_body(validator: &mut Validator, assertion: TextAssertion) -> Option<TextAssertion> {
    comparable_text(validator, assertion.comparator, &assertion.target)?;
    Some(assertion)
}

fn comparable_header(
    validator: &mut Validator,
    assertion: HeaderAssertion,
) -> Option<HeaderAssertion> {
    comparable_text(validator, assertion.comparator, &assertion.target)?;
    Some(assertion)
}

fn comparable_json(validator: &mut Validator, assertion: JsonAssertion) -> Option<JsonAssertion> {
    comparable_text(validator, assertion.comparator, &assertion.target)?;
    Some(assertion)
}

/// Checks the target of a text's assertion: it is an expression if the comparator matches.
fn comparable_text(
    validator: &mut Validator,
    comparator: TextComparator,
    target: &str,
) -> Option<()> {
    if !comparator.takes_expression() {
        return Some(());
    }
    match Pattern::parse(target) {
        Ok(_) => Some(()),
        Err(FormatError(allowed)) => validator.refuse("target", target, allowed),
    }
}

fn comparable_records(
    validator: &mut Validator,
    assertion: RecordAssertion,
) -> Option<RecordAssertion> {
    let RecordAssertion { record, comparator, ref target } = assertion;
    if let Err(allowed) = comparable(record, comparator, target) {
        return validator.refuse("target", target, allowed);
    }
    Some(assertion)
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
