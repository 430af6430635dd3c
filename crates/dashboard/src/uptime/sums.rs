//! Sums of the parts of a period: frozen months, and the rest that is computed. Sums by tag, filters and
//! the order of rows. `report` decides which parts a period has.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use domain::history::{Span, Uptime, UptimeTarget};
use rules::WorkspaceId;
use store::{Store, StoreError, UptimeFigures, UptimeSubject, sums_by_tag};

use super::query::{ReportOrder, ReportQuery, Subjects};

/// Sums over all rows. A monitor counts once, even if it has several tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) uptime: Option<Uptime>,
    pub(super) incidents: u32,
    /// Rows of which something is known.
    pub(super) known: usize,
    /// Rows that meet the target.
    pub(super) met: usize,
}

/// Sums of the parts of a period.
pub(super) struct Sums {
    rows: BTreeMap<UptimeSubject, UptimeFigures>,
    /// Sum of the monitors of rows of tags.
    tagged: UptimeFigures,
    /// Parts that are not frozen.
    pub(super) current: Vec<Span>,
}

/// Computes the figures of a part of the period that is not frozen.
async fn current(
    store: &Store,
    workspace: WorkspaceId,
    (subjects, span): (Subjects, Span),
) -> Result<Vec<UptimeFigures>, StoreError> {
    let reports = store.uptime_reports();
    let mut monitors = reports.monitors(workspace, span).await?;
    match subjects {
        Subjects::Monitors => Ok(monitors),
        Subjects::Tags => {
            reports.add_latencies(workspace, span, &mut monitors).await?;
            Ok(monitors)
        }
        Subjects::Pages => {
            let components = store.components().names(workspace).await?;
            let shown: BTreeSet<UptimeSubject> =
                components.iter().filter_map(|it| it.monitor).map(UptimeSubject::Monitor).collect();
            monitors.retain(|row| shown.contains(&row.subject));
            reports.add_latencies(workspace, span, &mut monitors).await?;
            reports.pages(workspace, &monitors).await
        }
    }
}

impl Sums {
    pub(super) const fn new() -> Self {
        let tagged = UptimeFigures::unknown(UptimeSubject::Untagged, String::new());
        Self { rows: BTreeMap::new(), tagged, current: Vec::new() }
    }

    /// Adds the figures of a part that is not frozen, unless it is empty.
    pub(super) async fn add_current(
        &mut self,
        store: &Store,
        workspace: WorkspaceId,
        (span, query): (Span, &ReportQuery),
    ) -> Result<(), StoreError> {
        if span.from < span.to {
            self.add(current(store, workspace, (query.subjects, span)).await?, query);
            self.current.push(span);
        }
        Ok(())
    }

    /// Adds the figures of a part, which follows those before. The rows get its names.
    pub(super) fn add(&mut self, mut figures: Vec<UptimeFigures>, query: &ReportQuery) {
        figures.retain(|row| match row.subject {
            UptimeSubject::Monitor(_) => query.subjects != Subjects::Pages,
            UptimeSubject::Page(_) => query.subjects == Subjects::Pages,
            UptimeSubject::Tag(_) | UptimeSubject::Untagged => false,
        });
        match query.subjects {
            Subjects::Monitors => {
                if let Some(tag) = &query.tag {
                    let key = tag.key();
                    figures.retain(|row| row.has_tag(&key));
                }
            }
            Subjects::Tags => {
                for row in &figures {
                    if sums_by_tag(std::slice::from_ref(row)).iter().any(|it| is_found(it, query)) {
                        self.tagged.merge(row);
                    }
                }
                figures = sums_by_tag(&figures);
            }
            Subjects::Pages => {}
        }
        for row in figures {
            match self.rows.get_mut(&row.subject) {
                Some(sum) => {
                    sum.merge(&row);
                    (sum.name, sum.tags) = (row.name, row.tags);
                }
                None => drop(self.rows.insert(row.subject.clone(), row)),
            }
        }
    }

    /// Returns the rows that match the search, in order, and their totals.
    pub(super) fn finish(self, query: &ReportQuery) -> (Vec<UptimeFigures>, Totals) {
        let mut figures: Vec<UptimeFigures> =
            self.rows.into_values().filter(|row| is_found(row, query)).collect();
        sort(&mut figures, query.order);
        let totals = Totals::of(&figures, query.target);
        let totals = match query.subjects {
            Subjects::Monitors | Subjects::Pages => totals,
            Subjects::Tags => {
                Totals { uptime: self.tagged.uptime, incidents: self.tagged.incidents, ..totals }
            }
        };
        (figures, totals)
    }
}

fn is_found(row: &UptimeFigures, query: &ReportQuery) -> bool {
    row.name.to_lowercase().contains(&query.search.to_lowercase())
}

/// Sorts rows. Those of which nothing is known come last in the order of uptime.
fn sort(figures: &mut [UptimeFigures], order: ReportOrder) {
    let name = |row: &UptimeFigures| (row.name.to_lowercase(), row.subject.clone());
    match order {
        ReportOrder::Name => figures.sort_by_cached_key(name),
        ReportOrder::Incidents => {
            figures.sort_by_cached_key(|row| (Reverse(row.incidents), name(row)));
        }
        ReportOrder::Worst => figures.sort_by_cached_key(|row| {
            let uptime = row.uptime.map_or(u32::MAX, Uptime::millionths);
            let error_ms = row.uptime.map_or(0, |it| it.error_ms);
            (uptime, Reverse(error_ms), name(row))
        }),
    }
}

impl Totals {
    pub(super) fn of(figures: &[UptimeFigures], target: UptimeTarget) -> Self {
        let mut totals = Self::default();
        for row in figures {
            totals.incidents = totals.incidents.saturating_add(row.incidents);
            let Some(uptime) = row.uptime else { continue };
            totals.known += 1;
            totals.met += usize::from(target.is_met(uptime));
            totals.uptime = Some(totals.uptime.map_or(uptime, |all| Uptime {
                known_ms: all.known_ms + uptime.known_ms,
                error_ms: all.error_ms + uptime.error_ms,
            }));
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use rules::{MonitorId, Tag};

    use super::super::query::UptimeQuery;
    use super::*;

    fn figures(bits: u64, name: &str, error_ms: Option<u64>) -> UptimeFigures {
        UptimeFigures {
            uptime: error_ms.map(|error_ms| Uptime { known_ms: 1_000_000, error_ms }),
            incidents: bits as u32,
            ..UptimeFigures::unknown(
                UptimeSubject::Monitor(MonitorId::from_bits(bits)),
                name.to_owned(),
            )
        }
    }

    fn names(figures: &[UptimeFigures]) -> Vec<&str> {
        figures.iter().map(|row| row.name.as_str()).collect()
    }

    #[test]
    fn worst_uptime_comes_first_and_unknown_last() {
        let mut rows = [
            figures(1, "well", Some(0)),
            figures(2, "unknown", None),
            figures(3, "bad", Some(9_000)),
            figures(4, "Fine", Some(0)),
        ];
        sort(&mut rows, ReportOrder::Worst);
        assert_eq!(names(&rows), ["bad", "Fine", "well", "unknown"]);
        sort(&mut rows, ReportOrder::Name);
        assert_eq!(names(&rows), ["bad", "Fine", "unknown", "well"]);
        sort(&mut rows, ReportOrder::Incidents);
        assert_eq!(names(&rows), ["Fine", "bad", "unknown", "well"]);
    }

    fn query(subjects: Subjects) -> ReportQuery {
        let asked = UptimeQuery::default();
        ReportQuery { subjects, ..asked.parse(UptimeTarget::DEFAULT) }
    }

    fn tagged(bits: u64, tags: &[&str]) -> UptimeFigures {
        let tags = tags.iter().map(|tag| Tag::parse(tag).unwrap()).collect();
        UptimeFigures { tags, ..figures(bits, "monitor", Some(10_000)) }
    }

    #[test]
    fn monitor_with_two_tags_counts_once_in_totals() {
        let (mut sums, query) = (Sums::new(), query(Subjects::Tags));
        sums.add(vec![tagged(1, &["prod", "web"]), tagged(2, &["Prod"])], &query);
        sums.add(vec![tagged(1, &["prod"]), tagged(3, &[])], &query);
        let (rows, totals) = sums.finish(&ReportQuery { order: ReportOrder::Name, ..query });
        let rows: Vec<_> = rows.iter().map(|it| (&*it.name, it.uptime.unwrap().known_ms)).collect();
        assert_eq!(rows, [("No tag", 1_000_000), ("prod", 3_000_000), ("web", 1_000_000)]);
        assert_eq!((totals.uptime.unwrap().known_ms, totals.incidents), (4_000_000, 7));
        assert_eq!((totals.known, totals.met), (3, 0));
    }

    #[test]
    fn monitors_with_the_tag_are_chosen() {
        let mut sums = Sums::new();
        let chosen = ReportQuery { tag: Tag::parse("PROD").ok(), ..query(Subjects::Monitors) };
        sums.add(vec![tagged(1, &["Prod"]), tagged(2, &["web"])], &chosen);
        sums.add(vec![tagged(1, &["web"])], &chosen);
        let (rows, totals) = sums.finish(&chosen);
        assert_eq!((rows.len(), totals.incidents), (1, 1));
    }
}
