//! A report: its rows with error budgets, from frozen and current figures. The page, the downloads and
//! the summary show the same numbers. `period` says which months may be frozen, and `sums` adds them up.

use std::time::Duration;

use domain::history::{ErrorBudget, Span, Uptime, UptimeTarget};
use rules::WorkspaceId;
use store::{Store, StoreError, UptimeFigures, UptimeSubject};

use super::period::ResolvedPeriod;
use super::query::{ReportQuery, Subjects};
use super::sums::{Sums, Totals};
use crate::{durations, numbers};

/// The displayed percentiles of latencies.
pub(super) const PERCENTILES: [u8; 3] = [50, 95, 99];

/// Figures of a period.
#[derive(Debug)]
pub(super) struct Report {
    /// Rows that match the search, in the requested order.
    pub(super) figures: Vec<UptimeFigures>,
    /// Whether the figures are stored and never change.
    pub(super) is_frozen: bool,
    pub(super) totals: Totals,
    /// Parts of the period whose latencies the rows lack.
    unread: Vec<Span>,
}

/// A row, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UptimeRow {
    pub(super) subject: UptimeSubject,
    pub(super) name: String,
    pub(super) uptime: Option<Uptime>,
    pub(super) incidents: u32,
    /// The [`PERCENTILES`] in microseconds.
    pub(super) latency_us: [Option<u32>; 3],
    pub(super) budget: ErrorBudget,
    /// Whether the target is met. `None` if nothing is known.
    pub(super) is_met: Option<bool>,
}

impl Report {
    /// Reads the report: frozen months as they are stored, and the rest of the period as it is now. The
    /// figures of monitors lack the latencies of that rest.
    pub(super) async fn read(
        store: &Store,
        workspace: WorkspaceId,
        query: &ReportQuery,
        period: ResolvedPeriod,
    ) -> Result<Self, StoreError> {
        let mut sums = Sums::new();
        let mut from = period.span.from;
        for month in period.past_months() {
            let Some(rows) = store.uptime_reports().frozen(workspace, month).await? else {
                continue;
            };
            let gap = Span { from, to: month.span().from };
            sums.add_current(store, workspace, (gap, query)).await?;
            sums.add(rows, query);
            from = month.span().to;
        }
        let rest = Span { from, to: period.span.to };
        sums.add_current(store, workspace, (rest, query)).await?;
        let is_frozen = sums.current.is_empty() && period.span.from < period.span.to;
        let unread = match query.subjects {
            Subjects::Monitors => std::mem::take(&mut sums.current),
            Subjects::Tags | Subjects::Pages => Vec::new(),
        };
        let (figures, totals) = sums.finish(query);
        Ok(Self { figures, is_frozen, totals, unread })
    }

    /// Returns some rows, and reads the latencies that they lack.
    pub(super) async fn into_rows(
        self,
        store: &Store,
        (workspace, period): (WorkspaceId, ResolvedPeriod),
        target: UptimeTarget,
        range: std::ops::Range<usize>,
    ) -> Result<Vec<UptimeRow>, StoreError> {
        let mut rows: Vec<UptimeFigures> =
            self.figures.into_iter().skip(range.start).take(range.len()).collect();
        for span in self.unread {
            store.uptime_reports().add_latencies(workspace, span, &mut rows).await?;
        }
        Ok(rows.iter().map(|it| UptimeRow::new(it, target, period.ahead_ms)).collect())
    }
}

impl Totals {
    /// Returns the uptime in words.
    pub(super) fn uptime_text(&self) -> String {
        uptime_text(self.uptime)
    }
}

impl UptimeRow {
    fn new(figures: &UptimeFigures, target: UptimeTarget, ahead_ms: u64) -> Self {
        Self {
            subject: figures.subject.clone(),
            name: figures.name.clone(),
            uptime: figures.uptime,
            incidents: figures.incidents,
            latency_us: PERCENTILES.map(|percent| figures.latency.percentile(percent)),
            budget: ErrorBudget::new(target, figures.uptime, ahead_ms),
            is_met: figures.uptime.map(|uptime| target.is_met(uptime)),
        }
    }

    /// Returns the uptime in words.
    pub(super) fn uptime_text(&self) -> String {
        uptime_text(self.uptime)
    }

    /// Returns the percentiles in words, each with its label.
    pub(super) fn latencies(&self) -> [(&'static str, String); 3] {
        let [p50, p95, p99] = self.latency_us.map(numbers::latency_or_dash);
        [("p50", p50), ("p95", p95), ("p99", p99)]
    }

    /// Returns the remaining budget in minutes and percent.
    pub(super) fn budget_text(&self) -> String {
        match self.budget.exceeded_ms() {
            0 => {
                let (left, percent) = (minutes(self.budget.left_ms()), self.budget.left_percent());
                format!("{left} min left ({percent} %)")
            }
            exceeded => format!("exceeded by {} min", minutes(exceeded)),
        }
    }

    /// Returns the whole budget in minutes.
    pub(super) fn allowed_minutes(&self) -> String {
        minutes(self.budget.allowed_ms)
    }

    /// Returns the downtime in words.
    pub(super) fn downtime(&self) -> String {
        durations::text(Duration::from_millis(self.budget.spent_ms))
    }

    /// Returns the width of the bar of the spent budget, 0 to 100.
    pub(super) fn bar(&self) -> u64 {
        self.budget.spent_percent().min(100)
    }

    /// Returns the class of the budget: `up`, `degraded` if little is left, or `down`.
    pub(super) fn mark(&self) -> &'static str {
        match self.budget.spent_percent() {
            0..=75 => "up",
            76..=100 => "degraded",
            _ => "down",
        }
    }
}

fn uptime_text(uptime: Option<Uptime>) -> String {
    uptime.map_or_else(|| "unknown".to_owned(), numbers::uptime)
}

/// Returns an uptime in percent with three decimals, rounded down.
pub(super) fn percent(uptime: Uptime) -> String {
    numbers::percent(uptime.millionths())
}

/// Returns milliseconds in minutes, rounded down, with a decimal below 100 minutes.
fn minutes(millis: u64) -> String {
    let tenths = millis / 6_000;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        _ if tenths >= 1_000 => (tenths / 10).to_string(),
        decimal => format!("{}.{decimal}", tenths / 10),
    }
}

/// Returns microseconds in milliseconds, rounded.
pub(super) const fn millis(us: u32) -> u32 {
    us.saturating_add(500) / 1_000
}

#[cfg(test)]
mod tests {
    use rules::MonitorId;

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

    #[test]
    fn totals_count_known_rows_only() {
        let rows = [figures(1, "a", Some(0)), figures(2, "b", None), figures(3, "c", Some(9_000))];
        let totals = Totals::of(&rows, UptimeTarget::DEFAULT);
        let uptime = Some(Uptime { known_ms: 2_000_000, error_ms: 9_000 });
        assert_eq!(totals, Totals { uptime, incidents: 6, known: 2, met: 1 });
    }

    #[test]
    fn exceeded_budget_is_reported() {
        let row = UptimeRow::new(&figures(1, "a", Some(61_000)), UptimeTarget::DEFAULT, 0);
        assert_eq!(row.budget_text(), "exceeded by 1 min");
        let row = UptimeRow::new(&figures(1, "a", Some(0)), UptimeTarget::DEFAULT, 39_000_000);
        assert_eq!(row.budget_text(), "0.6 min left (100 %)");
        let row = UptimeRow::new(&figures(1, "a", Some(61_000)), UptimeTarget::DEFAULT, 0);
        assert_eq!((row.bar(), row.mark(), row.is_met), (100, "down", Some(false)));
        assert_eq!(percent(row.uptime.unwrap()), "93.900");
    }
}
