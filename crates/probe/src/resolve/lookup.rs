//! A lookup: a query, and further ones if the response ends at an alias.

use std::net::SocketAddr;

use domain::check::{Failure, FailureKind};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RData, Record, RecordType};

use super::query::{DnsReply, code_name, query};
use crate::limits::DNS_ALIASES;

/// Result of a lookup.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// Response code of the last response.
    pub(crate) rcode: ResponseCode,
    /// Server of the last response.
    pub(crate) server: SocketAddr,
    /// Whether the last response was received over TCP.
    pub(crate) over_tcp: bool,
    /// Names in the alias chain, in order.
    pub(crate) aliases: Vec<Name>,
    /// Records of the queried type at the end of the chain.
    pub(crate) records: Vec<Record>,
}

impl Lookup {
    /// Returns the name of [`Self::rcode`].
    pub(crate) fn rcode_word(&self) -> String {
        code_name(self.rcode)
    }
}

/// Queries `servers` for records of `kind` at `name` and follows aliases, unless they are queried
/// themselves. The caller limits the time.
pub(crate) async fn look_up(
    servers: &[SocketAddr],
    name: &Name,
    kind: RecordType,
) -> Result<Lookup, Failure> {
    let mut asked = name.clone();
    let mut aliases = Vec::new();
    loop {
        let DnsReply { message, server, over_tcp } = query(servers, &asked, kind).await?;
        let (hops, records) = follow(message.answers, &asked, kind);
        let end = hops.last().cloned();
        aliases.extend(hops);
        if aliases.len() > DNS_ALIASES {
            let detail = format!("`{name}` has more than {DNS_ALIASES} aliases");
            return Err(Failure::new(FailureKind::NameUnresolved, detail));
        }
        let rcode = message.metadata.response_code;
        match end {
            // The response ends at an alias without its records.
            Some(end) if records.is_empty() && rcode == ResponseCode::NoError => asked = end,
            _ => return Ok(Lookup { rcode, server, over_tcp, aliases, records }),
        }
    }
}

/// Returns the aliases in `answers` from `name` on, and the records of `kind` at their end.
pub(crate) fn follow(
    answers: Vec<Record>,
    name: &Name,
    kind: RecordType,
) -> (Vec<Name>, Vec<Record>) {
    let mut aliases: Vec<Name> = Vec::new();
    while kind != RecordType::CNAME && aliases.len() <= DNS_ALIASES {
        let at = aliases.last().unwrap_or(name);
        let mut here = answers.iter().filter(|record| record.name.eq_ignore_root(at));
        let Some(next) = here.find_map(alias).cloned() else { break };
        aliases.push(next);
    }
    let end = aliases.last().unwrap_or(name).clone();
    let records = answers
        .into_iter()
        .filter(|record| record.record_type() == kind && record.name.eq_ignore_root(&end))
        .collect();
    (aliases, records)
}

fn alias(record: &Record) -> Option<&Name> {
    if let RData::CNAME(alias) = &record.data { Some(&alias.0) } else { None }
}
