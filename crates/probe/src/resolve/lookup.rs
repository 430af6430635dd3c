//! A look-up: a question, and the further ones where the answer is only an alias.

use std::net::SocketAddr;

use domain::check::{Failure, FailureKind};
use hickory_proto::op::ResponseCode;
use hickory_proto::rr::{Name, RData, Record, RecordType};

use super::query::{Reply, ask, word};
use crate::limits::DNS_ALIASES;

/// What came of a look-up.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// Code of the last answer.
    pub(crate) rcode: ResponseCode,
    /// Who gave it.
    pub(crate) server: SocketAddr,
    /// Whether it came by TCP.
    pub(crate) over_tcp: bool,
    /// Where the aliases led, in order.
    pub(crate) aliases: Vec<Name>,
    /// Records of the type asked for, at the end of the aliases.
    pub(crate) records: Vec<Record>,
}

impl Lookup {
    /// The word for [`Self::rcode`].
    pub(crate) fn rcode_word(&self) -> String {
        word(self.rcode)
    }
}

/// Asks `servers` for records of `kind` at `name`, and follows aliases, unless they are what is
/// asked for. How long is the caller's to limit.
pub(crate) async fn look_up(
    servers: &[SocketAddr],
    name: &Name,
    kind: RecordType,
) -> Result<Lookup, Failure> {
    let mut asked = name.clone();
    let mut aliases = Vec::new();
    loop {
        let Reply { message, server, over_tcp } = ask(servers, &asked, kind).await?;
        let (hops, records) = follow(message.answers, &asked, kind);
        let end = hops.last().cloned();
        aliases.extend(hops);
        if aliases.len() > DNS_ALIASES {
            let detail = format!("`{name}` leads through more than {DNS_ALIASES} aliases");
            return Err(Failure::new(FailureKind::NameUnresolved, detail));
        }
        let rcode = message.metadata.response_code;
        match end {
            // The answer ends at an alias that it says nothing of.
            Some(end) if records.is_empty() && rcode == ResponseCode::NoError => asked = end,
            _ => return Ok(Lookup { rcode, server, over_tcp, aliases, records }),
        }
    }
}

/// The aliases that `answers` leads through from `name`, and the records of `kind` at their end.
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
