//! The target `answers`: a message of a nameserver, up to the records that assertions compare.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_proto::op::{MessageType, Query};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use rules::RecordKind;

use crate::limits::DNS_ALIASES;
use crate::resolve::{absolute, follow, heard};
use crate::transport::dns::{record, record_type};

/// The name that every input answers for.
const ASKED: &str = "www.example.com";

/// Reads a message as an answer about [`ASKED`]: the first byte chooses the type that was asked for,
/// the rest is the message.
///
/// # Panics
/// Where a message that is not ours is heard, where aliases are followed that the answer does not
/// have or too many of them, or where a record is of another type or name than asked for.
pub fn answers(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    let kind = RecordKind::ALL[usize::from(*choice) % RecordKind::ALL.len()];
    let name = absolute(ASKED).expect("a name as any other");
    let question = Query::query(name.clone(), record_type(kind));
    let Some(id) = bytes.first_chunk().map(|id| u16::from_be_bytes(*id)) else { return };
    assert!(heard(bytes, id.wrapping_add(1), &question).is_none(), "of another question");
    let Some(Ok(message)) = heard(bytes, id, &question) else { return };
    assert_eq!(message.metadata.message_type, MessageType::Response);
    let (aliases, records) = follow(message.answers.clone(), &name, record_type(kind));
    led_by(&message.answers, &name, &aliases);
    let end = aliases.last().unwrap_or(&name);
    for found in records {
        assert!(found.name.eq_ignore_root(end), "{} is not {end}", found.name);
        assert_eq!(found.record_type(), record_type(kind));
        if let Some(shown) = record(&found) {
            reads_as(kind, &shown.value);
        }
    }
}

/// Each alias is one that the answer has for the name before, and there are not too many.
fn led_by(answers: &[Record], name: &Name, aliases: &[Name]) {
    assert!(aliases.len() <= DNS_ALIASES + 1, "{} aliases", aliases.len());
    let mut at = name;
    for next in aliases {
        let leads = |record: &Record| {
            let is_alias = record.record_type() == RecordType::CNAME;
            let target = matches!(&record.data, RData::CNAME(to) if to.0 == *next);
            is_alias && target && record.name.eq_ignore_root(at)
        };
        assert!(answers.iter().any(leads), "nothing leads from {at} to {next}");
        at = next;
    }
}

/// What is compared has the form of its type.
fn reads_as(kind: RecordKind, value: &str) {
    let fits = match kind {
        RecordKind::A => value.parse::<Ipv4Addr>().is_ok(),
        RecordKind::Aaaa => value.parse::<Ipv6Addr>().is_ok(),
        RecordKind::Cname => value == "." || (!value.is_empty() && value.is_ascii()),
        RecordKind::Mx => value.split_once(' ').is_some_and(|(first, exchanger)| {
            first.parse::<u16>().is_ok() && !exchanger.is_empty()
        }),
        RecordKind::Txt => true,
    };
    assert!(fits, "a record of type {kind} is `{value}`");
}
