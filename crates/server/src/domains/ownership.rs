//! Whether the owner of a domain wants a page there: a TXT record beside the domain names the page.
//! Pointing to this service does not show that: records stay behind when a page goes.

use std::time::Duration;

use probe::Names;
use rules::{DomainName, WorkspaceId};

/// The label under which the record stands, in front of the domain.
const LABEL: &str = "_aloft";
/// The longest that a look-up may take.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(10);
/// Values that a refusal lists, at most.
const LISTED_MAX: usize = 4;
/// Characters that a refusal shows of a value, at most.
const SHOWN_MAX: usize = 80;

/// The page that claims a domain.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    /// Its workspace.
    pub(crate) workspace: WorkspaceId,
    /// Its slug, which no other page of the server has.
    pub(crate) slug: String,
}

impl Claim {
    /// What the record says.
    fn value(&self) -> String {
        format!("aloft-page={}/{}", self.workspace, self.slug)
    }
}

/// Looks the record up; the end of a sentence where it is missing. Nobody but this machine reaches names
/// below `localhost`, and they have no records.
pub(super) async fn verify(
    names: &Names,
    domain: &DomainName,
    claim: &Claim,
) -> Result<(), String> {
    if domain.as_str().ends_with(".localhost") {
        return Ok(());
    }
    let owner = format!("{LABEL}.{domain}");
    let found = names.texts(&owner, LOOK_UP_WITHIN).await;
    let found = found.map_err(|failure| format!("could not be verified: {}", failure.detail))?;
    judge(&owner, &found, &claim.value())
}

/// Whether the wanted value is among those found; else the end of a sentence that says what is needed.
fn judge(owner: &str, found: &[String], wanted: &str) -> Result<(), String> {
    if found.iter().any(|text| text.trim() == wanted) {
        return Ok(());
    }
    let mut shown: Vec<String> = found
        .iter()
        .take(LISTED_MAX)
        .map(|text| format!("`{}`", text.chars().take(SHOWN_MAX).collect::<String>()))
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
    fn records_of_other_pages_verify_nothing() {
        let long = "x".repeat(300);
        for found in [&[][..], &["aloft-page=w/acme2"], &["aloft-page=v/acme", &long]] {
            let refusal = judged(found).unwrap_err();
            assert!(refusal.contains("`aloft-page=w/acme`; found "), "{refusal}");
            assert!(refusal.len() < 300, "{refusal}");
        }
    }
}
