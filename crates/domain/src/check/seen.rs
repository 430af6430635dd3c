//! What a probe saw in one attempt: facts with their times, no opinion. Times are microseconds of
//! a monotonic clock.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use rules::{RecordKind, Timestamp};
use serde::{Deserialize, Serialize};

/// One attempt of a check.
#[derive(Debug)]
pub struct Attempt {
    /// When it began, by the probe's wall clock.
    pub started_at: Timestamp,
    /// The whole exchange to its last byte, in microseconds.
    pub latency_us: u32,
    /// What came back, as far as it came.
    pub seen: Seen,
    /// Why the exchange did not come to its end; `None` where it did.
    pub failure: Option<Failure>,
}

/// What came back, by kind.
#[derive(Debug)]
pub enum Seen {
    /// An HTTP exchange.
    Http(HttpSeen),
    /// A TCP connection.
    Tcp(TcpSeen),
    /// DNS answers.
    Dns(DnsSeen),
}

impl Seen {
    /// Whether less of a body was read, because there was no memory for more.
    pub const fn is_cut(&self) -> bool {
        matches!(self, Self::Http(seen) if seen.body.cut)
    }
}

/// The hops of an HTTP exchange: one, and one more for each redirect followed.
#[derive(Debug, Default)]
pub struct HttpSeen {
    /// In the order they were made; the last one is the final answer.
    pub hops: Vec<Hop>,
    /// Body of the final answer.
    pub body: Body,
}

/// One request and its answer, on a connection of its own.
#[derive(Debug)]
pub struct Hop {
    /// Where it went; credentials are taken out.
    pub url: url::Url,
    /// The address connected to.
    pub address: Option<SocketAddr>,
    /// How long each phase took.
    pub phases: Phases,
    /// Version of the protocol that was spoken.
    pub version: ::http::Version,
    /// Status of the answer, once it came.
    pub status: Option<u16>,
    /// Headers of the answer.
    pub headers: ::http::HeaderMap,
    /// The certificate the server showed.
    pub certificate: Option<Certificate>,
}

/// Microseconds of each phase; `None` where the phase did not happen or did not end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Name resolution.
    pub dns_us: Option<u32>,
    /// TCP connection.
    pub connect_us: Option<u32>,
    /// TLS handshake.
    pub tls_us: Option<u32>,
    /// From the request's first byte to the answer's first.
    pub first_byte_us: Option<u32>,
    /// From the answer's first byte to its last.
    pub transfer_us: Option<u32>,
}

/// The body of an answer, content-encoding undone.
#[derive(Debug, Default)]
pub struct Body {
    /// Its beginning, at most as much as the plan keeps.
    pub bytes: Bytes,
    /// Whether the body went on after `bytes`.
    pub truncated: bool,
    /// Whether `bytes` are fewer, or fewer were looked through, because there was no memory for more.
    pub cut: bool,
    /// What was found of the texts that the plan looks for; `None` where `bytes` are to be looked through.
    pub found: Option<Found>,
}

/// What was found in a body while it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether the body contains the target of each body assertion, in the plan's order; `false` for those
    /// that look for nothing.
    pub contained: Vec<bool>,
    /// Whether the body went on after what was looked through.
    pub goes_on: bool,
}

/// What a server showed of itself in TLS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Subject of the leaf.
    pub subject: String,
    /// Issuer of the leaf.
    pub issuer: String,
    /// When the leaf begins to hold.
    pub not_before: Timestamp,
    /// When the leaf ends to hold.
    pub not_after: Timestamp,
    /// The first end among all certificates shown.
    pub chain_not_after: Timestamp,
    /// Subjects of the chain, leaf first.
    pub chain: Vec<String>,
    /// SHA-256 of the leaf, lower-case hexadecimal.
    pub fingerprint: String,
}

/// A TCP connection.
#[derive(Debug, Default)]
pub struct TcpSeen {
    /// DNS and connect.
    pub phases: Phases,
    /// The address connected to.
    pub address: Option<SocketAddr>,
}

/// The answers to the queries of a DNS check.
#[derive(Debug, Default)]
pub struct DnsSeen {
    /// One per type asked for, in the order asked.
    pub answers: Vec<DnsAnswer>,
    /// The whole look-up.
    pub phases: Phases,
}

/// The answer to one query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsAnswer {
    /// Type asked for.
    pub kind: RecordKind,
    /// Response code, such as `NOERROR` or `NXDOMAIN`.
    pub rcode: String,
    /// Who answered.
    pub server: Option<SocketAddr>,
    /// Whether the answer came by TCP.
    pub over_tcp: bool,
    /// Names that the chain of aliases went through, first alias first, without trailing dots.
    pub aliases: Vec<String>,
    /// Records of the type asked for.
    pub records: Vec<DnsRecord>,
    /// The query's time.
    pub latency_us: u32,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsRecord {
    /// Text form: an address, a name without trailing dot, `10 mail.example.com`, or joined text.
    pub value: String,
    /// Seconds it may be kept.
    pub ttl: u32,
}

/// Why an exchange did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// In words for people, with the address or name it happened to.
    pub detail: String,
}

/// Kinds of failure of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The attempt's time was over.
    Timeout,
    /// The name does not exist.
    NameNotFound,
    /// The name could not be looked up.
    NameUnresolved,
    /// The address is one that checks may not reach.
    AddressRefused,
    /// Nobody listens there.
    ConnectionRefused,
    /// The connection could not be made or broke.
    ConnectionFailed,
    /// The TLS handshake failed.
    TlsFailed,
    /// The certificate does not hold: expired, for another name, or from nobody we trust.
    CertificateInvalid,
    /// What came back is no HTTP, or no DNS.
    ProtocolBroken,
    /// More than ten redirects.
    RedirectsExhausted,
    /// A redirect that leads nowhere.
    RedirectInvalid,
    /// The body's content-encoding could not be undone.
    BodyUndecodable,
    /// The probe could not do its part: no file handles, no memory.
    ProbeExhausted,
}

impl Failure {
    /// A failure of this kind, in these words.
    pub fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

impl Seen {
    /// Phases of the final hop, connection or look-up.
    pub fn phases(&self) -> Phases {
        match self {
            Self::Http(http) => http.hops.last().map(|hop| hop.phases).unwrap_or_default(),
            Self::Tcp(tcp) => tcp.phases,
            Self::Dns(dns) => dns.phases,
        }
    }

    /// Status code of the final answer, where there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Http(http) => http.hops.last().and_then(|hop| hop.status),
            Self::Tcp(_) | Self::Dns(_) => None,
        }
    }

    /// The address talked to last.
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
