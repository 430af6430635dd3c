//! Formats reports for the command line.

use contract::monitor::decode_instant;
use contract::monitor::wire::Timestamp;
use contract::status_report::wire::{ComponentImpact, StatusReport, StatusReportUpdate};

use crate::output;

/// Formats reports as a table.
pub(super) fn table(reports: &[StatusReport]) -> String {
    let head = ["REPORT", "STARTED", "STATUS", "PAGE", "TITLE"].map(str::to_owned);
    let row = |it: &StatusReport| {
        let started = moment(it.started_at.as_option());
        [
            text(it.id.as_deref()),
            started,
            text(it.status.as_deref()),
            text(it.page_id.as_deref()),
            text(it.title.as_deref()),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(reports.iter().map(row)).collect();
    output::table(&rows)
}

/// Formats a report as a line.
pub(super) fn line(report: &StatusReport) -> String {
    let latest =
        report.updates.first().map(|update| text(update.id.as_deref())).unwrap_or_default();
    format!("{} is {} ({latest})", text(report.id.as_deref()), text(report.status.as_deref()))
}

/// Formats a report with all its updates.
pub(super) fn format_report(report: &StatusReport) -> String {
    let mut output = format!(
        "{}: {}, {}",
        text(report.id.as_deref()),
        plain(report.title.as_deref()),
        text(report.status.as_deref())
    );
    for update in &report.updates {
        output.push_str("\n\n");
        output.push_str(&format_update(update));
    }
    output
}

fn format_update(update: &StatusReportUpdate) -> String {
    let about: Vec<String> = update.components.iter().map(impact).collect();
    let at = moment(update.at.as_option());
    let mut output =
        format!("{at}  {}  {}", text(update.status.as_deref()), text(update.id.as_deref()));
    if !about.is_empty() {
        output.push_str("  ");
        output.push_str(&about.join(", "));
    }
    for line in text(update.text.as_deref()).lines() {
        output.push_str("\n  ");
        // Texts written by users must not control the terminal.
        output.push_str(&line.replace(char::is_control, " "));
    }
    output
}

/// Formats a component with its impact.
pub(super) fn impact(impact: &ComponentImpact) -> String {
    format!("{}={}", text(impact.component_id.as_deref()), text(impact.impact.as_deref()))
}

/// Returns a field on one line.
pub(super) fn plain(field: Option<&str>) -> String {
    text(field).replace(char::is_control, " ")
}

fn text(field: Option<&str>) -> String {
    field.unwrap_or_default().to_owned()
}

fn moment(at: Option<&Timestamp>) -> String {
    at.and_then(decode_instant).map(output::moment).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use contract::monitor::encode_instant;

    use super::*;

    #[test]
    fn report_shows_updates_without_control_characters() {
        let some = |text: &str| Some(text.to_owned());
        let update = StatusReportUpdate {
            id: some("upd_1"),
            status: some("identified"),
            text: some("A disk.\n\u{1b}[31mMore."),
            at: encode_instant(rules::Timestamp::from_millis(60_000)),
            components: vec![ComponentImpact { component_id: some("cmp_1"), impact: some("down") }],
            ..Default::default()
        };
        let report = StatusReport {
            id: some("rpt_1"),
            title: some("Disks"),
            status: some("identified"),
            updates: vec![update],
            ..Default::default()
        };
        insta::assert_snapshot!(format_report(&report), @"
        rpt_1: Disks, identified

        1970-01-01 00:01 UTC  identified  upd_1  cmp_1=down
          A disk.
           [31mMore.
        ");
        assert_eq!(line(&report), "rpt_1 is identified (upd_1)");
    }
}
