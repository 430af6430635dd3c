//! Encodes a stored monitor. Arguments with a default are always set, other unset arguments stay
//! absent. `rules` computes outputs (design §4).

use buffa::{Inline, MessageField};
use buffa_types::google::protobuf::Timestamp as WireTimestamp;
use rules::monitor::{Check, DnsCheck, HttpCheck, Monitor, TcpCheck};
use rules::{MonitorStatus, Region, Timestamp};
use url::Url;

use super::wire;

/// Visibility of the fields that the contract marks with `debug_redact` (design §4, §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretVisibility {
    /// For write keys: secrets are returned as they were sent.
    Visible,
    /// For read keys: names without values, URLs without credentials and query, and shortened email
    /// addresses.
    Redacted,
}

/// Stored monitor with everything that its response contains.
#[derive(Clone, Copy, Debug)]
pub struct StoredMonitor<'a> {
    pub monitor: &'a Monitor,
    /// Current status.
    pub status: MonitorStatus,
    /// Regions of monitors that specify none.
    pub default_regions: &'a [Region],
    /// Visibility of secrets.
    pub secrets: SecretVisibility,
}

impl StoredMonitor<'_> {
    /// Encodes the monitor in the field of its kind, as `GetMonitor` returns it.
    pub fn any(&self) -> wire::Monitor {
        wire::Monitor { kind: Some(self.kind()) }
    }

    /// Encodes the monitor as a message of its kind. `ListMonitors` has one list per kind.
    pub fn kind(&self) -> wire::Kind {
        match &self.monitor.settings.check {
            Check::Http(check) => wire::Kind::Http(Box::new(self.as_http(check))),
            Check::Tcp(check) => wire::Kind::Tcp(Box::new(self.as_tcp(check))),
            Check::Dns(check) => wire::Kind::Dns(Box::new(self.as_dns(check))),
        }
    }

    /// Encodes the monitor if it is an HTTP monitor.
    pub fn http(&self) -> Option<wire::HttpMonitor> {
        match &self.monitor.settings.check {
            Check::Http(check) => Some(self.as_http(check)),
            Check::Tcp(_) | Check::Dns(_) => None,
        }
    }

    /// Encodes the monitor if it is a TCP monitor.
    pub fn tcp(&self) -> Option<wire::TcpMonitor> {
        match &self.monitor.settings.check {
            Check::Tcp(check) => Some(self.as_tcp(check)),
            Check::Http(_) | Check::Dns(_) => None,
        }
    }

    /// Encodes the monitor if it is a DNS monitor.
    pub fn dns(&self) -> Option<wire::DnsMonitor> {
        match &self.monitor.settings.check {
            Check::Dns(check) => Some(self.as_dns(check)),
            Check::Http(_) | Check::Tcp(_) => None,
        }
    }

    fn as_http(&self, check: &HttpCheck) -> wire::HttpMonitor {
        let settings = &self.monitor.settings;
        wire::HttpMonitor {
            id: Some(self.monitor.id.to_string()),
            name: Some(settings.name.clone()),
            url: Some(encode_url(&check.url, self.secrets)),
            periodicity: Some(settings.periodicity.to_string()),
            method: Some(check.method.to_string()),
            body: Some(encode_text(&check.body, self.secrets)),
            timeout: Some(settings.timeout_ms as i32),
            degraded_at: settings.degraded_at_ms.map(|ms| ms as i32),
            retry: Some(i32::from(settings.retry)),
            follow_redirects: Some(check.follow_redirects),
            active: Some(settings.active),
            public: Some(settings.public),
            description: settings.description.clone(),
            regions: names(&settings.regions),
            headers: headers(check, self.secrets),
            status_code_assertions: status_code_assertions(check),
            body_assertions: body_assertions(check),
            header_assertions: header_assertions(check),
            status: Some(self.status.to_string()),
            effective_degraded_at: Some(settings.effective_degraded_at_ms() as i32),
            resolved_regions: names(settings.resolved_regions(self.default_regions)),
            created_at: encode_instant(self.monitor.created_at),
            updated_at: encode_instant(self.monitor.updated_at),
            revision: Some(revision(self.monitor.updated_at)),
        }
    }

    fn as_tcp(&self, check: &TcpCheck) -> wire::TcpMonitor {
        let settings = &self.monitor.settings;
        wire::TcpMonitor {
            id: Some(self.monitor.id.to_string()),
            name: Some(settings.name.clone()),
            uri: Some(check.uri.clone()),
            periodicity: Some(settings.periodicity.to_string()),
            timeout: Some(settings.timeout_ms as i32),
            degraded_at: settings.degraded_at_ms.map(|ms| ms as i32),
            retry: Some(i32::from(settings.retry)),
            active: Some(settings.active),
            public: Some(settings.public),
            description: settings.description.clone(),
            regions: names(&settings.regions),
            status: Some(self.status.to_string()),
            effective_degraded_at: Some(settings.effective_degraded_at_ms() as i32),
            resolved_regions: names(settings.resolved_regions(self.default_regions)),
            created_at: encode_instant(self.monitor.created_at),
            updated_at: encode_instant(self.monitor.updated_at),
            revision: Some(revision(self.monitor.updated_at)),
        }
    }

    fn as_dns(&self, check: &DnsCheck) -> wire::DnsMonitor {
        let settings = &self.monitor.settings;
        wire::DnsMonitor {
            id: Some(self.monitor.id.to_string()),
            name: Some(settings.name.clone()),
            uri: Some(check.uri.clone()),
            periodicity: Some(settings.periodicity.to_string()),
            timeout: Some(settings.timeout_ms as i32),
            degraded_at: settings.degraded_at_ms.map(|ms| ms as i32),
            retry: Some(i32::from(settings.retry)),
            active: Some(settings.active),
            public: Some(settings.public),
            description: settings.description.clone(),
            regions: names(&settings.regions),
            record_assertions: record_assertions(check),
            status: Some(self.status.to_string()),
            effective_degraded_at: Some(settings.effective_degraded_at_ms() as i32),
            resolved_regions: names(settings.resolved_regions(self.default_regions)),
            created_at: encode_instant(self.monitor.created_at),
            updated_at: encode_instant(self.monitor.updated_at),
            revision: Some(revision(self.monitor.updated_at)),
        }
    }
}

/// Returns the revision of an object that was last changed at this time. Each change has its own
/// time.
pub fn revision(updated_at: Timestamp) -> String {
    updated_at.as_millis().to_string()
}

/// Encodes an instant.
pub fn encode_instant(at: Timestamp) -> MessageField<WireTimestamp, Inline<WireTimestamp>> {
    let millis = at.as_millis();
    MessageField::some(WireTimestamp {
        seconds: millis.div_euclid(1000),
        nanos: millis.rem_euclid(1000) as i32 * 1_000_000,
        ..WireTimestamp::default()
    })
}

/// Encodes a URL or a relative reference. Read keys get no credentials, and `…` instead of a query,
/// which may contain a token.
pub fn encode_url(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible {
        return written.to_owned();
    }
    let mut shown = match Url::parse(written) {
        Ok(mut url) if !url.username().is_empty() || url.password().is_some() => {
            // A URL with credentials permits removing them.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.into()
        }
        Ok(_) | Err(_) => written.to_owned(),
    };
    if let Some(query) = shown.find('?') {
        shown.truncate(query);
        shown.push_str("?…");
    }
    shown
}

/// Encodes a secret text. Read keys get `…` unless it is empty.
pub fn encode_text(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible || written.is_empty() {
        return written.to_owned();
    }
    "…".to_owned()
}

/// Encodes the URL of a webhook. Read keys get only its origin, because the path is often its only
/// secret.
pub fn encode_endpoint(written: &str, secrets: SecretVisibility) -> String {
    if secrets == SecretVisibility::Visible {
        return written.to_owned();
    }
    let origin = Url::parse(written).ok().map(|url| url.origin().ascii_serialization());
    origin.map(|origin| format!("{origin}/…")).unwrap_or_default()
}

fn names(regions: &[Region]) -> Vec<String> {
    regions.iter().map(ToString::to_string).collect()
}

fn headers(check: &HttpCheck, secrets: SecretVisibility) -> Vec<wire::Header> {
    let headers = check.headers.iter();
    headers
        .map(|header| wire::Header {
            key: Some(header.key.clone()),
            value: (secrets == SecretVisibility::Visible).then(|| header.value.clone()),
        })
        .collect()
}

fn status_code_assertions(check: &HttpCheck) -> Vec<wire::StatusCodeAssertion> {
    let assertions = check.status_code_assertions.iter();
    assertions
        .map(|assertion| wire::StatusCodeAssertion {
            target: Some(i32::from(assertion.target)),
            comparator: Some(assertion.comparator.to_string()),
        })
        .collect()
}

fn body_assertions(check: &HttpCheck) -> Vec<wire::BodyAssertion> {
    let assertions = check.body_assertions.iter();
    assertions
        .map(|assertion| wire::BodyAssertion {
            target: Some(assertion.target.clone()),
            comparator: Some(assertion.comparator.to_string()),
        })
        .collect()
}

fn header_assertions(check: &HttpCheck) -> Vec<wire::HeaderAssertion> {
    let assertions = check.header_assertions.iter();
    assertions
        .map(|assertion| wire::HeaderAssertion {
            key: Some(assertion.key.clone()),
            target: Some(assertion.target.clone()),
            comparator: Some(assertion.comparator.to_string()),
        })
        .collect()
}

fn record_assertions(check: &DnsCheck) -> Vec<wire::RecordAssertion> {
    let assertions = check.record_assertions.iter();
    assertions
        .map(|assertion| wire::RecordAssertion {
            record: Some(assertion.record.to_string()),
            target: Some(assertion.target.clone()),
            comparator: Some(assertion.comparator.to_string()),
        })
        .collect()
}
