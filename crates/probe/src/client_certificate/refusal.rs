//! Explains the alerts of servers that refuse a client certificate, or the lack of one.

use domain::check::http::ClientAuth;
use domain::check::{Failure, FailureKind};
use rustls::AlertDescription as Alert;

/// Returns the failure if the server `host` ended TLS with an alert about the client's certificate.
/// In TLS 1.3, the alert arrives after the handshake.
pub(crate) fn refusal(host: &str, alert: Alert, auth: ClientAuth<'_>) -> Option<Failure> {
    let detail = match auth {
        ClientAuth::None if is_about_absence(alert) => format!(
            "`{host}` requires a client certificate; set `client_certificate` and `client_key`"
        ),
        ClientAuth::Withheld if is_about_absence(alert) => format!(
            "`{host}` requires a client certificate, but only the origin of the monitor's own URL \
             gets it, over https"
        ),
        ClientAuth::Unsupported if is_about_absence(alert) => {
            format!("`{host}` requires a client certificate, which this request cannot present")
        }
        ClientAuth::None | ClientAuth::Withheld | ClientAuth::Unsupported => return None,
        ClientAuth::Present(_) => format!("`{host}` {}", explanation(alert)?),
    };
    Some(Failure::new(FailureKind::TlsFailed, detail))
}

/// Returns whether the alert says that there is no certificate. Before TLS 1.3, some servers call an
/// absent one bad.
const fn is_about_absence(alert: Alert) -> bool {
    matches!(alert, Alert::CertificateRequired | Alert::NoCertificate | Alert::BadCertificate)
}

/// Returns what the server says of the certificate. Other alerts are about something else.
fn explanation(alert: Alert) -> Option<&'static str> {
    let known = [
        (
            Alert::UnknownCA,
            "refuses the client certificate, because it does not trust the issuer (unknown_ca)",
        ),
        (
            Alert::CertificateExpired,
            "refuses the client certificate, because it expired or is not valid yet \
             (certificate_expired)",
        ),
        (
            Alert::CertificateRevoked,
            "refuses the client certificate, because it is revoked (certificate_revoked)",
        ),
        (
            Alert::UnsupportedCertificate,
            "does not support the type of the client certificate (unsupported_certificate)",
        ),
        (Alert::BadCertificate, "refuses the client certificate (bad_certificate)"),
        (Alert::CertificateUnknown, "refuses the client certificate (certificate_unknown)"),
        (Alert::AccessDenied, "does not permit access with the client certificate (access_denied)"),
        (Alert::CertificateRequired, "requires another client certificate (certificate_required)"),
        (Alert::DecryptError, "refuses the signature of the client certificate (decrypt_error)"),
    ];
    known.into_iter().find(|(known, _)| *known == alert).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use domain::check::http::ClientIdentity;
    use rules::Secret;

    use super::*;

    #[test]
    fn alert_about_the_certificate_has_a_remedy() {
        let identity =
            ClientIdentity { certificate: String::new(), key: Secret::new("hunter2".to_owned()) };
        let auths = [
            ClientAuth::None,
            ClientAuth::Withheld,
            ClientAuth::Unsupported,
            ClientAuth::Present(&identity),
        ];
        let alerts = [
            Alert::CertificateRequired,
            Alert::BadCertificate,
            Alert::UnknownCA,
            Alert::CertificateExpired,
            Alert::HandshakeFailure,
        ];
        let mut lines = Vec::new();
        for alert in alerts {
            for auth in auths {
                let detail = refusal("shop.example", alert, auth).map(|it| it.detail);
                lines.push(detail.unwrap_or_else(|| "-".to_owned()));
            }
        }
        insta::assert_snapshot!(lines.join("\n"), @r"
        `shop.example` requires a client certificate; set `client_certificate` and `client_key`
        `shop.example` requires a client certificate, but only the origin of the monitor's own URL gets it, over https
        `shop.example` requires a client certificate, which this request cannot present
        `shop.example` requires another client certificate (certificate_required)
        `shop.example` requires a client certificate; set `client_certificate` and `client_key`
        `shop.example` requires a client certificate, but only the origin of the monitor's own URL gets it, over https
        `shop.example` requires a client certificate, which this request cannot present
        `shop.example` refuses the client certificate (bad_certificate)
        -
        -
        -
        `shop.example` refuses the client certificate, because it does not trust the issuer (unknown_ca)
        -
        -
        -
        `shop.example` refuses the client certificate, because it expired or is not valid yet (certificate_expired)
        -
        -
        -
        -
        ");
    }
}
