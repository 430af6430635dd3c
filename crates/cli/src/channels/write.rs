//! `aloft channels get`, `create`, `update` and `delete`. The service validates what `input` reads.

use anyhow::Result;
use serde_json::{Value as Json, json};

use super::input::{ChannelChangeArgs, NewChannelArgs};
use crate::named::{NamedId, confirm_deletion};
use crate::output::{self, one_line};
use crate::output_args::OutputArgs;
use crate::resources::{self, CHANNELS};
use crate::session::{Session, print_warnings};
use crate::time;

/// Field of requests and responses with the channel.
const CHANNEL: &str = "notification";
/// Methods of the service.
const GET: &str = "/notification.v1.NotificationService/GetNotification";
const CREATE: &str = "/notification.v1.NotificationService/CreateNotification";
const UPDATE: &str = "/notification.v1.NotificationService/UpdateNotification";
const DELETE: &str = "/notification.v1.NotificationService/DeleteNotification";

pub(super) async fn get(given: &str, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let answer = read(&session, given).await?;
    output_args.print(&answer, &[id(&answer)], || output::table(&lines(&answer[CHANNEL])))?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn create(input: &NewChannelArgs, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let request = input.request(&session).await?;
    let answer = session.call("creating the channel", CREATE, &request).await?;
    let id = id(&answer);
    output_args.print(&answer, &[id], || format!("{id} was created: {}", described(&answer)))?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn update(
    given: &str,
    input: &ChannelChangeArgs,
    output_args: &OutputArgs,
) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = resources::id(&session, &CHANNELS, given).await?;
    let request = input.request(&session, &found).await?;
    let answer = session.call("changing the channel", UPDATE, &request).await?;
    let id = id(&answer);
    output_args.print(&answer, &[id], || format!("{id} was changed"))?;
    print_warnings(&answer);
    Ok(())
}

pub(super) async fn delete(given: &str, yes: bool, output_args: &OutputArgs) -> Result<()> {
    let session = Session::open(&output_args.service)?;
    let found = read(&session, given).await?;
    let id = id(&found);
    let name = text(&found[CHANNEL], "name");
    confirm_deletion("channel", &NamedId { id: id.to_owned(), name }, yes)?;
    let answer = session.call("deleting the channel", DELETE, &json!({ "id": id })).await?;
    output_args.print(&answer, &[id], || format!("{id} was deleted"))?;
    Ok(())
}

async fn read(session: &Session<'_>, given: &str) -> Result<Json> {
    let id = resources::id(session, &CHANNELS, given).await?;
    session.call("reading the channel", GET, &json!({ "id": id })).await
}

/// Returns the properties of a channel, one per row, without the settings of its kind, which have its
/// secrets.
fn lines(channel: &Json) -> Vec<[String; 2]> {
    let list = |name: &str| {
        let all = channel[name].as_array().into_iter().flatten();
        all.filter_map(Json::as_str).collect::<Vec<_>>().join(", ")
    };
    let quiet_hours = channel.get("quietHours").filter(|it| it.is_object()).map(|it| {
        format!("{} to {} ({})", text(it, "from"), text(it, "until"), text(it, "timeZone"))
    });
    let rows = [
        ("id", text(channel, "id")),
        ("name", text(channel, "name")),
        ("kind", text(channel, "providerType")),
        ("monitors", list("monitorIds")),
        ("events", list("events")),
        ("remind every", text(channel, "remindEvery")),
        ("quiet hours", quiet_hours.unwrap_or_default()),
        ("created at", time::shown(&text(channel, "createdAt"))),
        ("updated at", time::shown(&text(channel, "updatedAt"))),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    rows.map(|(name, value)| [name.to_owned(), value]).collect()
}

fn described(answer: &Json) -> String {
    let name = one_line(&text(&answer[CHANNEL], "name"));
    format!("the {} channel `{name}`", text(&answer[CHANNEL], "providerType"))
}

fn id(answer: &Json) -> &str {
    answer[CHANNEL]["id"].as_str().unwrap_or_default()
}

fn text(json: &Json, name: &str) -> String {
    json[name].as_str().unwrap_or_default().to_owned()
}
