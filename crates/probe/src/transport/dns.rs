//! DNS checks: one query per type in the plan, all at once, each response as received.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::Duration;

use domain::check::dns::DnsPlan;
use domain::check::{DnsAnswer, DnsObservation, DnsRecord, Failure};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use hickory_proto::rr::{Name, RData, Record, RecordType};
use rules::RecordKind;
use tokio::time::Instant;

use super::Network;
use crate::progress::{Stage, micros_since};
use crate::resolve::{absolute, look_up};

/// Progress of a DNS check.
pub(crate) struct DnsProgress {
    /// Observations so far.
    pub(crate) observation: DnsObservation,
    /// Queried servers.
    servers: Vec<SocketAddr>,
}

impl DnsProgress {
    pub(crate) fn new() -> Self {
        Self { observation: DnsObservation::default(), servers: Vec::new() }
    }

    /// Returns the failure for a timeout.
    pub(crate) fn out_of_time(&self, plan: &DnsPlan, limit: Duration) -> Failure {
        let server = self.servers.first().copied();
        let mut failure = Stage::LookUp.out_of_time(limit, &plan.name, server);
        if let Some(server) = server {
            write!(failure.detail, " at {server}").expect("writing to a string cannot fail");
        }
        failure
    }
}

/// Sends the queries of `plan`.
pub(crate) async fn exchange(
    network: &Network,
    plan: &DnsPlan,
    progress: &mut DnsProgress,
) -> Result<(), Failure> {
    progress.servers = network.resolver.servers(&plan.name);
    let DnsProgress { observation: seen, servers } = progress;
    let name = absolute(&plan.name)?;
    let start = Instant::now();
    let mut running: FuturesUnordered<_> =
        plan.kinds.iter().map(|kind| query(servers, &name, *kind)).collect();
    let mut failure = None;
    while let Some(answer) = running.next().await {
        match answer {
            Ok(answer) => {
                seen.answers.push(answer);
                seen.answers.sort_by_key(|a| plan.kinds.iter().position(|kind| *kind == a.kind));
            }
            Err(why) => failure = failure.or(Some(why)),
        }
    }
    seen.phases.dns_us = Some(micros_since(start));
    failure.map_or(Ok(()), Err)
}

async fn query(
    servers: &[SocketAddr],
    name: &Name,
    kind: RecordKind,
) -> Result<DnsAnswer, Failure> {
    let start = Instant::now();
    let lookup = look_up(servers, name, record_type(kind)).await?;
    Ok(DnsAnswer {
        kind,
        rcode: lookup.rcode_word(),
        server: Some(lookup.server),
        over_tcp: lookup.over_tcp,
        aliases: lookup.aliases.iter().map(bare).collect(),
        records: lookup.records.iter().filter_map(record).collect(),
        latency_us: micros_since(start),
    })
}

/// Returns the DNS record type of this kind.
pub(crate) fn record_type(kind: RecordKind) -> RecordType {
    match kind {
        RecordKind::A => RecordType::A,
        RecordKind::Aaaa => RecordType::AAAA,
        RecordKind::Cname => RecordType::CNAME,
        RecordKind::Mx => RecordType::MX,
        RecordKind::Txt => RecordType::TXT,
    }
}

/// Converts one record to its comparable form; returns `None` for other types.
pub(crate) fn record(record: &Record) -> Option<DnsRecord> {
    let data = &record.data;
    let value = if let Some(address) = data.ip_addr() {
        address.to_string()
    } else if let RData::CNAME(name) = data {
        bare(&name.0)
    } else if let RData::MX(mx) = data {
        format!("{} {}", mx.preference, bare(&mx.exchange))
    } else if let RData::TXT(txt) = data {
        String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()
    } else {
        return None;
    };
    Some(DnsRecord { value, ttl: record.ttl })
}

/// Returns a name without its trailing dot; the root stays a dot.
fn bare(name: &Name) -> String {
    let text = name.to_ascii();
    match text.strip_suffix('.') {
        Some(bare) if !bare.is_empty() => bare.to_owned(),
        _ => text,
    }
}
