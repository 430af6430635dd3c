//! Which resources a configuration owns: drafts and valid entries. `store` checks that each resource
//! has one owner. Nothing checks that the resources exist: an entry may outlive its resource.

use std::collections::BTreeSet;

use crate::limits::CONFIGURED_RESOURCES_PER_CALL_MAX;
use crate::tables::{CONFIGURATION, CONFIGURED_RESOURCE, RESOURCES};
use crate::{Validator, Violation, Violations};

/// Change of a configuration's entries as sent by a caller: not validated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordDraft {
    pub name: Option<String>,
    pub put: Vec<EntryDraft>,
    pub remove: Vec<EntryDraft>,
}

/// Entry as sent by a caller: not validated. Empty texts are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryDraft {
    pub kind: Option<String>,
    pub key: Option<String>,
    pub id: Option<String>,
}

/// Valid change of a configuration's entries. First removes some, then adds or replaces others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationRecord {
    pub name: String,
    pub put: Vec<ConfiguredResource>,
    pub remove: Vec<ConfiguredKey>,
}

/// Resource that a configuration owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredResource {
    pub key: ConfiguredKey,
    /// `None` while it is being created.
    pub id: Option<String>,
}

/// Kind and key of a resource: unique within a configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfiguredKey {
    /// Type of the resource without the prefix of Terraform, such as `http_monitor`.
    pub kind: &'static str,
    pub key: String,
}

/// Returns the kinds of resources that a configuration owns, in the order of the specification.
pub fn kinds() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().map(|table| table.kind())
}

/// Validates the name of a configuration.
pub fn parse_name(name: String) -> Result<String, Violations> {
    let mut validator = Validator::new(&CONFIGURATION);
    let name = validator.text("name", Some(name).filter(|name| !name.is_empty()));
    validator.finish(name)
}

impl RecordDraft {
    /// Validates the change. Returns all violations of the first part that has some: the name with the
    /// number of entries, or the entries.
    pub fn parse(self) -> Result<ConfigurationRecord, Violations> {
        let name = parse_name(self.name.unwrap_or_default());
        let given = self.put.len() + self.remove.len();
        if given > CONFIGURED_RESOURCES_PER_CALL_MAX {
            let allowed = format!(
                "and `remove` must have at most {CONFIGURED_RESOURCES_PER_CALL_MAX} entries together"
            );
            let mut violations = name.err().unwrap_or_default();
            violations.0.push(Violation::new("put", given, allowed));
            return Err(violations);
        }
        let name = name?;
        let put = parse_entries("put", self.put);
        let remove = parse_entries("remove", self.remove);
        match (put, remove) {
            (Ok(put), Ok(remove)) => {
                let remove = remove.into_iter().map(|entry| entry.key).collect();
                Ok(ConfigurationRecord { name, put, remove })
            }
            (put, remove) => {
                let both = [put.err(), remove.err()].into_iter().flatten();
                Err(Violations(both.flat_map(|violations| violations.0).collect()))
            }
        }
    }
}

/// Validates a list of entries, which must not name a kind and key twice.
fn parse_entries(
    list: &str,
    drafts: Vec<EntryDraft>,
) -> Result<Vec<ConfiguredResource>, Violations> {
    let (mut entries, mut violations) = (Vec::with_capacity(drafts.len()), Vec::new());
    let mut known = BTreeSet::new();
    for (index, draft) in drafts.into_iter().enumerate() {
        let path = format!("{list}[{index}]");
        match draft.parse() {
            Ok(entry) if known.insert(entry.key.clone()) => entries.push(entry),
            Ok(entry) => {
                let allowed = "must not be repeated for the same `kind`";
                violations.push(Violation::new(format!("{path}.key"), entry.key.key, allowed));
            }
            Err(wrong) => violations.extend(wrong.under(&path).0),
        }
    }
    if violations.is_empty() { Ok(entries) } else { Err(Violations(violations)) }
}

impl EntryDraft {
    fn parse(self) -> Result<ConfiguredResource, Violations> {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        let mut validator = Validator::new(&CONFIGURED_RESOURCE);
        let kind = validator.text("kind", given(self.kind));
        let key = validator.text("key", given(self.key));
        let id = validator.text("id", given(self.id));
        let (kind, key) = validator.finish(kind.zip(key))?;
        let Some(kind) = kinds().find(|known| *known == kind) else {
            let known: Vec<_> = kinds().collect();
            let allowed = format!("must be one of {}", known.join(", "));
            return Err(Violation::new("kind", kind, allowed).into());
        };
        Ok(ConfiguredResource { key: ConfiguredKey { kind, key }, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: &str, key: &str, id: &str) -> EntryDraft {
        let text = |text: &str| Some(text.to_owned());
        EntryDraft { kind: text(kind), key: text(key), id: text(id) }
    }

    fn refused(name: &str, put: Vec<EntryDraft>, remove: Vec<EntryDraft>) -> String {
        RecordDraft { name: Some(name.to_owned()), put, remove }.parse().unwrap_err().to_string()
    }

    #[test]
    fn entries_are_read_with_optional_ids() {
        let put = vec![entry("http_monitor", "shop", "mon_1"), entry("status_page", "shop", "")];
        let remove = vec![entry("notification", "old", "ntf_1")];
        let draft = RecordDraft { name: Some("production".to_owned()), put, remove };
        let record = draft.parse().unwrap();
        assert_eq!(record.name, "production");
        let ids: Vec<_> = record.put.iter().map(|entry| entry.id.as_deref()).collect();
        assert_eq!(ids, [Some("mon_1"), None]);
        assert_eq!(record.remove, [ConfiguredKey { kind: "notification", key: "old".to_owned() }]);
    }

    #[test]
    fn violations_name_entries_and_fields() {
        let put = vec![entry("http", "a", ""), entry("http_monitor", "", "a\nb")];
        let twice = vec![entry("status_page", "a", ""), entry("status_page", "a", "")];
        insta::assert_snapshot!(refused("production", put, twice), @"`put[0].kind` must be one of http_monitor, tcp_monitor, dns_monitor, heartbeat_monitor, notification, status_page, status_page_component, status_page_component_group (given: `http`); `put[1].key` must be given; `put[1].id` must be one line without control characters; `remove[1].key` must not be repeated for the same `kind` (given: `a`)");
        insta::assert_snapshot!(refused("Not a slug", vec![], vec![]), @"`name` must be words of a–z and 0–9 joined by single hyphens, such as my-page (given: `Not a slug`)");
    }

    #[test]
    fn entries_of_a_call_are_limited() {
        let most = CONFIGURED_RESOURCES_PER_CALL_MAX;
        let put = |count: usize| (0..count).map(|at| entry("http_monitor", &at.to_string(), ""));
        let draft = |count| RecordDraft {
            name: Some("all".to_owned()),
            put: put(count).collect(),
            remove: vec![entry("http_monitor", "x", "")],
        };
        assert!(draft(most - 1).parse().is_ok());
        insta::assert_snapshot!(draft(most).parse().unwrap_err(), @"`put` and `remove` must have at most 200 entries together (given: `201`)");
    }

    #[test]
    fn kinds_are_the_resources_of_terraform() {
        let kinds: Vec<_> = kinds().collect();
        assert_eq!(kinds.len(), RESOURCES.len());
        assert!(kinds.iter().all(|kind| !kind.starts_with("service_")), "{kinds:?}");
    }
}
