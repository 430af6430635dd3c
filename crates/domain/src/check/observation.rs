//! The observations of a probe in one attempt: facts and times, without assessment. Times are
//! microseconds of a monotonic clock.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use rules::{RecordKind, Timestamp, limits};
use serde::{Deserialize, Serialize};

/// One attempt of a check.
#[derive(Debug)]
pub struct Attempt {
    /// Start by the probe's wall clock.
    pub started_at: Timestamp,
    /// Duration of the whole exchange, in microseconds.
    pub latency_us: u32,
    /// The received data, possibly incomplete.
    pub observation: Observation,
    /// Reason why the exchange did not complete, if it did not.
    pub failure: Option<Failure>,
}

/// Received data, by kind of check.
#[derive(Debug)]
pub enum Observation {
    Http(HttpObservation),
    Tcp(TcpObservation),
    Dns(DnsObservation),
}

impl Observation {
    /// Returns whether less of a body was read because the memory budget was used up.
    pub const fn is_cut(&self) -> bool {
        matches!(self, Self::Http(seen) if seen.body.memory_exhausted)
    }
}

/// The hops of an HTTP exchange: one, and one more for each followed redirect.
#[derive(Debug, Default)]
pub struct HttpObservation {
    /// In order; the last one has the final response.
    pub hops: Vec<Hop>,
    /// Body of the final response.
    pub body: ObservedBody,
}

/// One request and its response, on a connection of its own.
#[derive(Debug)]
pub struct Hop {
    /// URL without credentials.
    pub url: url::Url,
    /// Connected address.
    pub address: Option<SocketAddr>,
    pub phases: Phases,
    /// Negotiated protocol version.
    pub version: ::http::Version,
    /// Status of the response, if one was received.
    pub status: Option<u16>,
    /// Response headers.
    pub headers: ::http::HeaderMap,
    /// Certificate of the server.
    pub certificate: Option<Certificate>,
}

/// Duration of each phase in microseconds; `None` if the phase did not happen or did not complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    pub dns_us: Option<u32>,
    pub connect_us: Option<u32>,
    pub tls_us: Option<u32>,
    /// From the first byte of the request to the first byte of the response.
    pub first_byte_us: Option<u32>,
    /// From the first to the last byte of the response.
    pub transfer_us: Option<u32>,
}

/// The body of a response after content decoding.
#[derive(Debug, Default)]
pub struct ObservedBody {
    /// Beginning of the body, at most as long as the plan requires.
    pub bytes: Bytes,
    /// Whether the body is longer than `bytes`.
    pub truncated: bool,
    /// Whether `bytes` or the searched part is shorter because the memory budget was used up.
    pub memory_exhausted: bool,
    /// Result of the search for the plan's texts; `None` if `bytes` must be searched instead.
    pub found: Option<SearchResult>,
}

impl ObservedBody {
    /// Keeps what evidence shows, and releases the rest. To be called after the assessment.
    pub fn keep_beginning(&mut self) {
        if self.bytes.len() > limits::EVIDENCE_BODY_BYTES {
            self.bytes = Bytes::copy_from_slice(&self.bytes[..limits::EVIDENCE_BODY_BYTES]);
            self.truncated = true;
        }
    }
}

/// Result of searching a body while it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// Whether the body contains the target of each body assertion, in the plan's order; `false`
    /// for assertions that do not search.
    pub contained: Vec<bool>,
    /// Whether the body is longer than the searched part.
    pub has_more: bool,
}

/// The certificate chain that a server presented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Subject of the leaf.
    pub subject: String,
    /// Issuer of the leaf.
    pub issuer: String,
    /// Start of the leaf's validity.
    pub not_before: Timestamp,
    /// End of the leaf's validity.
    pub not_after: Timestamp,
    /// Earliest end of validity in the chain.
    pub chain_not_after: Timestamp,
    /// Subjects of the chain, leaf first.
    pub chain: Vec<String>,
    /// SHA-256 of the leaf in lower-case hexadecimal.
    pub fingerprint: String,
}

/// A TCP connection.
#[derive(Debug, Default)]
pub struct TcpObservation {
    /// DNS and connect.
    pub phases: Phases,
    /// Connected address.
    pub address: Option<SocketAddr>,
}

/// The responses to the queries of a DNS check.
#[derive(Debug, Default)]
pub struct DnsObservation {
    /// One per queried type, in order.
    pub answers: Vec<DnsAnswer>,
    /// Phases of the whole lookup.
    pub phases: Phases,
}

/// The response to one query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsAnswer {
    /// Queried type.
    pub kind: RecordKind,
    /// Response code, such as `NOERROR` or `NXDOMAIN`.
    pub rcode: String,
    /// Address of the responding server.
    pub server: Option<SocketAddr>,
    /// Whether the response was received over TCP.
    pub over_tcp: bool,
    /// Names in the alias chain, first alias first, without trailing dots.
    pub aliases: Vec<String>,
    /// Records of the queried type.
    pub records: Vec<DnsRecord>,
    /// Duration of the query, in microseconds.
    pub latency_us: u32,
}

/// One DNS record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// Text form: an address, a name without trailing dot, `10 mail.example.com`, or joined text.
    pub value: String,
    /// Time to live in seconds.
    pub ttl: u32,
}

/// Failure of an exchange.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    /// Human-readable description, with the address or name concerned.
    pub detail: String,
}

/// Kinds of failure of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The time limit of the attempt was reached.
    Timeout,
    /// The name does not exist.
    NameNotFound,
    /// The name could not be resolved.
    NameUnresolved,
    /// The egress policy forbids the address.
    AddressRefused,
    ConnectionRefused,
    /// The connection could not be established, or broke.
    ConnectionFailed,
    /// The TLS handshake failed.
    TlsFailed,
    /// The certificate is expired, for another name, or not from a trusted issuer.
    CertificateInvalid,
    /// The response is not valid HTTP or DNS.
    ProtocolBroken,
    /// More than ten redirects.
    RedirectsExhausted,
    /// A redirect to an invalid target.
    RedirectInvalid,
    /// The content encoding of the body could not be decoded.
    BodyUndecodable,
    /// The probe lacks resources, such as file handles or memory.
    ProbeExhausted,
    /// The monitor requires IPv6, and the probe has none.
    ProbeWithoutIpv6,
}

impl Failure {
    /// Creates a failure of this kind.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

impl Observation {
    /// Returns the phases of the final hop, connection or lookup.
    pub fn phases(&self) -> Phases {
        match self {
            Self::Http(http) => http.hops.last().map(|hop| hop.phases).unwrap_or_default(),
            Self::Tcp(tcp) => tcp.phases,
            Self::Dns(dns) => dns.phases,
        }
    }

    /// Returns the status code of the final response, if any.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Http(http) => http.hops.last().and_then(|hop| hop.status),
            Self::Tcp(_) | Self::Dns(_) => None,
        }
    }

    /// Returns the address of the last connection.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Http(http) => {
                http.hops.last().and_then(|hop| hop.address).map(|address| address.ip())
            }
            Self::Tcp(tcp) => tcp.address.map(|address| address.ip()),
            Self::Dns(dns) => {
                dns.answers.first().and_then(|answer| answer.server).map(|server| server.ip())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assessed_body_keeps_its_beginning() {
        let mut body = ObservedBody { bytes: Bytes::from(vec![b'a'; 100]), ..Default::default() };
        body.keep_beginning();
        assert_eq!((body.bytes.len(), body.truncated), (100, false));
        body.bytes = Bytes::from(vec![b'a'; limits::BODY_READ_BYTES_MAX]);
        body.keep_beginning();
        assert_eq!((body.bytes.len(), body.truncated), (limits::EVIDENCE_BODY_BYTES, true));
    }
}
