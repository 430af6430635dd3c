//! Converts the flags of `aloft check` to a monitor's draft. Leaves validation to `rules`, as all
//! callers do.

use anyhow::{Result, bail};
use clap::Args;
use rules::monitor::{
    CheckDraft, DnsDraft, HeaderAssertionDraft, HeaderDraft, HttpDraft, MonitorDraft,
    RecordAssertionDraft, StatusCodeAssertionDraft, TcpDraft, TextAssertionDraft,
};

/// Flags of an HTTP check.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    #[arg(help = "Address, such as https://example.com/health")]
    pub(super) url: String,
    /// Request method
    #[arg(long, default_value = "GET")]
    method: String,
    /// Request header, such as 'Accept: text/html'; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Request body, for POST, PUT and PATCH
    #[arg(long)]
    body: Option<String>,
    /// Do not follow redirects; check the redirect response itself
    #[arg(long)]
    no_follow: bool,
    /// Assertion on the status, such as 'eq 200'; repeatable
    #[arg(long = "expect-status", value_name = "COMPARATOR CODE")]
    status: Vec<String>,
    /// Assertion on the body, such as 'contains ok'; repeatable
    #[arg(long = "expect-body", value_name = "COMPARATOR TEXT")]
    body_text: Vec<String>,
    /// Assertion on a header, such as 'content-type contains json'; repeatable
    #[arg(long = "expect-header", value_name = "NAME COMPARATOR TEXT")]
    header_text: Vec<String>,
}

/// Flags of a TCP check.
#[derive(Debug, Args)]
pub(crate) struct TcpArgs {
    /// Address to connect to, such as example.com:443
    pub(super) uri: String,
}

/// Flags of a DNS check.
#[derive(Debug, Args)]
pub(crate) struct DnsArgs {
    /// Domain name, such as example.com
    pub(super) uri: String,
    /// Assertion on the records, such as 'MX contains mail'; repeatable
    #[arg(long = "expect-record", value_name = "TYPE COMPARATOR TEXT")]
    records: Vec<String>,
}

impl HttpArgs {
    pub(super) fn draft(self) -> Result<MonitorDraft> {
        let http = HttpDraft {
            url: Some(self.url),
            method: Some(self.method),
            body: self.body,
            follow_redirects: Some(!self.no_follow),
            headers: self.headers.iter().map(|text| header(text)).collect::<Result<_>>()?,
            status_code_assertions: self
                .status
                .iter()
                .map(|text| status(text))
                .collect::<Result<_>>()?,
            body_assertions: self.body_text.iter().map(|text| body(text)).collect(),
            header_assertions: self
                .header_text
                .iter()
                .map(|text| header_text(text))
                .collect::<Result<_>>()?,
        };
        Ok(MonitorDraft::new(CheckDraft::Http(http)))
    }
}

impl TcpArgs {
    pub(super) fn draft(self) -> MonitorDraft {
        MonitorDraft::new(CheckDraft::Tcp(TcpDraft { uri: Some(self.uri) }))
    }
}

impl DnsArgs {
    pub(super) fn draft(self) -> Result<MonitorDraft> {
        let record_assertions =
            self.records.iter().map(|text| record(text)).collect::<Result<_>>()?;
        Ok(MonitorDraft::new(CheckDraft::Dns(DnsDraft { uri: Some(self.uri), record_assertions })))
    }
}

fn header(text: &str) -> Result<HeaderDraft> {
    let Some((key, value)) = text.split_once(':') else {
        bail!("--header `{text}` has no colon; write `Name: value`");
    };
    Ok(HeaderDraft { key: Some(key.trim().to_owned()), value: Some(value.trim().to_owned()) })
}

fn status(text: &str) -> Result<StatusCodeAssertionDraft> {
    let (comparator, target) = first_word(text);
    let Ok(target) = target.trim().parse() else {
        bail!("--expect-status `{text}` has no code; write `eq 200`");
    };
    Ok(StatusCodeAssertionDraft { target: Some(target), comparator: Some(comparator.to_owned()) })
}

fn body(text: &str) -> TextAssertionDraft {
    let (comparator, target) = first_word(text);
    TextAssertionDraft { target: Some(target.to_owned()), comparator: Some(comparator.to_owned()) }
}

fn header_text(text: &str) -> Result<HeaderAssertionDraft> {
    let (key, rest) = first_word(text);
    let (comparator, target) = first_word(rest);
    if comparator.is_empty() {
        bail!("--expect-header `{text}` has no comparator; write `content-type contains json`");
    }
    Ok(HeaderAssertionDraft {
        key: Some(key.to_owned()),
        target: Some(target.to_owned()),
        comparator: Some(comparator.to_owned()),
    })
}

fn record(text: &str) -> Result<RecordAssertionDraft> {
    let (record, rest) = first_word(text);
    let (comparator, target) = first_word(rest);
    if comparator.is_empty() {
        bail!("--expect-record `{text}` has no comparator; write `A eq 203.0.113.10`");
    }
    Ok(RecordAssertionDraft {
        record: Some(record.to_owned()),
        target: Some(target.to_owned()),
        comparator: Some(comparator.to_owned()),
    })
}

/// Splits a text at the first space.
fn first_word(text: &str) -> (&str, &str) {
    text.trim_start().split_once(' ').unwrap_or((text.trim_start(), ""))
}
