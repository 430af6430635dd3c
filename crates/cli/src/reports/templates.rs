//! `aloft reports templates`: manages templates of reports.

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand};
use contract::monitor::wire::FieldMask;
use contract::status_report::wire::{
    CreateReportTemplateRequest, DeleteReportTemplateRequest, ListReportTemplatesRequest,
    ListReportTemplatesResponse, ReportTemplate, UpdateReportTemplateRequest,
};

use super::print::{impact, plain};
use super::{OutputArgs, impacts, print_deleted};
use crate::named::{ConfirmArgs, confirm_deletion_of};
use crate::output;
use crate::paging::{NextPage, Paging};

/// Subcommands of `aloft reports templates`.
#[derive(Debug, Subcommand)]
pub(crate) enum TemplateCommand {
    /// List templates, newest first
    List {
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a template
    Create {
        #[command(flatten)]
        template: Box<NewTemplateArgs>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Change a template; existing reports stay as they are
    Edit {
        /// ID of the template, tpl_…
        #[arg(value_name = "TEMPLATE")]
        id: String,
        #[command(flatten)]
        edit: Box<Edits>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Delete a template; existing reports stay as they are. Asks on a terminal, and needs --yes elsewhere
    Delete {
        /// ID of the template, tpl_…
        #[arg(value_name = "TEMPLATE")]
        id: String,
        #[command(flatten)]
        confirm: ConfirmArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// Content of a template.
#[derive(Debug, Args)]
pub(crate) struct NewTemplateArgs {
    /// Name of the template, in one line
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Status of the first update
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Text of the first update as Markdown
    #[arg(long, value_name = "MARKDOWN")]
    text: Option<String>,
    /// State of a component, such as cmp_…=degraded or cmp_…=down; repeatable
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
}

/// Changes of a template. Missing values stay as they are.
#[derive(Debug, Args)]
pub(crate) struct Edits {
    /// Name of the template, in one line
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Status of the first update
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Text of the first update as Markdown
    #[arg(long, value_name = "MARKDOWN")]
    text: Option<String>,
    /// State of a component, such as cmp_…=degraded or cmp_…=down; repeatable; replaces all
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
}

pub(super) async fn run(action: TemplateCommand) -> Result<()> {
    match action {
        TemplateCommand::List { output_args } => list(&output_args).await,
        TemplateCommand::Create { template, output_args } => create(*template, &output_args).await,
        TemplateCommand::Edit { id, edit: wanted, output_args } => {
            edit(id, *wanted, &output_args).await
        }
        TemplateCommand::Delete { id, confirm, output_args } => {
            confirm_deletion_of("template", &id, confirm)?;
            let request = DeleteReportTemplateRequest { id: id.clone() };
            let answer = output_args.service.client()?.send(request).await;
            output_args.service.map_error("deleting the template", answer)?;
            print_deleted(&id, &output_args)
        }
    }
}

async fn list(output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let mut paging = Paging::of_all();
    let mut page = ListReportTemplatesResponse::default();
    while let Some(next) = paging.next(page.templates.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListReportTemplatesRequest { limit, page_token, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing templates", answer)?;
        page.templates.extend(part.templates);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, page.templates.iter().filter_map(|it| it.id.as_deref()))? {
        return Ok(());
    }
    let head = ["TEMPLATE", "NAME", "TITLE", "COMPONENTS"].map(str::to_owned);
    let row = |it: &ReportTemplate| {
        let about: Vec<String> = it.components.iter().map(impact).collect();
        [
            plain(it.id.as_deref()),
            plain(it.name.as_deref()),
            plain(it.title.as_deref()),
            about.join(", "),
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(page.templates.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    Ok(())
}

async fn create(new: NewTemplateArgs, output_args: &OutputArgs) -> Result<()> {
    let template = ReportTemplate {
        name: Some(new.name),
        title: new.title,
        status: new.status,
        text: new.text,
        components: impacts(&new.components)?,
        ..Default::default()
    };
    let request = CreateReportTemplateRequest { template: template.into() };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("creating the template", answer)?;
    print_template(&answer.template.into_option().unwrap_or_default(), "made", output_args)
}

async fn edit(id: String, wanted: Edits, output_args: &OutputArgs) -> Result<()> {
    let Edits { name, title, status, text, components } = wanted;
    let given = [
        ("name", name.is_some()),
        ("title", title.is_some()),
        ("status", status.is_some()),
        ("text", text.is_some()),
        ("components", !components.is_empty()),
    ];
    let paths: Vec<String> =
        given.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned()).collect();
    if paths.is_empty() {
        let ways = "--name, --title, --status, --text or --component";
        return Err(anyhow!("nothing to change; give {ways}"));
    }
    let components = impacts(&components)?;
    let template = ReportTemplate {
        id: Some(id),
        name,
        title,
        status,
        text,
        components,
        ..Default::default()
    };
    let update_mask = FieldMask { paths, ..Default::default() }.into();
    let request =
        UpdateReportTemplateRequest { template: template.into(), update_mask, revision: None };
    let answer = output_args.service.client()?.send(request).await;
    let answer = output_args.service.map_error("editing the template", answer)?;
    print_template(&answer.template.into_option().unwrap_or_default(), "edited", output_args)
}

fn print_template(template: &ReportTemplate, how: &str, output_args: &OutputArgs) -> Result<()> {
    if !output_args.prints_data(template, &template.id)? {
        let [id, name] = [&template.id, &template.name].map(|field| plain(field.as_deref()));
        output::print_text(&format!("{id} is {how}: {name}"));
    }
    Ok(())
}
