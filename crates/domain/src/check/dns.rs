//! DNS checks: which records to ask for, and what must hold of them (design §5, "DNS").

use rules::RecordKind;
use rules::monitor::{DnsCheck, RecordAssertion};

use super::DnsSeen;
use super::assess::Findings;

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
        Ok(Self {
            name: check.uri.clone(),
            kinds: Vec::new(),
            record_assertions: check.record_assertions.clone(),
        })
    }
}

pub(super) fn assess(_plan: &DnsPlan, _seen: &DnsSeen) -> Findings {
    Findings::default()
}
