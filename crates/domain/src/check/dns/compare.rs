//! How one record is compared with an assertion's target: addresses parsed, names without case and
//! trailing dot, `10 mail.example.com` for a mail exchanger, text as it is.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use rules::{RecordComparator, RecordKind};

/// Whether `record` of the type `kind` is (or, by `comparator`, contains) `target`. The negative
/// comparators ask the same, and want the answer to be no.
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

/// A target that is no address is the same as none.
fn same_address<A: std::str::FromStr + PartialEq>(record: &str, target: &str) -> bool {
    match (record.trim().parse::<A>(), target.trim().parse::<A>()) {
        (Ok(record), Ok(target)) => record == target,
        (Ok(_) | Err(_), _) => false,
    }
}

/// In lower case, as A-labels, without trailing dot, white space folded to one space.
fn canonical(text: &str) -> String {
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ascii = if folded.is_ascii() {
        Cow::Borrowed(&*folded)
    } else {
        idna::domain_to_ascii(&folded).map_or(Cow::Borrowed(&*folded), Cow::Owned)
    };
    ascii.strip_suffix('.').unwrap_or(&ascii).to_lowercase()
}
