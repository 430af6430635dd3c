//! Warnings about a client certificate that no server gets, or that none accepts any more.

use contract::monitor::wire::Warning;
use rules::Timestamp;
use rules::limits::CLIENT_CERTIFICATE_WARNED_WITHIN;
use rules::monitor::{Check, Monitor};

use super::{is_plain, warning};
use crate::rpc::monitor::refusals::client_certificate;

const FIELD: &str = "client_certificate";

/// Returns the warnings about the client certificate of a monitor.
pub(super) fn warnings(monitor: &Monitor, now: Timestamp) -> Vec<Warning> {
    let Check::Http(http) = &monitor.settings.check else { return Vec::new() };
    let Some(Ok(certificate)) = client_certificate(monitor) else { return Vec::new() };
    let plain = is_plain(http).then(|| {
        "a check of an http URL presents no client certificate; change `url` to https".to_owned()
    });
    let (from, to) = (certificate.not_before, certificate.not_after);
    let validity = if to <= now {
        Some(format!("the client certificate expired at {to}; replace it"))
    } else if from > now {
        Some(format!("the client certificate is not valid before {from}"))
    } else if to.since(now) < CLIENT_CERTIFICATE_WARNED_WITHIN {
        Some(format!("the client certificate expires at {to}; replace it before"))
    } else {
        None
    };
    plain.into_iter().chain(validity).map(|message| warning(FIELD, message)).collect()
}
