//! `aloft reports templates`: what reports may begin with.

use anyhow::Result;
use clap::{Args, Subcommand};
use contract::status_report::wire::{
    CreateReportTemplateRequest, DeleteReportTemplateRequest, ListReportTemplatesRequest,
    ReportTemplate,
};

use super::said::{impact, plain};
use super::{Manner, gone, impacts};
use crate::output;

/// Templates that are listed: as many as one answer has.
const LISTED: i32 = 100;

/// What to do with templates.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// List templates
    List {
        #[command(flatten)]
        manner: Manner,
    },
    /// Make a template
    Create {
        #[command(flatten)]
        template: Box<New>,
        #[command(flatten)]
        manner: Manner,
    },
    /// Delete a template; reports that began with it stay
    Delete {
        /// The template, tpl_…
        #[arg(value_name = "TEMPLATE")]
        id: String,
        #[command(flatten)]
        manner: Manner,
    },
}

/// What a template says.
#[derive(Debug, Args)]
pub(crate) struct New {
    /// What people choose it by, in one line
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// Title of the report
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Status of the first update
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Text of the first update, as Markdown
    #[arg(long, value_name = "MARKDOWN")]
    text: Option<String>,
    /// How a component is, such as cmp_…=degraded or cmp_…=down; may be given again
    #[arg(long = "component", value_name = "ID=IMPACT")]
    components: Vec<String>,
}

pub(super) async fn run(action: Action) -> Result<()> {
    match action {
        Action::List { manner } => list(&manner).await,
        Action::Create { template, manner } => create(*template, &manner).await,
        Action::Delete { id, manner } => {
            let request = DeleteReportTemplateRequest { id: id.clone() };
            let answer =
                manner.service.client()?.status_reports.delete_report_template(request).await;
            manner.service.answered("deleting the template", answer)?;
            gone(&id, manner.json);
            Ok(())
        }
    }
}

async fn list(manner: &Manner) -> Result<()> {
    let request = ListReportTemplatesRequest { limit: Some(LISTED), ..Default::default() };
    let answer = manner.service.client()?.status_reports.list_report_templates(request).await;
    let page = manner.service.answered("listing templates", answer)?.into_owned();
    if manner.json {
        output::print(serde_json::to_value(&page)?);
        return Ok(());
    }
    let head = ["TEMPLATE", "NAME", "TITLE", "COMPONENTS"].map(str::to_owned);
    let row = |it: &ReportTemplate| {
        let about: Vec<String> = it.components.iter().map(impact).collect();
        [plain(&it.id), plain(&it.name), plain(&it.title), about.join(", ")]
    };
    let rows: Vec<_> = std::iter::once(head).chain(page.templates.iter().map(row)).collect();
    output::say(&output::table(&rows));
    let (shown, all) = (page.templates.len(), page.total_size);
    if usize::try_from(all).is_ok_and(|all| all > shown) {
        output::complain(&format!("{shown} of {all}"));
    }
    Ok(())
}

async fn create(new: New, manner: &Manner) -> Result<()> {
    let template = ReportTemplate {
        name: Some(new.name),
        title: new.title,
        status: new.status,
        text: new.text,
        components: impacts(&new.components)?,
        ..Default::default()
    };
    let request = CreateReportTemplateRequest { template: template.into() };
    let answer = manner.service.client()?.status_reports.create_report_template(request).await;
    let answer = manner.service.answered("making the template", answer)?.into_owned();
    let template = answer.template.into_option().unwrap_or_default();
    if manner.json {
        output::print(serde_json::to_value(&template)?);
    } else {
        output::say(&format!("{} is made: {}", plain(&template.id), plain(&template.name)));
    }
    Ok(())
}
