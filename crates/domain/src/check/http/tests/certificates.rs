//! Warnings of certificates that expire soon.

use std::time::Duration;

use rules::Timestamp;

use super::*;
use crate::check::Certificate;
use crate::check::http::expiring_certificate;

/// Time of the exchanges.
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const HOUR: Duration = Duration::from_hours(1);

/// Returns an exchange whose hops had certificates with this validity left.
fn exchange(left: &[Duration]) -> HttpObservation {
    let mut exchange = seen(200, &[], "");
    let hops = left.iter().enumerate().map(|(index, left)| Hop {
        url: format!("https://host-{index}.example/").parse().unwrap(),
        certificate: Some(Certificate {
            subject: "CN=example.com".to_owned(),
            issuer: "CN=Some CA".to_owned(),
            not_before: NOW,
            not_after: NOW + *left,
            chain_not_after: NOW,
            chain: Vec::new(),
            fingerprint: String::new(),
        }),
        ..seen(301, &[], "").hops.remove(0)
    });
    exchange.hops.splice(..0, hops);
    exchange
}

fn warnings(days: u16, left: &[Duration]) -> String {
    let check =
        HttpCheck { certificate_warn_days: days, ..HttpCheck::new("https://host-0.example/") };
    let plan = plan(&check);
    let seen = exchange(left);
    let warning = plan.certificate_warning.and_then(|it| expiring_certificate(&seen, NOW, it));
    warning.unwrap_or_default()
}

#[test]
fn certificate_below_its_days_is_a_warning() {
    for (left, expected) in [
        (14 * 24 * HOUR, ""),
        (335 * HOUR, "13 days"),
        (47 * HOUR, "1 day"),
        (23 * HOUR, "23 hours"),
        (Duration::ZERO, "0 hours"),
    ] {
        let warning = warnings(14, &[left]);
        let text = format!(
            "the certificate of `host-0.example` expires in {expected}, sooner than 14 days"
        );
        assert_eq!(warning, if expected.is_empty() { "" } else { &text }, "{left:?}");
    }
}

#[test]
fn certificate_of_any_hop_counts() {
    let warning = warnings(2, &[9 * 24 * HOUR, 30 * HOUR, 40 * HOUR]);
    assert!(
        warning.starts_with("the certificate of `host-1.example` expires in 1 day"),
        "{warning}"
    );
}

#[test]
fn no_days_warn_of_nothing() {
    assert_eq!(warnings(0, &[Duration::ZERO]), "");
    assert_eq!(warnings(397, &[]), "", "there was no certificate");
}
