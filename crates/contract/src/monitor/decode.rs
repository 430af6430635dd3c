//! Decodes drafts. Values are not validated, and outputs in a request are dropped. `rules` parses a
//! draft; its violations need `under("monitor")`.

use buffa_types::google::protobuf::FieldMask;
use rules::monitor::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HeaderDraft, HttpDraft, MonitorDraft,
    RecordAssertionDraft, StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};

use rules::{Violation, Violations};

use super::wire;

/// Returns the draft in a request's `monitor` (`request.monitor.into_option()`). Rejects a request
/// without it.
pub fn decode<Message: Into<MonitorDraft>>(
    given: Option<Message>,
) -> Result<MonitorDraft, Violations> {
    given.map(Into::into).ok_or_else(|| Violation::without_value("monitor", "is required").into())
}

/// Returns the names in an update's mask (`request.update_mask.as_option()`), as the specification
/// spells them. `None` means no mask. An empty mask changes nothing.
pub fn mask(given: Option<&FieldMask>) -> Option<&[String]> {
    given.map(|mask| mask.paths.as_slice())
}

/// Message of a monitor of any kind.
pub trait Identified {
    /// Returns the ID in the request.
    fn id(&self) -> Option<&str>;
}

macro_rules! identified {
    ($($message:ident),+) => {$(
        impl Identified for wire::$message {
            fn id(&self) -> Option<&str> {
                self.id.as_deref()
            }
        }
    )+};
}

identified!(HttpMonitor, TcpMonitor, DnsMonitor);

impl From<wire::HttpMonitor> for MonitorDraft {
    fn from(given: wire::HttpMonitor) -> Self {
        Self {
            name: given.name,
            periodicity: given.periodicity,
            timeout: given.timeout,
            degraded_at: given.degraded_at,
            retry: given.retry,
            active: given.active,
            public: given.public,
            description: given.description,
            regions: given.regions,
            check: CheckDraft::Http(HttpDraft {
                url: given.url,
                method: given.method,
                body: given.body,
                follow_redirects: given.follow_redirects,
                headers: all(given.headers),
                status_code_assertions: all(given.status_code_assertions),
                body_assertions: all(given.body_assertions),
                header_assertions: all(given.header_assertions),
            }),
        }
    }
}

impl From<wire::TcpMonitor> for MonitorDraft {
    fn from(given: wire::TcpMonitor) -> Self {
        Self {
            name: given.name,
            periodicity: given.periodicity,
            timeout: given.timeout,
            degraded_at: given.degraded_at,
            retry: given.retry,
            active: given.active,
            public: given.public,
            description: given.description,
            regions: given.regions,
            check: CheckDraft::Tcp(TcpDraft { uri: given.uri }),
        }
    }
}

impl From<wire::DnsMonitor> for MonitorDraft {
    fn from(given: wire::DnsMonitor) -> Self {
        Self {
            name: given.name,
            periodicity: given.periodicity,
            timeout: given.timeout,
            degraded_at: given.degraded_at,
            retry: given.retry,
            active: given.active,
            public: given.public,
            description: given.description,
            regions: given.regions,
            check: CheckDraft::Dns(DnsDraft {
                uri: given.uri,
                record_assertions: all(given.record_assertions),
            }),
        }
    }
}

impl From<wire::Header> for HeaderDraft {
    fn from(given: wire::Header) -> Self {
        Self { key: given.key, value: given.value }
    }
}

impl From<wire::StatusCodeAssertion> for StatusCodeAssertionDraft {
    fn from(given: wire::StatusCodeAssertion) -> Self {
        Self { target: given.target, comparator: given.comparator }
    }
}

impl From<wire::BodyAssertion> for TextAssertionDraft {
    fn from(given: wire::BodyAssertion) -> Self {
        Self { target: given.target, comparator: given.comparator }
    }
}

impl From<wire::HeaderAssertion> for HeaderAssertionDraft {
    fn from(given: wire::HeaderAssertion) -> Self {
        Self { key: given.key, target: given.target, comparator: given.comparator }
    }
}

impl From<wire::RecordAssertion> for RecordAssertionDraft {
    fn from(given: wire::RecordAssertion) -> Self {
        Self { record: given.record, target: given.target, comparator: given.comparator }
    }
}

fn all<Given, Draft: From<Given>>(given: Vec<Given>) -> Vec<Draft> {
    given.into_iter().map(Draft::from).collect()
}
