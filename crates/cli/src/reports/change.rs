//! `aloft reports edit`: changes the title of a report and the components of its latest update.

use anyhow::{Result, anyhow};
use clap::Args;
use contract::monitor::wire::FieldMask;
use contract::status_report::wire::{ComponentImpact, StatusReport, UpdateStatusReportRequest};
use serde_json::json;

use super::{OutputArgs, impacts, print_report};
use crate::resources::{self, COMPONENTS, REPORTS};
use crate::session::Session;

/// Changes of a report. Missing values stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// State of a component in the latest update, such as cmp_…=degraded or API=down; repeatable;
    /// replaces all components of that update
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
}

pub(super) async fn change(id: String, change: Changes, output_args: &OutputArgs) -> Result<()> {
    let given = [("title", change.title.is_some()), ("components", !change.components.is_empty())];
    let paths: Vec<String> =
        given.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned()).collect();
    if paths.is_empty() {
        return Err(anyhow!("nothing to change; give --title or --component"));
    }
    let session = Session::open(&output_args.service)?;
    let mut components = impacts(&change.components)?;
    resolve(&session, &mut components, None).await?;
    let report = StatusReport {
        id: Some(resources::id(&session, &REPORTS, &id).await?),
        title: change.title,
        components,
        ..Default::default()
    };
    let update_mask = FieldMask { paths, ..Default::default() }.into();
    let request =
        UpdateStatusReportRequest { status_report: report.into(), update_mask, revision: None };
    let answer = session.send("changing the report", request).await?;
    print_report(&answer.status_report.into_option().unwrap_or_default(), output_args)
}

/// Replaces names of components by their IDs, on a page or in the whole workspace.
pub(super) async fn resolve(
    session: &Session<'_>,
    impacts: &mut [ComponentImpact],
    page: Option<&str>,
) -> Result<()> {
    let filter = page.map(|page| ("pageId".to_owned(), json!(page))).into_iter().collect();
    for impact in impacts {
        let given = impact.component_id.as_deref().unwrap_or_default();
        let id = resources::id_within(session, &COMPONENTS, given, &filter).await?;
        impact.component_id = Some(id);
    }
    Ok(())
}
