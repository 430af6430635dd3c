//! `aloft subscribers`: lists, adds and removes subscribers of status pages. Calls a running
//! service with a key. Prints no URL of a webhook.

use anyhow::Result;
use clap::{ArgGroup, Args, Subcommand};
use contract::status_page::wire::{
    AddSubscriberRequest, ListSubscribersRequest, ListSubscribersResponse, RemoveSubscriberRequest,
    Subscriber, Timestamp,
};
use serde_json::json;

use crate::output;
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::service::OutputArgs;

/// Subcommands of `aloft subscribers`.
#[derive(Debug, Subcommand)]
pub(crate) enum SubscriberCommand {
    /// List subscribers, newest first
    List {
        #[command(flatten)]
        which: SubscriberFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Add a subscriber: an email address, which must confirm, or a webhook URL
    Add {
        #[command(flatten)]
        new: NewSubscriberArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Remove a subscriber and all its data
    Remove {
        /// ID of the subscriber, sub_…
        #[arg(value_name = "SUBSCRIBER")]
        id: String,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct SubscriberFilterArgs {
    /// Only subscribers of this page, page_…
    #[arg(long, value_name = "ID")]
    page: Option<String>,
    /// Only subscribers of this kind: email or webhook
    #[arg(long, value_name = "KIND")]
    kind: Option<String>,
    /// Only subscribers with this state: pending or active
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = SHOWN, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

/// A subscriber to add.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("destination").required(true).args(["email", "webhook_url"])))]
pub(crate) struct NewSubscriberArgs {
    /// ID of the page, page_…
    #[arg(long, value_name = "ID")]
    page: String,
    /// Email address
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// URL for signed webhooks
    #[arg(long, value_name = "URL")]
    webhook_url: Option<String>,
    /// Language of emails: en, de, fr, es, pt, ja or zh
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// Only for this component, cmp_…; repeatable
    #[arg(long = "component", value_name = "ID")]
    components: Vec<String>,
    /// Topics: reports, maintenance or incidents; repeatable
    #[arg(long = "topic", value_name = "TOPIC")]
    topics: Vec<String>,
    /// Skip the confirmation email
    #[arg(long)]
    confirmed: bool,
}

pub(crate) async fn run(action: SubscriberCommand) -> Result<()> {
    match action {
        SubscriberCommand::List { which, output_args } => list(which, &output_args).await,
        SubscriberCommand::Add { new, output_args } => add(new, &output_args).await,
        SubscriberCommand::Remove { id, output_args } => remove(id, &output_args).await,
    }
}

async fn list(which: SubscriberFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let client = output_args.service.client()?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListSubscribersResponse::default();
    while let Some(next) = paging.next(page.subscribers.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListSubscribersRequest {
            page_id: which.page.clone(),
            kind: which.kind.clone(),
            state: which.state.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let answer = client.send(request).await;
        let part = output_args.service.map_error("listing subscribers", answer)?;
        page.subscribers.extend(part.subscribers);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.json {
        output::print_json(serde_json::to_value(&page)?);
        return Ok(());
    }
    let head = ["SUBSCRIBER", "PAGE", "STATE", "SINCE", "TOPICS", "WHERE", "SUPPRESSED"]
        .map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(page.subscribers.iter().map(line)).collect();
    output::print_text(&output::table(&rows));
    paging::hint(page.subscribers.len(), page.total_size);
    Ok(())
}

async fn add(new: NewSubscriberArgs, output_args: &OutputArgs) -> Result<()> {
    let subscriber = Subscriber {
        page_id: Some(new.page),
        email: new.email,
        webhook_url: new.webhook_url,
        language: new.language,
        component_ids: new.components,
        topics: new.topics,
        ..Default::default()
    };
    let request =
        AddSubscriberRequest { subscriber: subscriber.into(), confirm: Some(!new.confirmed) };
    let answer = output_args.service.client()?.send(request).await;
    let added = output_args.service.map_error("adding the subscriber", answer)?;
    let subscriber = added.subscriber.into_option().unwrap_or_default();
    if output_args.json {
        output::print_json(serde_json::to_value(&subscriber)?);
        return Ok(());
    }
    let (id, state) = (text(subscriber.id), text(subscriber.state));
    let then = if state == "pending" { "must confirm by email" } else { "is subscribed" };
    output::print_text(&format!("{id} {then}"));
    Ok(())
}

async fn remove(id: String, output_args: &OutputArgs) -> Result<()> {
    let request = RemoveSubscriberRequest { id: id.clone() };
    let answer = output_args.service.client()?.send(request).await;
    output_args.service.map_error("removing the subscriber", answer)?;
    if output_args.json {
        output::print_json(json!({ "id": id }));
    } else {
        output::print_text(&format!("{id} was removed"));
    }
    Ok(())
}

/// Returns a subscriber as a row of a table.
fn line(subscriber: &Subscriber) -> [String; 7] {
    let since = subscriber.confirmed_at.as_option().map(moment).unwrap_or_default();
    let place = subscriber.email.clone().or_else(|| subscriber.kind.clone());
    [
        text(subscriber.id.clone()),
        text(subscriber.page_id.clone()),
        text(subscriber.state.clone()),
        since,
        subscriber.topics.join(" "),
        text(place),
        text(subscriber.suppression_reason.clone()),
    ]
}

fn moment(at: &Timestamp) -> String {
    contract::monitor::decode_instant(at).map(output::moment).unwrap_or_default()
}

fn text(given: Option<String>) -> String {
    given.unwrap_or_default()
}
