//! `aloft reports edit`: changes the title of a report and the components of its latest update.

use anyhow::{Result, anyhow};
use clap::Args;
use contract::monitor::wire::FieldMask;
use contract::status_report::wire::{StatusReport, UpdateStatusReportRequest};

use super::{OutputArgs, impacts, print_report};

/// Changes of a report. Missing values stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// State of a component in the latest update, such as cmp_…=degraded or cmp_…=down; repeatable;
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
    let report = StatusReport {
        id: Some(id),
        title: change.title,
        components: impacts(&change.components)?,
        ..Default::default()
    };
    let update_mask = FieldMask { paths, ..Default::default() }.into();
    let request =
        UpdateStatusReportRequest { status_report: report.into(), update_mask, revision: None };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("changing the report", answer)?;
    print_report(&answer.status_report.into_option().unwrap_or_default(), output_args)
}
