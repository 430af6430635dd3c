//! A monitor as sent by a caller: not validated, every field optional. RPC, the Terraform
//! provider and the command line create drafts; [`MonitorDraft::parse`] validates them.

use super::{Check, DnsCheck, HttpCheck, MonitorSettings, TcpCheck};
use crate::MonitorKind;

/// Arguments of any monitor, as written; `None` and empty lists mean omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorDraft {
    pub name: Option<String>,
    /// A name of [`crate::Periodicity`].
    pub periodicity: Option<String>,
    /// Milliseconds.
    pub timeout: Option<i32>,
    /// Milliseconds.
    pub degraded_at: Option<i32>,
    /// Attempts after the first.
    pub retry: Option<i32>,
    pub active: Option<bool>,
    /// Whether status pages show its response times.
    pub public: Option<bool>,
    pub description: Option<String>,
    /// Names of [`crate::Region`].
    pub regions: Vec<String>,
    pub check: CheckDraft,
}

/// The arguments of one kind of monitor, as written.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckDraft {
    /// §2.1.
    Http(HttpDraft),
    /// §2.2.
    Tcp(TcpDraft),
    /// §2.3.
    Dns(DnsDraft),
}

/// §2.1, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpDraft {
    pub url: Option<String>,
    /// A name of [`crate::Method`].
    pub method: Option<String>,
    pub body: Option<String>,
    pub follow_redirects: Option<bool>,
    pub headers: Vec<HeaderDraft>,
    pub status_code_assertions: Vec<StatusCodeAssertionDraft>,
    pub body_assertions: Vec<TextAssertionDraft>,
    pub header_assertions: Vec<HeaderAssertionDraft>,
}

/// §2.2, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpDraft {
    /// `host:port`.
    pub uri: Option<String>,
}

/// §2.3, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DnsDraft {
    /// Domain name.
    pub uri: Option<String>,
    pub record_assertions: Vec<RecordAssertionDraft>,
}

/// A request header, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeaderDraft {
    pub key: Option<String>,
    pub value: Option<String>,
}

/// An assertion on the status code, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatusCodeAssertionDraft {
    pub target: Option<i32>,
    /// A name of [`crate::NumberComparator`].
    pub comparator: Option<String>,
}

/// An assertion on the body, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextAssertionDraft {
    pub target: Option<String>,
    /// A name of [`crate::TextComparator`].
    pub comparator: Option<String>,
}

/// An assertion on a header, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeaderAssertionDraft {
    /// Name of the header.
    pub key: Option<String>,
    pub target: Option<String>,
    /// A name of [`crate::TextComparator`].
    pub comparator: Option<String>,
}

/// An assertion on records, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordAssertionDraft {
    /// A name of [`crate::RecordKind`].
    pub record: Option<String>,
    pub target: Option<String>,
    /// A name of [`crate::RecordComparator`].
    pub comparator: Option<String>,
}

impl MonitorDraft {
    /// Creates an empty draft for this check.
    pub const fn new(check: CheckDraft) -> Self {
        Self {
            name: None,
            periodicity: None,
            timeout: None,
            degraded_at: None,
            retry: None,
            active: None,
            public: None,
            description: None,
            regions: Vec::new(),
            check,
        }
    }
}

impl CheckDraft {
    /// Returns the kind of the check.
    pub const fn kind(&self) -> MonitorKind {
        match self {
            Self::Http(_) => MonitorKind::Http,
            Self::Tcp(_) => MonitorKind::Tcp,
            Self::Dns(_) => MonitorKind::Dns,
        }
    }
}

impl From<&MonitorSettings> for MonitorDraft {
    /// Creates the draft that parses to these settings, the base of a masked update.
    fn from(settings: &MonitorSettings) -> Self {
        Self {
            name: Some(settings.name.clone()),
            periodicity: Some(settings.periodicity.to_string()),
            timeout: Some(settings.timeout_ms as i32),
            degraded_at: settings.degraded_at_ms.map(|ms| ms as i32),
            retry: Some(i32::from(settings.retry)),
            active: Some(settings.active),
            public: Some(settings.public),
            description: settings.description.clone(),
            regions: settings.regions.iter().map(ToString::to_string).collect(),
            check: CheckDraft::from(&settings.check),
        }
    }
}

impl From<&Check> for CheckDraft {
    fn from(check: &Check) -> Self {
        match check {
            Check::Http(http) => Self::Http(http.into()),
            Check::Tcp(TcpCheck { uri }) => Self::Tcp(TcpDraft { uri: Some(uri.clone()) }),
            Check::Dns(dns) => Self::Dns(dns.into()),
        }
    }
}

impl From<&HttpCheck> for HttpDraft {
    fn from(http: &HttpCheck) -> Self {
        Self {
            url: Some(http.url.clone()),
            method: Some(http.method.to_string()),
            body: Some(http.body.clone()),
            follow_redirects: Some(http.follow_redirects),
            headers: http
                .headers
                .iter()
                .map(|header| HeaderDraft {
                    key: Some(header.key.clone()),
                    value: Some(header.value.clone()),
                })
                .collect(),
            status_code_assertions: http
                .status_code_assertions
                .iter()
                .map(|assertion| StatusCodeAssertionDraft {
                    target: Some(i32::from(assertion.target)),
                    comparator: Some(assertion.comparator.to_string()),
                })
                .collect(),
            body_assertions: http
                .body_assertions
                .iter()
                .map(|assertion| TextAssertionDraft {
                    target: Some(assertion.target.clone()),
                    comparator: Some(assertion.comparator.to_string()),
                })
                .collect(),
            header_assertions: http
                .header_assertions
                .iter()
                .map(|assertion| HeaderAssertionDraft {
                    key: Some(assertion.key.clone()),
                    target: Some(assertion.target.clone()),
                    comparator: Some(assertion.comparator.to_string()),
                })
                .collect(),
        }
    }
}

impl From<&DnsCheck> for DnsDraft {
    fn from(dns: &DnsCheck) -> Self {
        Self {
            uri: Some(dns.uri.clone()),
            record_assertions: dns
                .record_assertions
                .iter()
                .map(|assertion| RecordAssertionDraft {
                    record: Some(assertion.record.to_string()),
                    target: Some(assertion.target.clone()),
                    comparator: Some(assertion.comparator.to_string()),
                })
                .collect(),
        }
    }
}
