//! The monthly summary by email: the figures of the last month, for members who want it.

use askama::Template;
use domain::history::UptimeTarget;
use domain::notify::{ListLinks, Mail};
use domain::page::Month;
use rules::Timestamp;
use store::{DueSummary, StoreError};
use tokio_util::sync::CancellationToken;

use super::period::{Period, month_label};
use super::query::{ReportOrder, ReportQuery, Subjects};
use super::report::{Report, UptimeRow};
use super::sums::Totals;
use crate::html::render;
use crate::state::Dashboard;

/// Number of monitors in an email, worst first.
const ROWS: usize = 10;

#[derive(Template)]
#[template(path = "summary_mail.html")]
struct HtmlMail<'s>(&'s SummaryText);

#[derive(Template)]
#[template(path = "summary_mail.txt")]
struct TextMail<'s>(&'s SummaryText);

/// Content of a summary.
struct SummaryText {
    workspace: String,
    name: String,
    month: String,
    target: UptimeTarget,
    totals: Totals,
    rows: Vec<UptimeRow>,
    /// Number of monitors that are not listed.
    more: usize,
    link: String,
    settings_link: String,
}

impl Dashboard {
    /// Sends the summaries of the month before `month_of` that are due. Returns their number. A
    /// summary that cannot be sent stays due.
    pub async fn send_summaries(
        &self,
        month_of: Timestamp,
        stop: &CancellationToken,
    ) -> Result<usize, StoreError> {
        if !self.backend.can_send_emails() {
            return Ok(0);
        }
        let mut sent = 0;
        for due in self.store.summaries().due(Month::containing(month_of).previous()).await? {
            if stop.is_cancelled() {
                break;
            }
            // One that fails takes no other person's summary away.
            match self.send_summary(&due).await {
                Ok(is_sent) => sent += usize::from(is_sent),
                Err(error) => tracing::error!(
                    user.id = %due.user.id, workspace.id = %due.workspace.id, %error,
                    "failed to compose the summary of {}, retrying later: {error}", due.month
                ),
            }
        }
        Ok(sent)
    }

    async fn send_summary(&self, due: &DueSummary) -> Result<bool, StoreError> {
        let mail = self.summary(due).await?;
        if !self.store.summaries().claim(due).await? {
            return Ok(false);
        }
        let sent = self.backend.send_email(due.workspace.id, mail).await;
        if let Err(why) = sent {
            tracing::warn!(
                user.id = %due.user.id,
                workspace.id = %due.workspace.id,
                "failed to send the summary of {}, retrying later: {why}",
                due.month
            );
            self.store.summaries().release(due).await?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Composes the summary of a month.
    async fn summary(&self, due: &DueSummary) -> Result<Mail, StoreError> {
        let target = self.store.workspaces().uptime_target(due.workspace.id).await?;
        let query = ReportQuery {
            period: Period::Month(due.month),
            subjects: Subjects::Monitors,
            tag: None,
            target,
            stored_target: target,
            order: ReportOrder::Worst,
            search: String::new(),
            is_whole: false,
        };
        let (workspace, period) = (due.workspace.id, query.period.at(self.ctx.now()));
        let report = Report::read(&self.store, workspace, &query, period).await?;
        let (totals, more) = (report.totals, report.figures.len().saturating_sub(ROWS));
        let rows = report.into_rows(&self.store, (workspace, period), target, 0..ROWS).await?;
        let base = format!("/w/{}/uptime", due.workspace.slug);
        let text = SummaryText {
            workspace: due.workspace.name.clone(),
            name: due.user.name.clone(),
            month: month_label(due.month),
            target,
            totals,
            rows,
            more,
            link: self.url(&format!("{base}?{}", query.url())),
            settings_link: self.url(&format!("{base}#summary")),
        };
        let id = format!("summary-{}-{workspace}-{}", due.user.id, due.month);
        Ok(Mail {
            to: due.user.email.clone(),
            subject: format!("{}: uptime in {}", one_line(&text.workspace), text.month),
            text: render(&TextMail(&text)),
            html: render(&HtmlMail(&text)),
            thread: id.clone(),
            id,
            list: ListLinks::None,
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use domain::history::{ErrorBudget, Uptime};
    use rules::MonitorId;
    use store::UptimeSubject;

    use super::*;

    fn text() -> SummaryText {
        let uptime = Some(Uptime { known_ms: 2_592_000_000, error_ms: 3_600_000 });
        let target = UptimeTarget::DEFAULT;
        let row = UptimeRow {
            subject: UptimeSubject::Monitor(MonitorId::from_bits(1)),
            name: "API <prod>".to_owned(),
            uptime,
            incidents: 2,
            latency_us: [Some(120_400), Some(300_000), None],
            budget: ErrorBudget::new(target, uptime, 0),
            is_met: Some(false),
        };
        SummaryText {
            workspace: "Acme".to_owned(),
            name: "Ada".to_owned(),
            month: "October 2026".to_owned(),
            target,
            totals: Totals { uptime, incidents: 2, known: 3, met: 2 },
            rows: vec![row],
            more: 2,
            link: "https://aloft.example/w/acme/uptime?period=2026-10".to_owned(),
            settings_link: "https://aloft.example/w/acme/uptime#summary".to_owned(),
        }
    }

    #[test]
    fn summary_reports_the_worst_monitors() {
        insta::assert_snapshot!(render(&TextMail(&text())), @r"
        Uptime of Acme in October 2026

        Uptime:     99.861 %
        Incidents:  2
        Target:     99.9 %, met by 2 of 3 monitors

        Lowest uptime:
        - API <prod>: 99.861 %, down for 1 h, 2 incidents, budget exceeded by 16.8 min
        and 2 more monitors

        Full report: https://aloft.example/w/acme/uptime?period=2026-10

        You get this email because you asked for it. Change that: https://aloft.example/w/acme/uptime#summary
        ");
    }

    #[test]
    fn names_are_escaped_in_html() {
        let html = render(&HtmlMail(&text()));
        assert!(html.contains("99.861 %") && !html.contains("<prod>"), "{html}");
    }
}
