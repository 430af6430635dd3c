//! Reports as the command line prints them.

use contract::monitor::given_instant;
use contract::monitor::wire::Timestamp;
use contract::status_report::wire::{ComponentImpact, StatusReport, StatusReportUpdate};

use crate::output;

/// Reports below each other.
pub(super) fn table(reports: &[StatusReport]) -> String {
    let head = ["REPORT", "STARTED", "STATUS", "PAGE", "TITLE"].map(str::to_owned);
    let row = |it: &StatusReport| {
        let started = moment(it.started_at.as_option());
        [text(&it.id), started, text(&it.status), text(&it.page_id), text(&it.title)]
    };
    let rows: Vec<_> = std::iter::once(head).chain(reports.iter().map(row)).collect();
    output::table(&rows)
}

/// How a report is, in a line.
pub(super) fn line(report: &StatusReport) -> String {
    let latest = report.updates.first().map(|update| text(&update.id)).unwrap_or_default();
    format!("{} is {} by {latest}", text(&report.id), text(&report.status))
}

/// A report with all its updates.
pub(super) fn whole(report: &StatusReport) -> String {
    let mut said =
        format!("{}: {}, {}", text(&report.id), plain(&report.title), text(&report.status));
    for update in &report.updates {
        said.push_str("\n\n");
        said.push_str(&told(update));
    }
    said
}

fn told(update: &StatusReportUpdate) -> String {
    let about: Vec<String> = update.components.iter().map(impact).collect();
    let at = moment(update.at.as_option());
    let mut said = format!("{at}  {}  {}", text(&update.status), text(&update.id));
    if !about.is_empty() {
        said.push_str("  ");
        said.push_str(&about.join(", "));
    }
    for line in text(&update.text).lines() {
        said.push_str("\n  ");
        // What somebody wrote sends nothing to the terminal.
        said.push_str(&line.replace(char::is_control, " "));
    }
    said
}

/// A component with what is said of it.
pub(super) fn impact(said: &ComponentImpact) -> String {
    format!("{}={}", text(&said.component_id), text(&said.impact))
}

/// What stands in a field, on one line.
pub(super) fn plain(field: &Option<String>) -> String {
    text(field).replace(char::is_control, " ")
}

fn text(field: &Option<String>) -> String {
    field.clone().unwrap_or_default()
}

fn moment(at: Option<&Timestamp>) -> String {
    at.and_then(given_instant).map(output::moment).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use contract::monitor::instant;

    use super::*;

    #[test]
    fn a_report_is_shown_with_what_was_said_and_sends_nothing_to_the_terminal() {
        let said = |text: &str| Some(text.to_owned());
        let update = StatusReportUpdate {
            id: said("upd_1"),
            status: said("identified"),
            text: said("A disk.\n\u{1b}[31mMore."),
            at: instant(rules::Timestamp::from_millis(60_000)),
            components: vec![ComponentImpact {
                component_id: said("cmp_1"),
                impact: said("down"),
                ..Default::default()
            }],
            ..Default::default()
        };
        let report = StatusReport {
            id: said("rpt_1"),
            title: said("Disks"),
            status: said("identified"),
            updates: vec![update],
            ..Default::default()
        };
        insta::assert_snapshot!(whole(&report), @"
        rpt_1: Disks, identified

        1970-01-01 00:01 UTC  identified  upd_1  cmp_1=down
          A disk.
           [31mMore.
        ");
        assert_eq!(line(&report), "rpt_1 is identified by upd_1");
    }
}
