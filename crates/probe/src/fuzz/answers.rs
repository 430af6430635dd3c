//! The fuzz target `answers`: decodes a nameserver's message into comparable records.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_proto::op::{MessageType, Query};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use rules::RecordKind;

use crate::limits::DNS_ALIASES;
use crate::resolve::{absolute, decode_response, follow};
use crate::transport::dns::{record, record_type};

/// The queried name.
const ASKED: &str = "www.example.com";

/// Decodes a message as the response to a query for [`ASKED`]: the first byte chooses the queried
/// type, the rest is the message.
///
/// # Panics
///
/// If a message for another query is accepted, or a record has the wrong type or name. Also if too
/// many aliases are followed, or one that is not in the response.
pub fn answers(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    let kind = RecordKind::ALL[usize::from(*choice) % RecordKind::ALL.len()];
    let name = absolute(ASKED).expect("the name is valid");
    let question = Query::query(name.clone(), record_type(kind));
    let Some(id) = bytes.first_chunk().map(|id| u16::from_be_bytes(*id)) else { return };
    assert!(
        decode_response(bytes, id.wrapping_add(1), &question).is_none(),
        "a response to another query is ignored"
    );
    let Some(Ok(message)) = decode_response(bytes, id, &question) else { return };
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

/// Checks that each alias is in the response, and that there are not too many.
fn led_by(answers: &[Record], name: &Name, aliases: &[Name]) {
    assert!(aliases.len() <= DNS_ALIASES + 1, "{} aliases", aliases.len());
    let mut at = name;
    for next in aliases {
        let leads = |record: &Record| {
            let is_alias = record.record_type() == RecordType::CNAME;
            let target = matches!(&record.data, RData::CNAME(to) if to.0 == *next);
            is_alias && target && record.name.eq_ignore_root(at)
        };
        assert!(answers.iter().any(leads), "no alias from {at} to {next}");
        at = next;
    }
}

/// Checks that the value has the format of its type.
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
