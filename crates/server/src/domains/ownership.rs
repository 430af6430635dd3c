//! Checks that the owner of a domain allows a page there: a TXT record below the domain must name
//! the page.
//!
//! Pointing to this service is not enough, because DNS records may outlive a page.

use std::time::Duration;

use probe::DnsLookup;
use rules::{DomainName, WorkspaceId};

/// Label of the record, in front of the domain.
const LABEL: &str = "_aloft";
/// Time limit of a DNS query.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of values in an error.
const LISTED_MAX: usize = 4;
/// Maximum number of characters of each value in an error.
const VALUE_CHARS_MAX: usize = 80;

/// The page that claims a domain.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) workspace: WorkspaceId,
    /// Slug, unique on the server.
    pub(crate) slug: String,
}

impl Claim {
    /// Returns the required value of the record.
    pub(super) fn value(&self) -> String {
        format!("aloft-page={}/{}", self.workspace, self.slug)
    }
}

/// Checks the record. If it is missing, returns the end of an error sentence. Names below `localhost`
/// pass, because only this machine can reach them and they have no records.
pub(super) async fn verify(
    names: &DnsLookup,
    domain: &DomainName,
    claim: &Claim,
) -> Result<(), String> {
    if domain.as_str().ends_with(".localhost") {
        return Ok(());
    }
    let owner = owner(domain);
    let found = names.txt_records(&owner, LOOK_UP_WITHIN).await;
    let found = found.map_err(|failure| format!("could not be verified: {}", failure.detail))?;
    judge(&owner, &found, &claim.value())
}

/// Returns the name of the record.
pub(super) fn owner(domain: &DomainName) -> String {
    format!("{LABEL}.{domain}")
}

/// Returns the end of an error sentence unless the required value is among those found.
fn judge(owner: &str, found: &[String], wanted: &str) -> Result<(), String> {
    if found.iter().any(|text| text.trim() == wanted) {
        return Ok(());
    }
    let mut shown: Vec<String> = found
        .iter()
        .take(LISTED_MAX)
        .map(|text| format!("`{}`", text.chars().take(VALUE_CHARS_MAX).collect::<String>()))
        .collect();
    if found.len() > LISTED_MAX {
        shown.push("…".to_owned());
    }
    let found = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    Err(format!(
        "must be yours: add the TXT record `{owner}` with the value `{wanted}`; found {found}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(found: &[&str]) -> Result<(), String> {
        let found: Vec<String> = found.iter().map(|text| (*text).to_owned()).collect();
        judge("_aloft.a.test", &found, "aloft-page=w/acme")
    }

    #[test]
    fn one_matching_record_among_many_verifies() {
        assert_eq!(judged(&["other", " aloft-page=w/acme "]), Ok(()));
    }

    #[test]
    fn records_of_other_pages_are_rejected() {
        let long = "x".repeat(300);
        for found in [&[][..], &["aloft-page=w/acme2"], &["aloft-page=v/acme", &long]] {
            let refusal = judged(found).unwrap_err();
            assert!(refusal.contains("`aloft-page=w/acme`; found "), "{refusal}");
            assert!(refusal.len() < 300, "{refusal}");
        }
    }
}
