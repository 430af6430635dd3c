//! Monitors: the draft of a caller ([`MonitorDraft`]) and the validated settings
//! ([`MonitorSettings`]). `probe` runs checks, `domain::check` assesses them, `cadence` schedules
//! them.

mod draft;
mod mask;
mod parse;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use draft::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HeaderDraft, HttpDraft, MonitorDraft,
    RecordAssertionDraft, StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};

pub(crate) use parse::{header, one_host};

use crate::{
    Method, MonitorId, MonitorKind, NumberComparator, Periodicity, RecordComparator, RecordKind,
    Region, TextComparator, Timestamp, WorkspaceId,
};

/// A stored monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    pub id: MonitorId,
    pub workspace: WorkspaceId,
    /// Check revision, from 1. It grows only if an edit changes what results mean: results of older
    /// revisions are stored but not judged.
    pub revision: u32,
    /// The user's settings.
    pub settings: MonitorSettings,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The valid arguments of §2.1–2.3. Only [`MonitorDraft::parse`] and the store create them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSettings {
    /// At most 256 characters.
    pub name: String,
    pub periodicity: Periodicity,
    /// Timeout of one attempt in milliseconds, as written; 0 means the maximum, see
    /// [`Self::effective_timeout`].
    pub timeout_ms: u32,
    /// Degraded threshold in milliseconds, as written; see [`Self::effective_degraded_at_ms`].
    pub degraded_at_ms: Option<u32>,
    /// Attempts after the first, 0 to 10.
    pub retry: u8,
    pub active: bool,
    /// Whether status pages show its response times.
    pub public: bool,
    /// At most 1,024 characters.
    pub description: Option<String>,
    /// As written, sorted, without duplicates; empty means the server's default set.
    pub regions: Vec<Region>,
    pub check: Check,
}

/// The check of a monitor, by kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// An HTTP request and assertions on its response (§2.1).
    Http(HttpCheck),
    /// A TCP connection (§2.2).
    Tcp(TcpCheck),
    /// A DNS lookup (§2.3).
    Dns(DnsCheck),
}

/// The arguments and blocks of §2.1 that are specific to HTTP monitors. The store encrypts this
/// struct as JSON (`monitors.check_sealed`): a new field needs `#[serde(default)]`, because stored
/// monitors lack it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCheck {
    /// Absolute URL as written, at most 2,048 characters.
    pub url: String,
    pub method: Method,
    /// Request body; sent for `POST`, `PUT` and `PATCH`.
    pub body: String,
    pub follow_redirects: bool,
    /// Request headers, in order.
    pub headers: Vec<Header>,
    pub status_code_assertions: Vec<StatusCodeAssertion>,
    pub body_assertions: Vec<TextAssertion>,
    pub header_assertions: Vec<HeaderAssertion>,
}

/// The argument of §2.2 that is specific to TCP monitors. A new field needs `#[serde(default)]`, as
/// in [`HttpCheck`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCheck {
    /// `host:port` as written.
    pub uri: String,
}

/// The argument and block of §2.3 that are specific to DNS monitors. A new field needs
/// `#[serde(default)]`, as in [`HttpCheck`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsCheck {
    /// Domain name as written.
    pub uri: String,
    pub record_assertions: Vec<RecordAssertion>,
}

/// A request header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// As written.
    pub key: String,
    /// As written; may be empty, and may be a secret.
    pub value: String,
}

/// An assertion on the status code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCodeAssertion {
    /// 100 to 599.
    pub target: u16,
    pub comparator: NumberComparator,
}

/// An assertion on the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextAssertion {
    /// May be empty.
    pub target: String,
    pub comparator: TextComparator,
}

/// An assertion on a response header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderAssertion {
    /// Name of the header, in any case.
    pub key: String,
    /// May be empty.
    pub target: String,
    pub comparator: TextComparator,
}

/// An assertion on the records of a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordAssertion {
    pub record: RecordKind,
    /// May be empty.
    pub target: String,
    pub comparator: RecordComparator,
}

impl Check {
    /// Returns the kind of the check.
    pub const fn kind(&self) -> MonitorKind {
        match self {
            Self::Http(_) => MonitorKind::Http,
            Self::Tcp(_) => MonitorKind::Tcp,
            Self::Dns(_) => MonitorKind::Dns,
        }
    }
}

impl MonitorSettings {
    /// Returns the timeout of one attempt: as written, or the maximum if 0 (design §4).
    pub fn effective_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(effective_timeout_ms(self.timeout_ms)))
    }

    /// Returns the degraded threshold in milliseconds: as written, or derived from the timeout. 0
    /// means never (design §4).
    pub fn effective_degraded_at_ms(&self) -> u32 {
        self.degraded_at_ms.unwrap_or_else(|| degraded_at_ms_of(self.timeout_ms))
    }

    /// Returns the regions to check from, by default `defaults`.
    pub fn resolved_regions<'a>(&'a self, defaults: &'a [Region]) -> &'a [Region] {
        if self.regions.is_empty() { defaults } else { &self.regions }
    }
}

/// Returns the default degraded threshold in milliseconds: two thirds of the effective timeout,
/// rounded down (design §4).
pub const fn degraded_at_ms_of(timeout_ms: u32) -> u32 {
    effective_timeout_ms(timeout_ms) * 2 / 3
}

const fn effective_timeout_ms(timeout_ms: u32) -> u32 {
    if timeout_ms == 0 { crate::tables::TIMEOUT_MS_MAX } else { timeout_ms }
}
