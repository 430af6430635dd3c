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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rules::monitor::{ClientKey, HttpCheck, MonitorSettings};
    use rules::{MonitorId, Periodicity, Secret, WorkspaceId};
    use testkit::pem;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);
    /// Start of the certificate's validity: 2020-01-01.
    const START: Timestamp = Timestamp::from_millis(1_577_836_800_000);
    /// End of its validity: 2090-01-01.
    const END: Timestamp = Timestamp::from_millis(3_786_912_000_000);

    fn warned(url: &str, now: Timestamp) -> Vec<String> {
        let check = Check::Http(HttpCheck {
            client_certificate: Some(pem::CERTIFICATE.to_owned()),
            client_key: Some(ClientKey(Secret::new(pem::KEY.to_owned()))),
            ..HttpCheck::new(url)
        });
        let monitor = Monitor {
            id: MonitorId::from_bits(1),
            workspace: WorkspaceId::from_bits(1),
            revision: 1,
            settings: MonitorSettings::new("partner", Periodicity::OneHour, check),
            created_at: now,
            updated_at: now,
        };
        warnings(&monitor, now).into_iter().map(|it| it.message).collect()
    }

    #[test]
    fn certificate_outside_of_its_validity_is_a_warning() {
        let https = "https://example.com/";
        let quiet = [START, START + DAY, END - DAY * 14];
        assert!(quiet.iter().all(|now| warned(https, *now).is_empty()));
        let told = [START - DAY, END - DAY * 14 + Duration::from_millis(1), END, END + DAY];
        let told: Vec<String> = told.iter().flat_map(|now| warned(https, *now)).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        the client certificate is not valid before 2020-01-01T00:00:00.000Z
        the client certificate expires at 2090-01-01T00:00:00.000Z; replace it before
        the client certificate expired at 2090-01-01T00:00:00.000Z; replace it
        the client certificate expired at 2090-01-01T00:00:00.000Z; replace it
        ");
    }

    #[test]
    fn http_url_presents_no_certificate() {
        assert_eq!(
            warned("http://example.com/", START),
            ["a check of an http URL presents no client certificate; change `url` to https"]
        );
    }
}
