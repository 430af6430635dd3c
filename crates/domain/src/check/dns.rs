//! DNS checks: which records to ask for, and what must hold of them (design §5, "DNS").

mod assess;
mod compare;

use rules::monitor::{DnsCheck, RecordAssertion};
use rules::{DomainName, RecordKind};

pub(super) use assess::assess;

/// What a DNS monitor asks for.
#[derive(Debug)]
pub struct DnsPlan {
    /// The name as A-labels, without trailing dot.
    pub name: String,
    /// Types to ask for, each once: those asserted, or A and AAAA where none is.
    pub kinds: Vec<RecordKind>,
    /// What must hold of the records.
    pub record_assertions: Vec<RecordAssertion>,
}

impl DnsPlan {
    /// The plan for this check, or why there is none.
    pub(super) fn of(check: &DnsCheck) -> Result<Self, String> {
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
