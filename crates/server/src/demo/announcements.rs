//! The reports on the demo's status page: one active, one resolved, and a planned maintenance. They
//! show new users the page during an outage.

use std::time::Duration;

use rules::maintenance::MaintenanceDraft;
use rules::report::{Impact, ImpactDraft, ReportDraft, ReportStatus, UpdateDraft};
use rules::{ComponentId, PageId, Timestamp, WorkspaceId};
use store::{AuditContext, NewMaintenance, NewReport, NewUpdate, StoreError};

use super::DemoState;
use super::{DNS_RECORDS, FAILING_PAGE, SLOW_PAGE};

const HOUR: Duration = Duration::from_hours(1);

/// A report with its updates, oldest first.
struct DemoReport {
    title: &'static str,
    /// Name of the affected component.
    about: &'static str,
    impact: Impact,
    /// Status, age and text of each update.
    updates: [(ReportStatus, Duration, &'static str); 2],
    /// Age and text of the final update, if the report is resolved.
    resolution: Option<(Duration, &'static str)>,
}

/// An active report.
const OPEN: DemoReport = DemoReport {
    title: "The failing page answers 503",
    about: FAILING_PAGE,
    impact: Impact::Down,
    updates: [
        (
            ReportStatus::Investigating,
            Duration::from_mins(40),
            "All checks receive status 503. We are looking into it.",
        ),
        (
            ReportStatus::Identified,
            Duration::from_mins(15),
            "This target fails *on purpose*: it shows how an outage looks here.",
        ),
    ],
    resolution: None,
};

/// A resolved report.
const PAST: DemoReport = DemoReport {
    title: "The slow page responded slowly",
    about: SLOW_PAGE,
    impact: Impact::Degraded,
    updates: [
        (
            ReportStatus::Investigating,
            Duration::from_hours(50),
            "Responses take two seconds instead of half a second.",
        ),
        (
            ReportStatus::Monitoring,
            Duration::from_hours(49),
            "A cache was empty. It has been refilled, and we are monitoring it.",
        ),
    ],
    resolution: Some((Duration::from_hours(48), "Response times are back to normal.")),
};

/// Publishes the reports and the maintenance on a page. Components are found by the names of their
/// monitors. Nobody is notified.
pub(super) async fn publish(
    state: &DemoState,
    (workspace, page): (WorkspaceId, PageId),
    components: &[(String, ComponentId)],
    change: AuditContext,
) -> Result<(), StoreError> {
    let named = |name: &str| components.iter().find(|it| it.0 == name).map(|it| it.1);
    for demo_report in [&PAST, &OPEN] {
        if let Some(about) = named(demo_report.about) {
            report(state, (workspace, page), (demo_report, about), change).await?;
        }
    }
    match named(DNS_RECORDS) {
        Some(about) => plan(state, workspace, about, change).await,
        None => Ok(()),
    }
}

async fn report(
    state: &DemoState,
    (workspace, page): (WorkspaceId, PageId),
    (demo_report, about): (&DemoReport, ComponentId),
    change: AuditContext,
) -> Result<(), StoreError> {
    let impact = ImpactDraft {
        component_id: Some(about.to_string()),
        impact: Some(demo_report.impact.to_string()),
    };
    let draft = ReportDraft {
        page_id: Some(page.to_string()),
        title: Some(demo_report.title.to_owned()),
        components: vec![impact.clone()],
    };
    let parse_update = |(status, ago, text): (ReportStatus, Duration, &str)| {
        let draft = UpdateDraft {
            status: Some(status.to_string()),
            text: Some(text.to_owned()),
            at: Some(change.at - ago),
            components: vec![impact.clone()],
        };
        draft.parse(change.at).expect("the demo's reports are valid")
    };
    let [first, second] = demo_report.updates.map(parse_update);
    let id = state.ctx.new_id();
    let new = NewReport {
        id,
        workspace,
        settings: draft.parse().expect("the demo's reports are valid"),
        update: state.ctx.new_id(),
        first,
        notify: false,
        idempotency: None,
    };
    state.store.reports().create(new, change).await?;
    let last =
        demo_report.resolution.map(|(ago, text)| parse_update((ReportStatus::Resolved, ago, text)));
    for settings in [second].into_iter().chain(last) {
        let update = NewUpdate {
            id: state.ctx.new_id(),
            workspace,
            report: id,
            settings,
            notify: false,
            idempotency: None,
        };
        state.store.reports().add(update, change).await?;
    }
    Ok(())
}

/// Plans an hour of maintenance for tomorrow.
async fn plan(
    state: &DemoState,
    workspace: WorkspaceId,
    about: ComponentId,
    change: AuditContext,
) -> Result<(), StoreError> {
    let hour = HOUR.as_millis() as i64;
    let begins = (change.at + 26 * HOUR).as_millis().div_euclid(hour) * hour;
    let draft = MaintenanceDraft {
        title: Some("Disk replacement on the name server".to_owned()),
        description: Some(
            "Checks continue during this hour; alerts are held back until it ends.".to_owned(),
        ),
        starts_at: Some(Timestamp::from_millis(begins)),
        duration: Some("1h".to_owned()),
        component_ids: vec![about.to_string()],
        ..MaintenanceDraft::default()
    };
    let settings = draft.parse().expect("the demo's maintenance is valid");
    let new = NewMaintenance { id: state.ctx.new_id(), workspace, settings, idempotency: None };
    state.store.maintenances().create(new, change).await?;
    Ok(())
}
