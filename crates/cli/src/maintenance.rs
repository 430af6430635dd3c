//! `aloft maintenance`: lists, plans, ends and deletes maintenance. Calls a running service with a
//! key.

use anyhow::Result;
use clap::{Args, Subcommand};
use contract::maintenance::wire::{
    CreateMaintenanceRequest, DeleteMaintenanceRequest, EndMaintenanceRequest,
    ListMaintenancesRequest, ListMaintenancesResponse, Maintenance, Window,
};
use contract::monitor::wire::Timestamp;
use contract::monitor::{decode_instant, encode_instant};
use serde_json::{Map, json};
use web::context::Context;

use crate::components::ChangedMaintenance;
use crate::named::{ConfirmArgs, confirm_deletion_of};
use crate::output;
use crate::output_args::OutputArgs;
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::resources::{self, COMPONENTS, InputArgs, MAINTENANCES, MONITORS, optional_id};
use crate::session::Session;
use crate::time;

/// Subcommands of `aloft maintenance`.
#[derive(Debug, Subcommand)]
pub(crate) enum MaintenanceCommand {
    /// List maintenance, newest first
    List {
        #[command(flatten)]
        which: MaintenanceFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Plan maintenance: checks continue, alerts are held back
    Plan {
        #[command(flatten)]
        plan: Box<Planned>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a maintenance with its windows
    Get {
        #[command(flatten)]
        maintenance: MaintenanceIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Change the given arguments of a maintenance
    Update {
        #[command(flatten)]
        maintenance: MaintenanceIdArg,
        #[command(flatten)]
        input: Box<InputArgs<ChangedMaintenance>>,
    },
    /// End the current window; later windows stay planned
    End {
        #[command(flatten)]
        maintenance: MaintenanceIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Delete a maintenance and end its current window; asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        maintenance: MaintenanceIdArg,
        #[command(flatten)]
        confirm: ConfirmArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// The maintenance to work on.
#[derive(Debug, Args)]
pub(crate) struct MaintenanceIdArg {
    /// ID (mnt_…) or title of the maintenance
    #[arg(value_name = "MAINTENANCE")]
    id: String,
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct MaintenanceFilterArgs {
    /// Only maintenance with this state: scheduled, active or completed
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only maintenance of this monitor, mon_… or its name
    #[arg(long, value_name = "MONITOR")]
    monitor: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// Maintenance to plan.
#[derive(Debug, Args)]
pub(crate) struct Planned {
    /// Title
    #[arg(long, value_name = "TEXT")]
    title: String,
    /// Description
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Start time, such as 2026-12-01T22:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    start: Option<String>,
    /// Duration, such as 90m or 2h
    #[arg(long = "for", value_name = "TIME")]
    duration: String,
    /// Time zone of the recurrence, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,
    /// Recurrence rule, such as FREQ=WEEKLY;BYDAY=SU
    #[arg(long, value_name = "RRULE")]
    recurrence: Option<String>,
    /// Monitor to cover, mon_… or its name; repeatable
    #[arg(long = "monitor", value_name = "MONITOR")]
    monitors: Vec<String>,
    /// Component to cover, with its monitor, cmp_… or its name; repeatable
    #[arg(long = "component", value_name = "COMPONENT")]
    components: Vec<String>,
}

pub(crate) async fn run(action: MaintenanceCommand) -> Result<()> {
    let everything = Map::new();
    match action {
        MaintenanceCommand::List { which, output_args } => list(which, &output_args).await,
        MaintenanceCommand::Plan { plan, output_args } => run_plan(*plan, &output_args).await,
        MaintenanceCommand::Get { maintenance, output_args } => {
            let session = Session::open(&output_args.service)?;
            let id = maintenance.id;
            resources::get(&session, &MAINTENANCES, &id, &everything, &output_args).await
        }
        MaintenanceCommand::Update { maintenance, input } => {
            let session = Session::open(&input.output_args.service)?;
            let id = maintenance.id;
            resources::update(&session, &MAINTENANCES, &id, &everything, &input).await
        }
        MaintenanceCommand::End { maintenance, output_args } => {
            let session = Session::open(&output_args.service)?;
            let id = resources::id(&session, &MAINTENANCES, &maintenance.id).await?;
            let request = EndMaintenanceRequest { id };
            let answer = session.send("ending the maintenance", request).await?;
            print_maintenance(&answer.maintenance.into_option().unwrap_or_default(), &output_args)
        }
        MaintenanceCommand::Delete { maintenance, confirm, output_args } => {
            let session = Session::open(&output_args.service)?;
            let id = resources::id(&session, &MAINTENANCES, &maintenance.id).await?;
            confirm_deletion_of("maintenance", &id, confirm)?;
            let request = DeleteMaintenanceRequest { id: id.clone() };
            session.send("deleting the maintenance", request).await?;
            output_args.print(&json!({}), &[&id], || format!("{id} was deleted"))
        }
    }
}

async fn run_plan(plan: Planned, output_args: &OutputArgs) -> Result<()> {
    let mut maintenance = plan.to_maintenance()?;
    let session = Session::open(&output_args.service)?;
    maintenance.monitor_ids = resources::ids(&session, &MONITORS, &plan.monitors).await?;
    maintenance.component_ids = resources::ids(&session, &COMPONENTS, &plan.components).await?;
    let request = CreateMaintenanceRequest { maintenance: maintenance.into() };
    let answer = session.send("planning the maintenance", request).await?;
    print_maintenance(&answer.maintenance.into_option().unwrap_or_default(), output_args)
}

impl Planned {
    fn to_maintenance(&self) -> Result<Maintenance> {
        let starts_at = match &self.start {
            None => encode_instant(Context::system().now()),
            Some(given) => time::parse(&format!("--start {given}"), given)?.into(),
        };
        Ok(Maintenance {
            title: Some(self.title.clone()),
            description: self.description.clone(),
            starts_at,
            duration: Some(self.duration.clone()),
            time_zone: self.time_zone.clone(),
            recurrence: self.recurrence.clone(),
            ..Default::default()
        })
    }
}

async fn list(which: MaintenanceFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let monitor = optional_id(&session, &MONITORS, which.monitor.as_deref()).await?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListMaintenancesResponse::default();
    while let Some(next) = paging.next(page.maintenances.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListMaintenancesRequest {
            status: which.status.clone(),
            monitor_id: monitor.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let part = session.send("listing maintenance", request).await?;
        page.maintenances.extend(part.maintenances);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, page.maintenances.iter().filter_map(|it| it.id.as_deref()))? {
        return Ok(());
    }
    let head = ["MAINTENANCE", "STATUS", "WINDOW", "TITLE"].map(str::to_owned);
    let row = |it: &Maintenance| {
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        [text(&it.id), text(&it.status), window(it), text(&it.title)]
    };
    let rows: Vec<_> = std::iter::once(head).chain(page.maintenances.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    paging::hint(page.maintenances.len(), page.total_size);
    Ok(())
}

fn print_maintenance(maintenance: &Maintenance, output_args: &OutputArgs) -> Result<()> {
    if output_args.prints_data(maintenance, &maintenance.id)? {
        return Ok(());
    }
    let (id, status) = (maintenance.id.as_deref(), maintenance.status.as_deref());
    let sentence = [id.unwrap_or_default(), "is", status.unwrap_or_default(), &window(maintenance)];
    output::print_text(sentence.join(" ").trim_end());
    Ok(())
}

/// Returns the current window, or the next one. Empty if none is left.
fn window(maintenance: &Maintenance) -> String {
    let window: Option<&Window> =
        maintenance.current_window.as_option().or(maintenance.next_window.as_option());
    let moment = |at: Option<&Timestamp>| at.and_then(decode_instant).map(output::moment);
    let ends = window.and_then(|window| {
        moment(window.starts_at.as_option()).zip(moment(window.ends_at.as_option()))
    });
    ends.map(|(from, until)| format!("{from} – {until}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(start: Option<&str>) -> Planned {
        Planned {
            title: "Moving".to_owned(),
            description: None,
            start: start.map(str::to_owned),
            duration: "2h".to_owned(),
            time_zone: None,
            recurrence: None,
            monitors: vec!["mon_1".to_owned()],
            components: Vec::new(),
        }
    }

    #[test]
    fn start_is_a_time_or_now() {
        let written = plan(Some("2026-12-01T22:00:00Z")).to_maintenance().unwrap();
        assert_eq!(written.starts_at.as_option().map(|at| at.seconds), Some(1_796_162_400));
        assert!(plan(None).to_maintenance().unwrap().starts_at.as_option().is_some());
        let refusal = plan(Some("tomorrow")).to_maintenance().unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "`--start tomorrow` is not a time; write it as 2026-12-01T22:00:00Z"
        );
    }

    #[test]
    fn current_window_is_shown_before_the_next() {
        let window_at = |seconds| {
            let at = |seconds| Timestamp { seconds, ..Default::default() };
            Window { starts_at: at(seconds).into(), ends_at: at(seconds + 3_600).into() }
        };
        let mut maintenance =
            Maintenance { next_window: window_at(86_400).into(), ..Default::default() };
        assert_eq!(window(&maintenance), "1970-01-02 00:00 UTC – 1970-01-02 01:00 UTC");
        maintenance.current_window = window_at(0).into();
        assert_eq!(window(&maintenance), "1970-01-01 00:00 UTC – 1970-01-01 01:00 UTC");
        assert_eq!(window(&Maintenance::default()), "");
    }
}
