//! Decodes drafts. Values are not validated, and outputs in a request are dropped. `rules` parses a
//! draft; its violations need `under("monitor")`.

use buffa_types::google::protobuf::FieldMask;
use rules::monitor::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HeaderDraft, HttpDraft, MonitorDraft,
    RecordAssertionDraft, StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};
use rules::{Violation, Violations};

use super::wire;
use crate::IntoDraft;

/// Returns the draft in a request's `monitor` (`request.monitor.into_option()`). Rejects a request
/// without it.
pub fn decode<Message: IntoDraft<Draft = MonitorDraft>>(
    given: Option<Message>,
) -> Result<MonitorDraft, Violations> {
    given
        .map(IntoDraft::into_draft)
        .ok_or_else(|| Violation::without_value("monitor", "is required").into())
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

impl IntoDraft for wire::HttpMonitor {
    type Draft = MonitorDraft;

    fn into_draft(self) -> MonitorDraft {
        MonitorDraft {
            name: self.name,
            periodicity: self.periodicity,
            timeout: self.timeout,
            degraded_at: self.degraded_at,
            retry: self.retry,
            active: self.active,
            public: self.public,
            description: self.description,
            regions: self.regions,
            check: CheckDraft::Http(HttpDraft {
                url: self.url,
                method: self.method,
                body: self.body,
                follow_redirects: self.follow_redirects,
                headers: all(self.headers),
                status_code_assertions: all(self.status_code_assertions),
                body_assertions: all(self.body_assertions),
                header_assertions: all(self.header_assertions),
            }),
        }
    }
}

impl IntoDraft for wire::TcpMonitor {
    type Draft = MonitorDraft;

    fn into_draft(self) -> MonitorDraft {
        MonitorDraft {
            name: self.name,
            periodicity: self.periodicity,
            timeout: self.timeout,
            degraded_at: self.degraded_at,
            retry: self.retry,
            active: self.active,
            public: self.public,
            description: self.description,
            regions: self.regions,
            check: CheckDraft::Tcp(TcpDraft { uri: self.uri }),
        }
    }
}

impl IntoDraft for wire::DnsMonitor {
    type Draft = MonitorDraft;

    fn into_draft(self) -> MonitorDraft {
        MonitorDraft {
            name: self.name,
            periodicity: self.periodicity,
            timeout: self.timeout,
            degraded_at: self.degraded_at,
            retry: self.retry,
            active: self.active,
            public: self.public,
            description: self.description,
            regions: self.regions,
            check: CheckDraft::Dns(DnsDraft {
                uri: self.uri,
                record_assertions: all(self.record_assertions),
            }),
        }
    }
}

impl IntoDraft for wire::Header {
    type Draft = HeaderDraft;

    fn into_draft(self) -> HeaderDraft {
        HeaderDraft { key: self.key, value: self.value }
    }
}

impl IntoDraft for wire::StatusCodeAssertion {
    type Draft = StatusCodeAssertionDraft;

    fn into_draft(self) -> StatusCodeAssertionDraft {
        StatusCodeAssertionDraft { target: self.target, comparator: self.comparator }
    }
}

impl IntoDraft for wire::BodyAssertion {
    type Draft = TextAssertionDraft;

    fn into_draft(self) -> TextAssertionDraft {
        TextAssertionDraft { target: self.target, comparator: self.comparator }
    }
}

impl IntoDraft for wire::HeaderAssertion {
    type Draft = HeaderAssertionDraft;

    fn into_draft(self) -> HeaderAssertionDraft {
        HeaderAssertionDraft { key: self.key, target: self.target, comparator: self.comparator }
    }
}

impl IntoDraft for wire::RecordAssertion {
    type Draft = RecordAssertionDraft;

    fn into_draft(self) -> RecordAssertionDraft {
        RecordAssertionDraft {
            record: self.record,
            target: self.target,
            comparator: self.comparator,
        }
    }
}

fn all<Given: IntoDraft>(given: Vec<Given>) -> Vec<Given::Draft> {
    given.into_iter().map(IntoDraft::into_draft).collect()
}
