//! Sums of figures by tag.

use std::collections::BTreeMap;

use super::{UptimeFigures, UptimeSubject};

/// Name of the row of monitors without tags.
const UNTAGGED: &str = "No tag";

/// Returns the sums of these monitors for each of their tags, by key, and then of those without tags. A
/// monitor counts for each of its tags. A row has the tag as its first monitor writes it.
pub fn sums_by_tag(monitors: &[UptimeFigures]) -> Vec<UptimeFigures> {
    let mut sums: BTreeMap<UptimeSubject, UptimeFigures> = BTreeMap::new();
    let mut add = |subject: UptimeSubject, name: &str, part: &UptimeFigures| {
        let unknown = || UptimeFigures::unknown(subject.clone(), name.to_owned());
        sums.entry(subject.clone()).or_insert_with(unknown).merge(part);
    };
    for monitor in monitors {
        for tag in &monitor.tags {
            add(UptimeSubject::Tag(tag.key()), tag.as_str(), monitor);
        }
        if monitor.tags.is_empty() {
            add(UptimeSubject::Untagged, UNTAGGED, monitor);
        }
    }
    sums.into_values().collect()
}

#[cfg(test)]
mod tests {
    use domain::history::Uptime;
    use rules::{MonitorId, Tag};

    use super::*;

    fn monitor(number: u64, tags: &[&str], error_ms: u64) -> UptimeFigures {
        let subject = UptimeSubject::Monitor(MonitorId::from_bits(number));
        UptimeFigures {
            tags: tags.iter().map(|tag| Tag::parse(tag).unwrap()).collect(),
            uptime: Some(Uptime { known_ms: 100, error_ms }),
            incidents: 1,
            ..UptimeFigures::unknown(subject, format!("monitor {number}"))
        }
    }

    #[test]
    fn monitor_counts_for_each_of_its_tags() {
        let all =
            [monitor(1, &["Prod", "web"], 10), monitor(2, &["prod"], 20), monitor(3, &[], 40)];
        let rows = sums_by_tag(&all);
        let rows: Vec<_> = rows.iter().map(|it| (&*it.name, it.uptime.unwrap())).collect();
        let uptime = |known_ms, error_ms| Uptime { known_ms, error_ms };
        let expected =
            [("Prod", uptime(200, 30)), ("web", uptime(100, 10)), ("No tag", uptime(100, 40))];
        assert_eq!(rows, expected);
    }
}
