//! Converts the flags of `aloft check` to a monitor's draft. Leaves validation to `rules`, as all
//! callers do.

use anyhow::{Result, anyhow};
use clap::Args;
use rules::Secret;
use rules::monitor::{CheckDraft, DnsDraft, HttpDraft, MonitorDraft, TcpDraft};

use crate::field_flags::read_text;
use crate::rows;

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
    /// Version of the Internet protocol: any, ipv4 or ipv6
    #[arg(long, value_name = "VERSION")]
    ip_version: Option<String>,
    /// Days before the expiry of a certificate from which the check is degraded
    #[arg(long, value_name = "DAYS")]
    certificate_warn_days: Option<i32>,
    /// PEM file of the client certificate, followed by the rest of its chain
    #[arg(long, value_name = "FILE", requires = "client_key", value_parser = read_text)]
    client_certificate_file: Option<String>,
    /// PEM file of the private key of the client certificate, - for standard input
    #[arg(long = "client-key-file", value_name = "FILE", requires = "client_certificate_file")]
    #[arg(value_parser = |path: &str| read_text(path).map(Secret::new))]
    client_key: Option<Secret<String>>,
    /// Assertion on the status, such as 'eq 200'; repeatable
    #[arg(long = "expect-status", value_name = "COMPARATOR CODE")]
    status: Vec<String>,
    /// Assertion on the body, such as 'contains ok'; repeatable
    #[arg(long = "expect-body", value_name = "COMPARATOR TEXT")]
    body_text: Vec<String>,
    /// Assertion on values in a body of JSON, such as '$.status eq ok'; repeatable
    #[arg(long = "expect-json", value_name = "PATH COMPARATOR TEXT")]
    json_values: Vec<String>,
    /// Assertion on a header, such as 'content-type contains json'; repeatable
    #[arg(long = "expect-header", value_name = "NAME COMPARATOR TEXT")]
    header_text: Vec<String>,
}

/// Flags of a TCP check.
#[derive(Debug, Args)]
pub(crate) struct TcpArgs {
    /// Address to connect to, such as example.com:443
    pub(super) uri: String,
    /// Version of the Internet protocol: any, ipv4 or ipv6
    #[arg(long, value_name = "VERSION")]
    ip_version: Option<String>,
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
            ip_version: self.ip_version,
            certificate_warn_days: self.certificate_warn_days,
            client_certificate: self.client_certificate_file,
            client_key: self.client_key,
            headers: rows("header", &self.headers, rows::header)?,
            status_code_assertions: rows("expect-status", &self.status, rows::status)?,
            body_assertions: self.body_text.iter().map(|text| rows::body(text)).collect(),
            json_assertions: rows("expect-json", &self.json_values, rows::json_value)?,
            header_assertions: rows("expect-header", &self.header_text, rows::header_text)?,
        };
        Ok(MonitorDraft::new(CheckDraft::Http(http)))
    }
}

impl TcpArgs {
    pub(super) fn draft(self) -> MonitorDraft {
        MonitorDraft::new(CheckDraft::Tcp(TcpDraft {
            uri: Some(self.uri),
            ip_version: self.ip_version,
        }))
    }
}

impl DnsArgs {
    pub(super) fn draft(self) -> Result<MonitorDraft> {
        let record_assertions = rows("expect-record", &self.records, rows::record)?;
        Ok(MonitorDraft::new(CheckDraft::Dns(DnsDraft { uri: Some(self.uri), record_assertions })))
    }
}

/// Parses the values of a flag, which errors name.
fn rows<T>(
    flag: &str,
    texts: &[String],
    parse: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<Vec<T>> {
    let row = |text: &String| parse(text).map_err(|why| anyhow!("--{flag} `{text}` {why}"));
    texts.iter().map(row).collect()
}
