//! DNS checks: the records to query and the assertions on them (design §5, "DNS").

mod assess;
mod compare;

use rules::monitor::{DnsCheck, RecordAssertion};
use rules::{DomainName, RecordKind};

pub(super) use assess::assess;

/// The queries and assertions of a DNS monitor.
#[derive(Debug)]
pub struct DnsPlan {
    /// Name as A-labels, without a trailing dot.
    pub name: String,
    /// Record types to query, without duplicates: those asserted, or A and AAAA if there are no
    /// assertions.
    pub kinds: Vec<RecordKind>,
    pub record_assertions: Vec<RecordAssertion>,
}

impl DnsPlan {
    /// Creates the plan of this check. Returns the reason if the name is invalid.
    pub(super) fn new(check: &DnsCheck) -> Result<Self, String> {
        let mut kinds = Vec::with_capacity(2);
        for assertion in &check.record_assertions {
            if !kinds.contains(&assertion.record) {
                kinds.push(assertion.record);
            }
        }
        if kinds.is_empty() {
            kinds.extend([RecordKind::A, RecordKind::Aaaa]);
        }
        let name = DomainName::parse(&check.uri)
            .map_err(|refusal| format!("its name {}", refusal.0))?
            .to_string();
        Ok(Self { name, kinds, record_assertions: check.record_assertions.clone() })
    }
}

#[cfg(test)]
mod tests;
