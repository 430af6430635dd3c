//! Monitors of a fleet grouped by their tags.

use std::collections::BTreeMap;

use rules::Tag;

use super::snapshot::FleetRow;

/// Monitors with a tag, or without any.
#[derive(Debug)]
pub(crate) struct TagGroup<'f> {
    pub(crate) tag: Option<&'f Tag>,
    pub(crate) rows: Vec<FleetRow<'f>>,
}

/// Returns the rows of each tag by name, and then those without a tag. A monitor is in the group of each
/// of its tags.
pub(crate) fn grouped<'f>(rows: &[FleetRow<'f>]) -> Vec<TagGroup<'f>> {
    let mut groups: BTreeMap<&'f str, TagGroup<'f>> = BTreeMap::new();
    let mut untagged = Vec::new();
    for row in rows {
        for (key, tag) in row.monitor.tags() {
            let group = groups.entry(key);
            group.or_insert_with(|| TagGroup { tag: Some(tag), rows: Vec::new() }).rows.push(*row);
        }
        if row.monitor.definition.tags.is_empty() {
            untagged.push(*row);
        }
    }
    let rest = (!untagged.is_empty()).then_some(TagGroup { tag: None, rows: untagged });
    groups.into_values().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::super::snapshot::tests::{snapshot, tagged};
    use super::*;

    #[test]
    fn monitors_are_in_the_group_of_each_tag() {
        let all = vec![tagged(1, &["Prod", "web"]), tagged(2, &["prod"]), tagged(3, &[])];
        let fleet = snapshot(all, &[]);
        let rows: Vec<_> = fleet.rows().collect();
        let groups = grouped(&rows);
        let texts = groups.iter().map(|group| {
            let names = group.rows.iter().map(|row| &*row.monitor.definition.name);
            (group.tag.map(Tag::as_str), names.collect::<Vec<_>>())
        });
        let expected = [
            (Some("Prod"), vec!["monitor 001", "monitor 002"]),
            (Some("web"), vec!["monitor 001"]),
            (None, vec!["monitor 003"]),
        ];
        assert_eq!(texts.collect::<Vec<_>>(), expected);
    }
}
