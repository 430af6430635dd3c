//! Valid drafts, to be modified by the tests.

use aloft_rules::Violations;
use aloft_rules::monitor::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HeaderDraft, HttpDraft, JsonAssertionDraft,
    MonitorDraft, RecordAssertionDraft, StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};

/// PEM of the right form, without a certificate in it.
pub(crate) const CERTIFICATE: &str =
    "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
/// PEM of the right form, without a key in it.
pub(crate) const KEY: &str = "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n";

#[expect(clippy::unnecessary_wraps, reason = "fields of drafts are optional")]
pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub(crate) fn http(change: impl FnOnce(&mut MonitorDraft, &mut HttpDraft)) -> MonitorDraft {
    let mut http = HttpDraft { url: text("https://example.com/health"), ..HttpDraft::default() };
    let mut draft = named();
    change(&mut draft, &mut http);
    MonitorDraft { check: CheckDraft::Http(http), ..draft }
}

pub(crate) fn tcp(uri: &str) -> MonitorDraft {
    MonitorDraft {
        check: CheckDraft::Tcp(TcpDraft { uri: text(uri), ..TcpDraft::default() }),
        ..named()
    }
}

pub(crate) fn dns(uri: &str, record_assertions: Vec<RecordAssertionDraft>) -> MonitorDraft {
    let dns = DnsDraft { uri: text(uri), record_assertions };
    MonitorDraft { check: CheckDraft::Dns(dns), ..named() }
}

pub(crate) fn header(key: &str, value: &str) -> HeaderDraft {
    HeaderDraft { key: text(key), value: text(value) }
}

pub(crate) fn status(target: i32, comparator: &str) -> StatusCodeAssertionDraft {
    StatusCodeAssertionDraft { target: Some(target), comparator: text(comparator) }
}

pub(crate) fn body(target: &str, comparator: &str) -> TextAssertionDraft {
    TextAssertionDraft { target: text(target), comparator: text(comparator) }
}

pub(crate) fn json_assertion(path: &str, target: &str, comparator: &str) -> JsonAssertionDraft {
    JsonAssertionDraft { path: text(path), target: text(target), comparator: text(comparator) }
}

pub(crate) fn header_assertion(key: &str, target: &str, comparator: &str) -> HeaderAssertionDraft {
    HeaderAssertionDraft { key: text(key), target: text(target), comparator: text(comparator) }
}

pub(crate) fn record(record: &str, target: &str, comparator: &str) -> RecordAssertionDraft {
    RecordAssertionDraft {
        record: text(record),
        target: text(target),
        comparator: text(comparator),
    }
}

/// Returns the paths of the rejected fields.
pub(crate) fn refused(draft: MonitorDraft) -> Vec<String> {
    match draft.parse() {
        Ok(_) => Vec::new(),
        Err(Violations(violations)) => {
            violations.into_iter().map(|violation| violation.field).collect()
        }
    }
}

fn named() -> MonitorDraft {
    MonitorDraft {
        name: text("API"),
        periodicity: text("30s"),
        ..MonitorDraft::new(CheckDraft::Tcp(TcpDraft::default()))
    }
}
