//! `aloft pages`: shows what visitors of a status page see, the daily history of a component, and
//! the settings of a page. Calls a running service with a key.

mod settings;

use anyhow::Result;
use clap::{Args, Subcommand};
use contract::monitor::decode_instant;
use contract::monitor::wire::Timestamp;
use contract::status_page::wire::{
    ComponentDay, ComponentOverview, GetComponentSummaryRequest, GetStatusPageOverviewRequest,
    IncidentOverview, ListStatusPagesRequest, ListStatusPagesResponse, MaintenanceOverview,
    ReportOverview, StatusPage,
};
use serde_json::Map;

use crate::components::{ChangedPage, NewPage};
use crate::output;
use crate::output_args::{NO_IDS, OutputArgs};
use crate::paging::{NextPage, Paging};
use crate::resources::{self, COMPONENTS, DeletionArgs, InputArgs, PAGES};
use crate::session::Session;

/// Subcommands of `aloft pages`.
#[derive(Debug, Subcommand)]
pub(crate) enum PageCommand {
    /// List status pages, newest first
    List {
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a page with its arguments, without secrets unless --json
    Get {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a page; visitors do not see it before `publish`
    Create {
        #[command(flatten)]
        input: Box<InputArgs<NewPage>>,
    },
    /// Change the given arguments of a page
    Update {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        input: Box<InputArgs<ChangedPage>>,
    },
    /// Delete a page with its components and groups; asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        page: PageIdArg,
        /// Delete without a question
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show what visitors of a page see now
    Overview {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show the daily history of a component (UTC)
    Uptime {
        /// ID (cmp_…) or name of the component
        #[arg(value_name = "COMPONENT")]
        id: String,
        /// Number of days including today, 1 to 90
        #[arg(long, value_name = "NUMBER", default_value_t = 30, allow_negative_numbers = true)]
        days: i32,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show the settings of a page: access, domain, theme, indexing
    Show {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// List the components of a page with their monitors and groups, newest first
    Components {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Publish a page
    Publish {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Unpublish a page; its content is kept
    Unpublish {
        #[command(flatten)]
        page: PageIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Set the theme of a page
    Theme {
        #[command(flatten)]
        page: PageIdArg,
        /// light, dark or system (follows the visitor's device)
        #[arg(value_name = "THEME")]
        theme: String,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Allow or forbid indexing by search engines
    Indexing {
        #[command(flatten)]
        page: PageIdArg,
        /// Whether to allow indexing
        #[arg(value_name = "CHOICE")]
        choice: settings::Indexing,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// The page to work on.
#[derive(Debug, Args)]
pub(crate) struct PageIdArg {
    /// ID (page_…), slug or title of the page
    #[arg(value_name = "PAGE")]
    page: String,
}

pub(crate) async fn run(action: PageCommand) -> Result<()> {
    let everywhere = Map::new();
    match action {
        PageCommand::List { output_args } => list(&output_args).await,
        PageCommand::Get { page, output_args } => {
            let session = Session::open(&output_args.service)?;
            resources::get(&session, &PAGES, &page.page, &everywhere, &output_args).await
        }
        PageCommand::Create { input } => {
            let session = Session::open(&input.output_args.service)?;
            resources::create(&session, &PAGES, &input).await
        }
        PageCommand::Update { page, input } => {
            let session = Session::open(&input.output_args.service)?;
            resources::update(&session, &PAGES, &page.page, &everywhere, &input).await
        }
        PageCommand::Delete { page, yes, output_args } => {
            let session = Session::open(&output_args.service)?;
            let deletion = DeletionArgs { yes, output_args: &output_args };
            resources::delete(&session, &PAGES, &page.page, &everywhere, deletion).await
        }
        PageCommand::Overview { page, output_args } => overview(&page.page, &output_args).await,
        PageCommand::Uptime { id, days, output_args } => by_days(&id, days, &output_args).await,
        PageCommand::Show { page, output_args } => settings::show(&page.page, &output_args).await,
        PageCommand::Components { page, output_args } => {
            settings::components(&page.page, &output_args).await
        }
        PageCommand::Publish { page, output_args } => {
            settings::publish(&page.page, &output_args).await
        }
        PageCommand::Unpublish { page, output_args } => {
            settings::unpublish(&page.page, &output_args).await
        }
        PageCommand::Theme { page, theme, output_args } => {
            settings::theme(&page.page, theme, &output_args).await
        }
        PageCommand::Indexing { page, choice, output_args } => {
            settings::indexing(&page.page, choice, &output_args).await
        }
    }
}

async fn list(output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let mut paging = Paging::of_all();
    let mut list = ListStatusPagesResponse::default();
    while let Some(next) = paging.next(list.status_pages.len(), &list.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListStatusPagesRequest { limit, page_token, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing status pages", answer)?;
        list.status_pages.extend(part.status_pages);
        list.next_page_token = part.next_page_token;
        list.total_size = part.total_size;
    }
    if output_args.prints_data(&list, list.status_pages.iter().filter_map(|it| it.id.as_deref()))? {
        return Ok(());
    }
    let head = ["PAGE", "SLUG", "ACCESS", "PUBLISHED", "TITLE"].map(str::to_owned);
    let row = |it: &StatusPage| {
        let access = it.access_type.clone().unwrap_or_else(|| "public".to_owned());
        let published = if it.published == Some(true) { "yes" } else { "no" };
        let [id, slug, title] =
            [&it.id, &it.slug, &it.title].map(|text| text.clone().unwrap_or_default());
        [id, slug, access, published.to_owned(), title]
    };
    let rows: Vec<_> = std::iter::once(head).chain(list.status_pages.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    Ok(())
}

async fn overview(page: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let request = GetStatusPageOverviewRequest { id: resources::id(&session, &PAGES, page).await? };
    let answer = session.send("reading the status page", request).await?;
    if output_args.prints_data(&answer, answer.overview.as_option().map(|it| &it.page_id))? {
        return Ok(());
    }
    let page = answer.overview.into_option().unwrap_or_default();
    let checked = page.checked_at.as_option().map(|at| format!(", checked {}", moment(at)));
    output::print_text(&format!("{}: {}{}", page.page_id, page.state, checked.unwrap_or_default()));
    let head = ["COMPONENT", "STATE", "1 D", "7 D", "30 D", "90 D", "NAME"].map(str::to_owned);
    let rows = std::iter::once(head).chain(page.components.iter().map(component));
    output::print_text(&format!("\n{}", output::table(&rows.collect::<Vec<_>>())));
    if !page.open_reports.is_empty() {
        let rows: Vec<_> = page.open_reports.iter().map(report).collect();
        output::print_text(&format!("\n{}", output::table(&rows)));
    }
    if !page.open_incidents.is_empty() {
        let rows: Vec<_> = page.open_incidents.iter().map(incident).collect();
        output::print_text(&format!("\n{}", output::table(&rows)));
    }
    if !page.planned_maintenance.is_empty() {
        let rows: Vec<_> = page.planned_maintenance.iter().map(maintenance).collect();
        output::print_text(&format!("\n{}", output::table(&rows)));
    }
    Ok(())
}

async fn by_days(component: &str, days: i32, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &COMPONENTS, component).await?;
    let request = GetComponentSummaryRequest { id, days: Some(days) };
    let summary = session.send("reading the component", request).await?;
    if output_args.prints_data(&summary, NO_IDS)? {
        return Ok(());
    }
    let head = ["DAY", "UPTIME", "DOWN", "DEGRADED", "MAINTENANCE", "UNKNOWN"].map(str::to_owned);
    let row = |it: &ComponentDay| {
        let long =
            |seconds: i32| if seconds == 0 { "-".to_owned() } else { format!("{seconds} s") };
        let parts = [it.down_seconds, it.degraded_seconds, it.maintenance_seconds];
        let [down, degraded, maintenance] = parts.map(long);
        let uptime = percent(it.uptime_millionths);
        [it.date.clone(), uptime, down, degraded, maintenance, long(it.unknown_seconds)]
    };
    let rows: Vec<_> = std::iter::once(head).chain(summary.days.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    output::print_text(&format!("\nuptime {}", percent(summary.uptime_millionths)));
    Ok(())
}

fn component(it: &ComponentOverview) -> [String; 7] {
    let stale = if it.is_stale { ", stale" } else { "" };
    let uptimes = [
        it.uptime_1d_millionths,
        it.uptime_7d_millionths,
        it.uptime_30d_millionths,
        it.uptime_90d_millionths,
    ];
    let [day, week, month, quarter] = uptimes.map(percent);
    [it.id.clone(), format!("{}{stale}", it.state), day, week, month, quarter, it.name.clone()]
}

/// Returns an incident as a row of a table: id, start, components, acknowledgement.
fn incident(it: &IncidentOverview) -> [String; 4] {
    let since = it.opened_at.as_option().map(moment).unwrap_or_default();
    let taken_up = it.acknowledged_at.as_option().map(|at| format!("acknowledged {}", moment(at)));
    [it.id.clone(), since, it.component_ids.join(" "), taken_up.unwrap_or_default()]
}

/// Returns a report as a row of a table: id, start, components, status, title.
fn report(it: &ReportOverview) -> [String; 5] {
    let since = it.started_at.as_option().map(moment).unwrap_or_default();
    [it.id.clone(), since, it.component_ids.join(" "), it.status.clone(), it.title.clone()]
}

/// Returns a window as a row of a table: id, start, end, components, title.
fn maintenance(it: &MaintenanceOverview) -> [String; 5] {
    let at = |at: Option<&Timestamp>| at.map(moment).unwrap_or_default();
    let (from, until) = (at(it.from.as_option()), at(it.until.as_option()));
    [it.id.clone(), from, until, it.component_ids.join(" "), it.title.clone()]
}

/// Formats millionths as a percentage, rounded down. An unknown value is a dash.
fn percent(millionths: Option<i32>) -> String {
    let Some(millionths) = millionths else { return "-".to_owned() };
    let hundredths = millionths / 100;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

fn moment(at: &Timestamp) -> String {
    decode_instant(at).map(output::moment).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentage_is_rounded_down_unknown_is_dash() {
        let shown = [Some(1_000_000), Some(999_999), Some(0), None].map(percent);
        assert_eq!(shown, ["100.00 %", "99.99 %", "0.00 %", "-"]);
    }
}
