//! A monitor: what a user wrote of it ([`MonitorDraft`]), and the same once every rule held
//! ([`MonitorSettings`]). How it is checked belongs to `domain::check`, where it runs to `cadence`.

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

/// A monitor as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Its identifier.
    pub id: MonitorId,
    /// Who owns it.
    pub workspace: WorkspaceId,
    /// Counts edits, from 1; a result of an older revision is stored but not judged.
    pub revision: u32,
    /// What the user wrote.
    pub settings: MonitorSettings,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The arguments of §2.1–2.3, valid. Only [`MonitorDraft::parse`] and the store make one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSettings {
    /// Name, at most 256 characters.
    pub name: String,
    /// How often it is checked.
    pub periodicity: Periodicity,
    /// Milliseconds for one attempt as written; 0 means the ceiling, see [`Self::effective_timeout`].
    pub timeout_ms: u32,
    /// Milliseconds above which a success is slow, as written; see [`Self::effective_degraded_at`].
    pub degraded_at_ms: Option<u32>,
    /// Attempts after the first, 0 to 10.
    pub retry: u8,
    /// Whether it runs.
    pub active: bool,
    /// Whether it is visible on the public status page.
    pub public: bool,
    /// Description, at most 1,024 characters.
    pub description: Option<String>,
    /// Regions as written, sorted, without duplicates; empty means the server's default set.
    pub regions: Vec<Region>,
    /// What is checked.
    pub check: Check,
}

/// What a monitor checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// An HTTP request and its answer (§2.1).
    Http(HttpCheck),
    /// A TCP connection (§2.2).
    Tcp(TcpCheck),
    /// A DNS look-up (§2.3).
    Dns(DnsCheck),
}

/// The arguments and blocks of §2.1 that only an HTTP monitor has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpCheck {
    /// Absolute URL as written, at most 2,048 characters.
    pub url: String,
    /// Request method.
    pub method: Method,
    /// Request body; sent for `POST`, `PUT` and `PATCH`.
    pub body: String,
    /// Whether redirects are followed.
    pub follow_redirects: bool,
    /// Request headers, in order.
    pub headers: Vec<Header>,
    /// What must hold of the status code.
    pub status_code_assertions: Vec<StatusCodeAssertion>,
    /// What must hold of the body.
    pub body_assertions: Vec<TextAssertion>,
    /// What must hold of the headers.
    pub header_assertions: Vec<HeaderAssertion>,
}

/// The argument of §2.2 that only a TCP monitor has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpCheck {
    /// `host:port` as written.
    pub uri: String,
}

/// The argument and block of §2.3 that only a DNS monitor has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DnsCheck {
    /// Domain name as written.
    pub uri: String,
    /// What must hold of the records.
    pub record_assertions: Vec<RecordAssertion>,
}

/// A request header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Name as written.
    pub key: String,
    /// Value as written; may be empty, and may be a secret.
    pub value: String,
}

/// What must hold of the status code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusCodeAssertion {
    /// 100 to 599.
    pub target: u16,
    /// How the status is compared with it.
    pub comparator: NumberComparator,
}

/// What must hold of the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextAssertion {
    /// What the body is compared with; may be empty.
    pub target: String,
    /// How it is compared.
    pub comparator: TextComparator,
}

/// What must hold of a header of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderAssertion {
    /// Name of the header, in any case.
    pub key: String,
    /// What its value is compared with; may be empty.
    pub target: String,
    /// How it is compared.
    pub comparator: TextComparator,
}

/// What must hold of the records of a type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordAssertion {
    /// Type of record.
    pub record: RecordKind,
    /// What a record is compared with; may be empty.
    pub target: String,
    /// How it is compared.
    pub comparator: RecordComparator,
}

impl Check {
    /// The kind's word.
    pub const fn kind(&self) -> MonitorKind {
        match self {
            Self::Http(_) => MonitorKind::Http,
            Self::Tcp(_) => MonitorKind::Tcp,
            Self::Dns(_) => MonitorKind::Dns,
        }
    }
}

impl MonitorSettings {
    /// Time for one attempt: as written, or the ceiling where 0 was written (design §4).
    pub fn effective_timeout(&self) -> Duration {
        Duration::from_millis(u64::from(effective_timeout_ms(self.timeout_ms)))
    }

    /// Milliseconds above which a success is slow: as written, or what follows from the timeout. 0
    /// means never (design §4).
    pub fn effective_degraded_at_ms(&self) -> u32 {
        self.degraded_at_ms.unwrap_or_else(|| degraded_at_ms_of(self.timeout_ms))
    }

    /// The regions it runs in, of which `defaults` hold where none was written.
    pub fn resolved_regions<'a>(&'a self, defaults: &'a [Region]) -> &'a [Region] {
        if self.regions.is_empty() { defaults } else { &self.regions }
    }
}

/// Milliseconds above which a success is slow where nobody wrote it: two thirds of the effective
/// timeout, in whole milliseconds (design §4).
pub const fn degraded_at_ms_of(timeout_ms: u32) -> u32 {
    effective_timeout_ms(timeout_ms) * 2 / 3
}

const fn effective_timeout_ms(timeout_ms: u32) -> u32 {
    if timeout_ms == 0 { crate::tables::TIMEOUT_MS_MAX } else { timeout_ms }
}
