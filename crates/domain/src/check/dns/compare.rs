//! Compares one record with an assertion's target: parsed addresses, names ignoring case and
//! trailing dot, `10 mail.example.com` for MX, text unchanged.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use rules::{RecordComparator, RecordKind};

/// Returns whether `record` of type `kind` equals `target`, or contains it for `contains`. Negative
/// comparators use the same test; the caller inverts the result.
pub(super) fn matches(
    kind: RecordKind,
    comparator: RecordComparator,
    record: &str,
    target: &str,
) -> bool {
    match comparator {
        RecordComparator::Eq | RecordComparator::Neq => is(kind, record, target),
        RecordComparator::Contains | RecordComparator::NotContains => {
            contains(kind, record, target)
        }
    }
}

fn is(kind: RecordKind, record: &str, target: &str) -> bool {
    match kind {
        RecordKind::A => same_address::<Ipv4Addr>(record, target),
        RecordKind::Aaaa => same_address::<Ipv6Addr>(record, target),
        RecordKind::Cname | RecordKind::Mx => canonical(record) == canonical(target),
        RecordKind::Txt => record == target,
    }
}

fn contains(kind: RecordKind, record: &str, target: &str) -> bool {
    match kind {
        RecordKind::A | RecordKind::Aaaa | RecordKind::Cname | RecordKind::Mx => {
            canonical(record).contains(&*canonical(target))
        }
        RecordKind::Txt => record.contains(target),
    }
}

/// Compares parsed addresses. A target that is not an address matches nothing.
fn same_address<A: std::str::FromStr + PartialEq>(record: &str, target: &str) -> bool {
    match (record.trim().parse::<A>(), target.trim().parse::<A>()) {
        (Ok(record), Ok(target)) => record == target,
        (Ok(_) | Err(_), _) => false,
    }
}

/// Returns the text in lower case, as A-labels, without trailing dot, with white space collapsed.
fn canonical(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ascii = if folded.is_ascii() {
        Cow::Borrowed(&*folded)
    } else {
        idna::domain_to_ascii(&folded).map_or(Cow::Borrowed(&*folded), Cow::Owned)
    };
    ascii.strip_suffix('.').unwrap_or(&ascii).to_lowercase()
}
