//! `aloft subscribers`: lists, adds and removes subscribers of status pages. Calls a running
//! service with a key. Prints no URL of a webhook.

use anyhow::Result;
use clap::{ArgGroup, Args, Subcommand};
use contract::status_page::wire::{
    AddSubscriberRequest, ListSubscribersRequest, ListSubscribersResponse, RemoveSubscriberRequest,
    Subscriber, Timestamp,
};
use serde_json::json;

use crate::named::{ConfirmArgs, confirm_deletion_of};
use crate::output;
use crate::output_args::OutputArgs;
use crate::paging::{self, NextPage, Paging, SHOWN};
use crate::resources::{self, COMPONENTS, PAGES, optional_id};
use crate::session::Session;

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
    /// Remove a subscriber and all its data; asks on a terminal, and needs --yes elsewhere
    Remove {
        /// ID of the subscriber, sub_…
        #[arg(value_name = "SUBSCRIBER")]
        id: String,
        #[command(flatten)]
        confirm: ConfirmArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// Filter of a list.
#[derive(Debug, Args)]
pub(crate) struct SubscriberFilterArgs {
    /// Only subscribers of this page, page_…, its slug or title
    #[arg(long, value_name = "PAGE")]
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
    /// ID (page_…), slug or title of the page
    #[arg(long, value_name = "PAGE")]
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
    /// Only for this component, cmp_… or its name; repeatable
    #[arg(long = "component", value_name = "COMPONENT")]
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
        SubscriberCommand::Remove { id, confirm, output_args } => {
            confirm_deletion_of("subscriber", &id, confirm)?;
            remove(id, &output_args).await
        }
    }
}

async fn list(which: SubscriberFilterArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let page_id = optional_id(&session, &PAGES, which.page.as_deref()).await?;
    let mut paging = Paging::up_to(which.limit);
    let mut page = ListSubscribersResponse::default();
    while let Some(next) = paging.next(page.subscribers.len(), &page.next_page_token) {
        let NextPage { limit, page_token } = next;
        let request = ListSubscribersRequest {
            page_id: page_id.clone(),
            kind: which.kind.clone(),
            state: which.state.clone(),
            limit,
            page_token,
            ..Default::default()
        };
        let part = session.send("listing subscribers", request).await?;
        page.subscribers.extend(part.subscribers);
        page.next_page_token = part.next_page_token;
        page.total_size = part.total_size;
    }
    if output_args.prints_data(&page, page.subscribers.iter().filter_map(|it| it.id.as_deref()))? {
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
    let session = Session::open(&output_args.service)?;
    let page = resources::id(&session, &PAGES, &new.page).await?;
    let components = resources::ids_on_page(&session, &COMPONENTS, &new.components, &page).await?;
    let subscriber = Subscriber {
        page_id: Some(page),
        email: new.email,
        webhook_url: new.webhook_url,
        language: new.language,
        component_ids: components,
        topics: new.topics,
        ..Default::default()
    };
    let request =
        AddSubscriberRequest { subscriber: subscriber.into(), confirm: Some(!new.confirmed) };
    let added = session.send("adding the subscriber", request).await?;
    let subscriber = added.subscriber.into_option().unwrap_or_default();
    if output_args.prints_data(&subscriber, &subscriber.id)? {
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
    output_args.print(&json!({ "id": id }), &[&id], || format!("{id} was removed"))
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
