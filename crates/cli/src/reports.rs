//! `aloft reports`: creates, updates, resolves and deletes status reports and their templates.
//! Calls a running service with a key. Leaves the output to `print`.

mod change;
mod print;
mod templates;

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use contract::monitor::wire::FieldMask;
use contract::status_report::wire::{
    AddStatusReportUpdateRequest, ComponentImpact, CreateStatusReportRequest,
    DeleteStatusReportRequest, DeleteStatusReportUpdateRequest, EditStatusReportUpdateRequest,
    GetStatusReportRequest, ListStatusReportsRequest, ListStatusReportsResponse, StatusReport,
    StatusReportUpdate,
};
use rules::UpdateId;
use serde_json::json;

use crate::named::{ConfirmArgs, NamedId, confirm_deletion, confirm_deletion_of};
use crate::output;
use crate::output_args::OutputArgs;
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::resources::{self, PAGES, REPORTS, TEMPLATES, optional_id};
use crate::session::Session;
use crate::time;

/// Status that ends a report.
const RESOLVED: &str = "resolved";

/// Subcommands of `aloft reports`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// List reports, newest first
    List {
        #[command(flatten)]
        which: ReportFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a report with all its updates
    #[command(visible_alias = "get")]
    Show {
        #[command(flatten)]
        report: ReportIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a report on a status page
    Create {
        #[command(flatten)]
        opened: Box<Opened>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Add an update to a report
    AddUpdate {
        #[command(flatten)]
        report: ReportIdArg,
        /// investigating, identified, monitoring or resolved
        #[arg(long, value_name = "STATUS")]
        status: String,
        #[command(flatten)]
        added: Added,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Resolve a report with a last update
    Resolve {
        #[command(flatten)]
        report: ReportIdArg,
        #[command(flatten)]
        added: Added,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Edit an update; subscribers are not notified
    EditUpdate {
        /// ID of the update, upd_…
        #[arg(value_name = "UPDATE")]
        update: String,
        #[command(flatten)]
        wanted: UpdateArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Edit the title of a report or the components of its latest update; subscribers are not notified
    Edit {
        #[command(flatten)]
        report: ReportIdArg,
        #[command(flatten)]
        change: change::Changes,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Delete a report, rpt_…, or one of its updates, upd_…; asks on a terminal, and needs --yes elsewhere
    Delete {
        /// ID or title of the report, or ID of the update
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        confirm: ConfirmArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Templates of reports: list, create, edit and delete them
    Templates {
        #[command(subcommand)]
        action: templates::TemplateCommand,
    },
}

/// The report to work on.
#[derive(Debug, Args)]
pub(crate) struct ReportIdArg {
    /// ID (rpt_…) or title of the report
    #[arg(value_name = "REPORT")]
    id: String,
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct ReportFilterArgs {
    /// Only reports of this status page, page_…, its slug or title
    #[arg(long, value_name = "PAGE")]
    page: Option<String>,
    /// Only reports with this state: open or resolved
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// A report to create.
#[derive(Debug, Args)]
pub(crate) struct Opened {
    /// ID (page_…), slug or title of the status page
    #[arg(long, value_name = "PAGE")]
    page: String,
    /// Title
    #[arg(long, value_name = "TEXT", required_unless_present = "template")]
    title: Option<String>,
    /// Template for everything that is not given here, tpl_… or its name
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,
    #[command(flatten)]
    first: UpdateArgs,
    /// Do not notify subscribers
    #[arg(long)]
    no_notify: bool,
}

/// An update to add.
#[derive(Debug, Args)]
pub(crate) struct Added {
    /// Text as Markdown
    #[arg(long, value_name = "MARKDOWN")]
    text: String,
    /// Time of the update, such as 2026-12-01T22:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// State of a component from then on, such as cmp_…=degraded or API=down; repeatable
    /// [default: unchanged]
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
    /// Do not notify subscribers
    #[arg(long)]
    no_notify: bool,
}

/// Changes of an update. Missing values stay as they are.
#[derive(Debug, Default, Args)]
pub(crate) struct UpdateArgs {
    /// investigating, identified, monitoring or resolved
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Text as Markdown
    #[arg(long, value_name = "MARKDOWN")]
    text: Option<String>,
    /// Time of the update, such as 2026-12-01T22:00:00Z
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// State of a component from then on, such as cmp_…=degraded or API=down; repeatable
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
}

pub(crate) async fn run(action: ReportCommand) -> Result<()> {
    match action {
        ReportCommand::List { which, output_args } => list(which, &output_args).await,
        ReportCommand::Show { report, output_args } => show(&report.id, &output_args).await,
        ReportCommand::Create { opened, output_args } => create(*opened, &output_args).await,
        ReportCommand::AddUpdate { report, status, added, output_args } => {
            add(report.id, status, added, &output_args).await
        }
        ReportCommand::Resolve { report, added, output_args } => {
            add(report.id, RESOLVED.to_owned(), added, &output_args).await
        }
        ReportCommand::EditUpdate { update, wanted, output_args } => {
            edit(update, wanted, &output_args).await
        }
        ReportCommand::Edit { report, change, output_args } => {
            change::change(report.id, change, &output_args).await
        }
        ReportCommand::Delete { id, confirm, output_args } => {
            delete(id, confirm, &output_args).await
        }
        ReportCommand::Templates { action } => templates::run(action).await,
    }
}

async fn list(which: ReportFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let page_id = optional_id(&session, &PAGES, which.page.as_deref()).await?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListStatusReportsResponse::default();
    while let Some(next) = paging.next(page.status_reports.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListStatusReportsRequest {
            page_id: page_id.clone(),
            state: which.state.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let part = session.send("listing reports", request).await?;
        page.status_reports.extend(part.status_reports);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args
        .prints_data(&page, page.status_reports.iter().filter_map(|it| it.id.as_deref()))?
    {
        return Ok(());
    }
    output::print_text(&print::table(&page.status_reports));
    paging::hint(page.status_reports.len(), page.total_size);
    Ok(())
}

async fn show(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let request = GetStatusReportRequest { id: resources::id(&session, &REPORTS, given).await? };
    let report = session.send("reading the report", request).await?;
    let report = report.status_report.into_option().unwrap_or_default();
    if !output_args.prints_data(&report, &report.id)? {
        output::print_text(&print::format_report(&report));
    }
    Ok(())
}

async fn create(opened: Opened, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let page = resources::id(&session, &PAGES, &opened.page).await?;
    let template_id = optional_id(&session, &TEMPLATES, opened.template.as_deref()).await?;
    let mut update = opened.first.to_update()?;
    change::resolve(&session, &mut update.components, Some(&page)).await?;
    let report = StatusReport { page_id: Some(page), title: opened.title, ..Default::default() };
    let request = CreateStatusReportRequest {
        status_report: report.into(),
        update: update.into(),
        template_id,
        notify: Some(!opened.no_notify),
    };
    let answer = session.send("creating the report", request).await?;
    print_report(&answer.status_report.into_option().unwrap_or_default(), output_args)
}

async fn add(id: String, status: String, added: Added, output_args: &OutputArgs) -> Result<()> {
    let Added { text, at, components, no_notify } = added;
    let wanted = UpdateArgs { status: Some(status), text: Some(text), at, components };
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &REPORTS, &id).await?;
    let mut update = wanted.to_update()?;
    change::resolve(&session, &mut update.components, None).await?;
    let request =
        AddStatusReportUpdateRequest { id, update: update.into(), notify: Some(!no_notify) };
    let answer = session.send("adding the update", request).await?;
    print_report(&answer.status_report.into_option().unwrap_or_default(), output_args)
}

async fn edit(update: String, wanted: UpdateArgs, output_args: &OutputArgs) -> Result<()> {
    let paths = wanted.given_fields();
    if paths.is_empty() {
        return Err(anyhow!("nothing to change; give --status, --text, --at or --component"));
    }
    let written = StatusReportUpdate { id: Some(update), ..wanted.to_update()? };
    let update_mask = FieldMask { paths, ..Default::default() }.into();
    let request = EditStatusReportUpdateRequest { update: written.into(), update_mask };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("editing the update", answer)?;
    print_report(&answer.status_report.into_option().unwrap_or_default(), output_args)
}

async fn delete(id: String, confirm: ConfirmArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    if UpdateId::parse(&id).is_ok() {
        confirm_deletion_of("update", &id, confirm)?;
        let request = DeleteStatusReportUpdateRequest { id };
        let answer = session.send("deleting the update", request).await?;
        return print_report(&answer.status_report.into_option().unwrap_or_default(), output_args);
    }
    let id = resources::id(&session, &REPORTS, &id).await?;
    let request = GetStatusReportRequest { id: id.clone() };
    let report = session.send("reading the report", request).await?;
    let report = report.status_report.into_option().unwrap_or_default();
    let named = NamedId { id: id.clone(), name: report.title.unwrap_or_default() };
    confirm_deletion("report", &named, confirm.yes)?;
    let request = DeleteStatusReportRequest { id: id.clone() };
    session.send("deleting the report", request).await?;
    print_deleted(&id, output_args)
}

fn print_report(report: &StatusReport, output_args: &OutputArgs) -> Result<()> {
    if !output_args.prints_data(report, &report.id)? {
        output::print_text(&print::line(report));
    }
    Ok(())
}

/// Prints that an object was deleted.
fn print_deleted(id: &str, output_args: &OutputArgs) -> Result<()> {
    output_args.print(&json!({}), &[id], || format!("{id} was deleted"))
}

impl UpdateArgs {
    /// Returns the names of the given fields.
    fn given_fields(&self) -> Vec<String> {
        let given = [
            ("status", self.status.is_some()),
            ("text", self.text.is_some()),
            ("at", self.at.is_some()),
            ("components", !self.components.is_empty()),
        ];
        given.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned()).collect()
    }

    fn to_update(&self) -> Result<StatusReportUpdate> {
        let at = self
            .at
            .as_deref()
            .map(|given| time::parse(&format!("--at {given}"), given))
            .transpose()?;
        Ok(StatusReportUpdate {
            status: self.status.clone(),
            text: self.text.clone(),
            at: at.map(Into::into).unwrap_or_default(),
            components: impacts(&self.components)?,
            ..Default::default()
        })
    }
}

/// Parses impacts of components, such as `cmp_1=down`.
fn impacts(given: &[String]) -> Result<Vec<ComponentImpact>> {
    let read = |given: &String| {
        let (component, impact) = given.split_once('=').ok_or_else(|| {
            anyhow!(
                "`--component {given}` is not a component with an impact; write it as cmp_…=down"
            )
        })?;
        Ok(ComponentImpact {
            component_id: Some(component.to_owned()),
            impact: Some(impact.to_owned()),
        })
    };
    given.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn component_requires_an_impact() {
        let parsed = impacts(&["cmp_1=down".to_owned()]).unwrap();
        assert_eq!(parsed[0].component_id.as_deref(), Some("cmp_1"));
        assert_eq!(parsed[0].impact.as_deref(), Some("down"));
        let refusal = impacts(&["cmp_1".to_owned()]).unwrap_err();
        insta::assert_snapshot!(refusal, @"`--component cmp_1` is not a component with an impact; write it as cmp_…=down");
    }

    #[test]
    fn edit_changes_only_given_fields() {
        let wanted = UpdateArgs { text: Some("x".to_owned()), ..UpdateArgs::default() };
        assert_eq!(wanted.given_fields(), ["text"]);
        let at = Some("2026-12-01T22:00:00Z".to_owned());
        let wanted =
            UpdateArgs { at, components: vec!["a=down".to_owned()], ..UpdateArgs::default() };
        assert_eq!(wanted.given_fields(), ["at", "components"]);
        let written = wanted.to_update().unwrap();
        assert_eq!(written.at.as_option().map(|at| at.seconds), Some(1_796_162_400));
        let wrong = UpdateArgs { at: Some("tomorrow".to_owned()), ..UpdateArgs::default() };
        let refusal = wrong.to_update().unwrap_err().to_string();
        assert_eq!(refusal, "`--at tomorrow` is not a time; write it as 2026-12-01T22:00:00Z");
    }
}
