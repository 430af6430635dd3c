//! `aloft incidents`: lists incidents, shows their timelines, and acknowledges, resolves or
//! comments on them. Calls a running service with a key.

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use contract::incident::wire::{
    AcknowledgeIncidentRequest, CommentIncidentRequest, GetIncidentRequest, GetIncidentResponse,
    Incident, ListIncidentsRequest, ListIncidentsResponse, Person, RegionEvidence,
    ResolveIncidentRequest, TimelineEntry,
};
use contract::monitor::decode_instant;
use contract::monitor::wire::Timestamp;
use rules::IncidentId;

use crate::output;
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::resources::{self, MONITORS, optional_id};
use crate::session::Session;

/// State of an incident that continues.
const OPEN: &str = "open";
use crate::output_args::{NO_IDS, OutputArgs};

/// Subcommands of `aloft incidents`.
#[derive(Debug, Subcommand)]
pub(crate) enum IncidentCommand {
    /// List incidents, newest first
    List {
        #[command(flatten)]
        which: IncidentFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show an incident with its timeline and the results of each region
    #[command(visible_alias = "get")]
    Show {
        #[command(flatten)]
        incident: IncidentIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Acknowledge an incident; reminders stop
    Acknowledge {
        #[command(flatten)]
        incident: IncidentIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Resolve an incident manually
    Resolve {
        #[command(flatten)]
        incident: IncidentIdArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Add a comment to an incident
    Comment {
        #[command(flatten)]
        incident: IncidentIdArg,
        /// Text of the comment, 1 to 4096 characters
        text: String,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// The incident to work on.
#[derive(Debug, Args)]
pub(crate) struct IncidentIdArg {
    /// ID of the incident (inc_…), or name of the monitor with an open one
    #[arg(value_name = "INCIDENT")]
    id: String,
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct IncidentFilterArgs {
    /// Only incidents of this monitor, mon_… or its name
    #[arg(long, value_name = "ID")]
    monitor: Option<String>,
    /// Only incidents with this state: open or closed
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) async fn run(action: IncidentCommand) -> Result<()> {
    match action {
        IncidentCommand::List { which, output_args } => list(which, &output_args).await,
        IncidentCommand::Show { incident, output_args } => show(&incident.id, &output_args).await,
        IncidentCommand::Acknowledge { incident, output_args } => {
            let session = Session::open(&output_args.service)?;
            let request = AcknowledgeIncidentRequest { id: id(&session, &incident.id).await? };
            let answer = session.send("acknowledging the incident", request).await?;
            print_incident(&answer.incident.into_option().unwrap_or_default(), &output_args)
        }
        IncidentCommand::Resolve { incident, output_args } => {
            let session = Session::open(&output_args.service)?;
            let request = ResolveIncidentRequest { id: id(&session, &incident.id).await? };
            let answer = session.send("resolving the incident", request).await?;
            print_incident(&answer.incident.into_option().unwrap_or_default(), &output_args)
        }
        IncidentCommand::Comment { incident, text, output_args } => {
            comment(&incident.id, text, &output_args).await
        }
    }
}

/// Returns the ID of an incident: as given, or of the open incident of the monitor with this name or ID.
pub(crate) async fn id(session: &Session<'_>, given: &str) -> Result<String> {
    if IncidentId::parse(given).is_ok() {
        return Ok(given.to_owned());
    }
    let monitor = resources::id(session, &MONITORS, given).await?;
    let request = ListIncidentsRequest {
        monitor_id: Some(monitor),
        state: Some(OPEN.to_owned()),
        limit: Some(1),
        ..Default::default()
    };
    let found = session.send("listing incidents", request).await?;
    let found = found.incidents.into_iter().next().map(|it| it.id);
    found.with_context(|| {
        let name = output::one_line(given);
        format!("monitor `{name}` has no open incident; `aloft incidents list` lists past ones")
    })
}

async fn list(which: IncidentFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let monitor = optional_id(&session, &MONITORS, which.monitor.as_deref()).await?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListIncidentsResponse::default();
    while let Some(next) = paging.next(page.incidents.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListIncidentsRequest {
            monitor_id: monitor.clone(),
            state: which.state.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let part = session.send("listing incidents", request).await?;
        page.incidents.extend(part.incidents);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, page.incidents.iter().map(|it| &it.id))? {
        return Ok(());
    }
    let head = ["INCIDENT", "OPENED", "STATE", "MONITOR", "NAME"].map(str::to_owned);
    let row = |it: &Incident| {
        let opened = it.opened_at.as_option().map(moment).unwrap_or_default();
        [it.id.clone(), opened, state(it), it.monitor_id.clone(), it.monitor_name.clone()]
    };
    let rows: Vec<_> = std::iter::once(head).chain(page.incidents.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    paging::hint(page.incidents.len(), page.total_size);
    Ok(())
}

async fn show(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let request = GetIncidentRequest { id: id(&session, given).await? };
    let whole = session.send("reading the incident", request).await?;
    if output_args.prints_data(&whole, whole.incident.as_option().map(|it| &it.id))? {
        return Ok(());
    }
    let GetIncidentResponse { incident, timeline, evidence } = whole;
    let incident = incident.into_option().unwrap_or_default();
    output::print_text(&format!(
        "{}: {}, {}",
        incident.id,
        incident.monitor_name,
        state(&incident)
    ));
    let rows: Vec<_> = timeline.iter().map(line).collect();
    output::print_text(&format!("\n{}", output::table(&rows)));
    if !evidence.is_empty() {
        let rows: Vec<_> = first_per_place(&evidence).into_iter().map(evidence_row).collect();
        output::print_text(&format!("\n{}", output::table(&rows)));
    }
    Ok(())
}

async fn comment(given: &str, text: String, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let request = CommentIncidentRequest { id: id(&session, given).await?, text: Some(text) };
    let written = session.send("commenting on the incident", request).await?;
    let entry = written.entry.into_option().unwrap_or_default();
    if !output_args.prints_data(&entry, NO_IDS)? {
        output::print_text(&output::table(&[line(&entry)]));
    }
    Ok(())
}

fn print_incident(incident: &Incident, output_args: &OutputArgs) -> Result<()> {
    if !output_args.prints_data(incident, [&incident.id])? {
        output::print_text(&format!("{} is {}", incident.id, state(incident)));
    }
    Ok(())
}

/// Describes the state of an incident: `open, acknowledged by on call`.
fn state(incident: &Incident) -> String {
    match (incident.close_reason.as_str(), incident.acknowledged_by.as_option()) {
        ("", None) => incident.state.clone(),
        ("", Some(by)) => format!("{}, acknowledged by {}", incident.state, person_name(by)),
        (how, _) => format!("{}, {how}", incident.state),
    }
}

/// Returns a timeline entry as a row of a table: time, kind, details.
fn line(entry: &TimelineEntry) -> [String; 3] {
    let notified = entry.notified.as_option();
    let notified = notified.map(|it| {
        format!("{} {}: {}, {}", it.provider_type, it.notification_id, it.event, it.state)
    });
    let by = entry.by.as_option().map(|by| format!("by {}", person_name(by)));
    let text = |given: &String| Some(given.clone()).filter(|text| !text.is_empty());
    let region = text(&entry.place).or_else(|| text(&entry.region));
    let rest = [by, text(&entry.text), region, text(&entry.close_reason), notified];
    let rest: Vec<String> = rest.into_iter().flatten().collect();
    let at = entry.at.as_option().map(moment).unwrap_or_default();
    [at, entry.kind.clone(), rest.join(": ")]
}

/// Returns the evidence of each place: of regions that one probe serves, the first.
fn first_per_place(evidence: &[RegionEvidence]) -> Vec<&RegionEvidence> {
    let mut places: Vec<&RegionEvidence> = Vec::new();
    for seen in evidence {
        let is_shown = |it: &&RegionEvidence| !seen.place.is_empty() && it.place == seen.place;
        if !places.iter().any(is_shown) {
            places.push(seen);
        }
    }
    places
}

/// Returns a place's evidence as a row of a table: place, number of attempts, and the reasons of
/// the last one.
fn evidence_row(evidence: &RegionEvidence) -> [String; 3] {
    let place = if evidence.place.is_empty() { &evidence.region } else { &evidence.place };
    let last = evidence.attempts.last();
    let why = last.map(|attempt| attempt.reasons.join("; ")).unwrap_or_default();
    [place.clone(), format!("attempts {}", evidence.attempts.len()), why]
}

fn person_name(person: &Person) -> &str {
    if person.name.is_empty() { &person.key_id } else { &person.name }
}

fn moment(at: &Timestamp) -> String {
    decode_instant(at).map(output::moment).unwrap_or_default()
}
