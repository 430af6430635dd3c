//! DNS checks: which records to ask for, and what must hold of them (design §5, "DNS").

mod assess;
mod compare;

use rules::RecordKind;
use rules::monitor::{DnsCheck, RecordAssertion};

pub(super) use assess::assess;

/// Longest name and longest label of one, in bytes without the root (RFC 1035 §2.3.4).
const NAME_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

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
        let record_assertions = check.record_assertions.clone();
        Ok(Self { name: name(&check.uri)?, kinds, record_assertions })
    }
}

/// `written` as A-labels in lower case, without trailing dot. Labels such as `_dmarc` are as good
/// as any.
fn name(written: &str) -> Result<String, String> {
    let ascii = idna::domain_to_ascii(written.trim())
        .map_err(|_| format!("`{}` is no domain name", super::redact::shown(written)))?;
    let name = ascii.strip_suffix('.').unwrap_or(&ascii);
    let labels_fit = name.split('.').all(|label| (1..=LABEL_BYTES_MAX).contains(&label.len()));
    let is_text = name.bytes().all(|byte| byte.is_ascii_graphic());
    if !labels_fit || !is_text || name.len() > NAME_BYTES_MAX {
        return Err(format!("`{}` is no domain name", super::redact::shown(written)));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests;
