//! `aloft channels`: creates, reads, changes, tests and deletes channels, by ID or name, lists
//! deliveries and replays them. Calls a running service with a key. Only `get`, `create` and `update`
//! print secrets of a channel, as JSON to a write key.

mod input;
mod write;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use contract::notification::wire::{
    Delivery, ListDeliveriesRequest, ListDeliveriesResponse, ListNotificationsRequest,
    Notification, ReplayDeliveryRequest, RotateSigningSecretRequest, SigningSecret,
    TestNotificationRequest, Timestamp,
};
use serde_json::{Value, json};

use crate::output;
use crate::output_args::{NO_IDS, OutputArgs};
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::resources::{self, CHANNELS, MONITORS, PAGES, optional_id};
use crate::service::KEY_HELP;
use crate::session::Session;

const TEST_EXIT_CODES: &str = "Exit codes: 0, the receiver accepted the message; 1, it did not, or the \
test could not run; 2, invalid command line.";

/// Subcommands of `aloft channels`.
#[derive(Debug, Subcommand)]
pub(crate) enum ChannelCommand {
    /// List the channels of the workspace, newest first
    List {
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show a channel, without secrets unless --json
    Get {
        #[command(flatten)]
        channel: ChannelArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a channel, from the flag of its kind or from JSON
    Create {
        #[command(flatten)]
        input: Box<input::NewChannelArgs>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Change the name or the monitors of a channel, or replace all arguments with those in JSON
    Update {
        #[command(flatten)]
        channel: ChannelArg,
        #[command(flatten)]
        input: Box<input::ChannelChangeArgs>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Delete a channel with its secrets; asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        channel: ChannelArg,
        /// Delete without a question
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Send a test message through a channel and print the receiver's response
    #[command(after_help = format!("{TEST_EXIT_CODES} {KEY_HELP}"))]
    Test {
        #[command(flatten)]
        channel: ChannelArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// List deliveries, newest first
    Deliveries {
        #[command(flatten)]
        which: DeliveryFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Retry a dead letter
    Replay {
        /// ID of the delivery, dlv_…
        delivery: String,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Rotate the signing secret of webhooks and print the new one once
    RotateSigningSecret {
        /// Hours during which the previous secret also signs, 0 to 168 [default: 24]
        #[arg(long, value_name = "HOURS", allow_negative_numbers = true)]
        overlap_hours: Option<i32>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// The channel to work on.
#[derive(Debug, Args)]
pub(crate) struct ChannelArg {
    /// ID (chn_…) or name of the channel
    #[arg(value_name = "CHANNEL")]
    channel: String,
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct DeliveryFilterArgs {
    /// Only deliveries to this channel, chn_… or its name
    #[arg(long, value_name = "CHANNEL")]
    channel: Option<String>,
    /// Only deliveries about this monitor, mon_… or its name
    #[arg(long, value_name = "MONITOR")]
    monitor: Option<String>,
    /// Deliveries to this subscriber instead of channels, sub_…
    #[arg(long, value_name = "ID", conflicts_with_all = ["channel", "monitor"])]
    subscriber: Option<String>,
    /// Deliveries to the subscribers of this page instead of channels, page_…, its slug or title
    #[arg(long, value_name = "PAGE", conflicts_with_all = ["channel", "monitor"])]
    page: Option<String>,
    /// Only deliveries with this state: waiting, accepted, dead or cancelled
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(crate) async fn run(action: ChannelCommand) -> Result<ExitCode> {
    match action {
        ChannelCommand::List { output_args } => list(&output_args).await?,
        ChannelCommand::Get { channel, output_args } => {
            write::get(&channel.channel, &output_args).await?;
        }
        ChannelCommand::Create { input, output_args } => {
            write::create(&input, &output_args).await?;
        }
        ChannelCommand::Update { channel, input, output_args } => {
            write::update(&channel.channel, &input, &output_args).await?;
        }
        ChannelCommand::Delete { channel, yes, output_args } => {
            write::delete(&channel.channel, yes, &output_args).await?;
        }
        ChannelCommand::Test { channel, output_args } => {
            return test(&channel.channel, &output_args).await;
        }
        ChannelCommand::Deliveries { which, output_args } => {
            deliveries(which, &output_args).await?;
        }
        ChannelCommand::Replay { delivery, output_args } => {
            replay(delivery, &output_args).await?;
        }
        ChannelCommand::RotateSigningSecret { overlap_hours, output_args } => {
            rotate(overlap_hours, &output_args).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let mut paging = Paging::of_all();
    let (mut channels, mut token) = (Vec::new(), String::new());
    while let Some(next) = paging.next(channels.len(), &token) {
        let NextPage { limit, page_token } = next;
        let request = ListNotificationsRequest { limit, page_token, ..Default::default() };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing channels", answer)?;
        channels.extend(part.notifications);
        token = part.next_page_token;
    }
    let json: Value = channels.iter().map(channel).collect();
    if output_args.prints_data(&json, channels.iter().filter_map(|it| it.id.as_deref()))? {
        return Ok(());
    }
    let row = |channel: &Notification| {
        let monitors = channel.monitor_ids.len().to_string();
        [
            text(channel.id.as_deref()),
            text(channel.provider_type.as_deref()),
            monitors,
            text(channel.name.as_deref()),
        ]
    };
    let head = ["CHANNEL", "KIND", "MONITORS", "NAME"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(channels.iter().map(row)).collect();
    output::print_text(&output::table(&rows));
    Ok(())
}

async fn test(channel: &str, output_args: &OutputArgs) -> Result<ExitCode> {
    let session = Session::open(&output_args.service)?;
    let id = resources::id(&session, &CHANNELS, channel).await?;
    let request = TestNotificationRequest { id: Some(id), ..Default::default() };
    let tested = session.send("testing the channel", request).await?;
    if !output_args.prints_data(&tested, NO_IDS)? {
        let became = if tested.accepted { "accepted" } else { "not accepted" };
        let mut summary = format!("{became}, in {} ms: {}", tested.duration_ms, tested.response);
        if !tested.help.is_empty() {
            summary = format!("{summary}\n{}", tested.help);
        }
        output::print_text(&summary);
    }
    Ok(if tested.accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn deliveries(which: DeliveryFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let channel = optional_id(&session, &CHANNELS, which.channel.as_deref()).await?;
    let monitor = optional_id(&session, &MONITORS, which.monitor.as_deref()).await?;
    let page_id = optional_id(&session, &PAGES, which.page.as_deref()).await?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListDeliveriesResponse::default();
    while let Some(next) = paging.next(page.deliveries.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListDeliveriesRequest {
            notification_id: channel.clone(),
            monitor_id: monitor.clone(),
            state: which.state.clone(),
            subscriber_id: which.subscriber.clone(),
            page_id: page_id.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let part = session.send("listing deliveries", request).await?;
        page.deliveries.extend(part.deliveries);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, page.deliveries.iter().map(|it| &it.id))? {
        return Ok(());
    }
    let head = ["DELIVERY", "CREATED", "EVENT", "STATE", "TO", "RESPONSE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(page.deliveries.iter().map(line)).collect();
    output::print_text(&output::table(&rows));
    paging::hint(page.deliveries.len(), page.total_size);
    Ok(())
}

async fn replay(delivery: String, output_args: &OutputArgs) -> Result<()> {
    let request = ReplayDeliveryRequest { id: delivery };
    let answer = output_args.service.client()?.send(request).await;
    let replayed = output_args.service.map_error("replaying the delivery", answer)?;
    let delivery = replayed.delivery.into_option().unwrap_or_default();
    if !output_args.prints_data(&delivery, [&delivery.id])? {
        let description = match &delivery.subscriber_id {
            Some(subscriber) => {
                format!("{} will be retried for subscriber {subscriber}", delivery.id)
            }
            None => {
                format!("{} will be retried on channel {}", delivery.id, delivery.notification_id)
            }
        };
        output::print_text(&description);
    }
    Ok(())
}

async fn rotate(overlap_hours: Option<i32>, output_args: &OutputArgs) -> Result<()> {
    let request = RotateSigningSecretRequest { overlap_hours };
    let answer = output_args.service.client()?.send(request).await;
    let rotated = output_args.service.map_error("rotating the signing secret", answer)?;
    if output_args.prints_data(&rotated, NO_IDS)? {
        return Ok(());
    }
    output::print_text(&rotated.secret);
    let ending = |secret: &SigningSecret| {
        let until = secret.expires_at.as_option().map(moment)?;
        Some(format!("{} also signs until {until}", secret.id))
    };
    let before = rotated.signing_secrets.iter().filter_map(ending).collect::<Vec<_>>().join("; ");
    let before = if before.is_empty() { "No other secret signs".to_owned() } else { before };
    output::print_stderr(&format!("This secret will not be shown again. {before}."));
    Ok(())
}

/// Returns a channel as JSON without its settings block.
fn channel(channel: &Notification) -> Value {
    json!({
        "id": channel.id,
        "name": channel.name,
        "providerType": channel.provider_type,
        "monitorIds": channel.monitor_ids,
        "createdAt": channel.created_at.as_option(),
        "updatedAt": channel.updated_at.as_option(),
    })
}

/// Returns a delivery as a row of a table.
fn line(delivery: &Delivery) -> [String; 6] {
    let last = delivery.attempts.last();
    let state = match &delivery.hold_reason {
        Some(held) => format!("{} ({held})", delivery.state),
        None => delivery.state.clone(),
    };
    [
        delivery.id.clone(),
        delivery.created_at.as_option().map(moment).unwrap_or_default(),
        delivery.event.clone(),
        state,
        format!(
            "{} {}",
            delivery.provider_type,
            delivery.subscriber_id.as_deref().unwrap_or(&delivery.notification_id)
        ),
        last.map(|attempt| attempt.response.clone()).unwrap_or_default(),
    ]
}

fn moment(at: &Timestamp) -> String {
    contract::monitor::decode_instant(at).map(output::moment).unwrap_or_default()
}

fn text(given: Option<&str>) -> String {
    given.unwrap_or_default().to_owned()
}
