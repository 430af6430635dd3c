//! Tests of channels: one message, sent now, and what the receiver answered. Sending is the notifier's;
//! of a saved channel the outbox keeps what came of it.

use std::time::Duration;

use contract::notification::wire::{
    Notification, TestNotificationRequest, TestNotificationResponse,
};
use contract::rpc::{self, Error, RequestContext};
use domain::notify::{Event, EventKind, Grounds, Subject, Unconfigured};
use rules::notification::{ChannelDraft, ChannelSettings};
use rules::{ChannelId, MonitorKind, Timestamp, Violation};
use store::TestNote;
use tracing::Instrument as _;

use super::{NOUN, RESOURCE, refuse_closed};
use crate::app::{App, refusal};
use crate::auth::Caller;
use crate::pipeline::Tested;
use crate::rpc::call::{caller, id, wrong};

/// Longest that a caller waits: a test may send two messages, and wait for a place first.
const WITHIN: Duration = Duration::from_secs(30);

/// What is tested.
struct Channel {
    id: ChannelId,
    settings: ChannelSettings,
    is_saved: bool,
}

/// `TestNotification`.
pub(super) async fn test(
    app: &App,
    context: &RequestContext,
    request: TestNotificationRequest,
) -> Result<TestNotificationResponse, Error> {
    let caller = caller(context);
    let channel = match (request.id, request.notification.into_option()) {
        (Some(id), None) => saved(app, caller, &id).await?,
        (None, Some(given)) => not_saved(app, given)?,
        (Some(_), Some(_)) => return Err(one_of_both("must not be given with `notification`")),
        (None, None) => return Err(one_of_both("must be given, or `notification` instead")),
    };
    let missing = app.notifier.lacking(channel.settings.provider.kind());
    // Whoever asked may go away; what was sent is written down all the same.
    let sent = tokio::spawn(send(app.clone(), caller, channel).in_current_span());
    let tested = match tokio::time::timeout(WITHIN, sent).await {
        Ok(Ok(tested)) => tested?,
        Ok(Err(why)) => {
            tracing::error!("a test of a channel ended badly: {why}");
            return Err(rpc::internal());
        }
        Err(_) => return Err(rpc::unavailable("others are being told at once; test again")),
    };
    Ok(TestNotificationResponse {
        accepted: tested.accepted,
        status: tested.status.map(i32::from),
        help: help(&tested, missing),
        answer: tested.answer,
        took_ms: millis(tested.took),
    })
}

/// A time on the wire, in whole milliseconds.
pub(super) fn millis(took: Duration) -> i32 {
    i32::try_from(took.as_millis()).unwrap_or(i32::MAX)
}

async fn saved(app: &App, caller: Caller, given: &str) -> Result<Channel, Error> {
    let id = id(NOUN, given)?;
    let channel = app.store.channels().get(caller.workspace, id).await.map_err(refusal)?;
    Ok(Channel { id, settings: channel.settings, is_saved: true })
}

fn not_saved(app: &App, given: Notification) -> Result<Channel, Error> {
    let settings = ChannelDraft::from(given).parse().map_err(wrong(RESOURCE))?;
    refuse_closed(app, &settings.provider)?;
    Ok(Channel { id: app.ctx.new_id(), settings, is_saved: false })
}

async fn send(app: App, caller: Caller, channel: Channel) -> Result<Tested, Error> {
    let Channel { id, settings, is_saved } = channel;
    let workspace = app.store.workspaces().get(caller.workspace).await.map_err(refusal)?;
    let event = event(&app, workspace.name);
    let sent = app.notifier.test(caller.workspace, id, &settings, &event).await;
    let tested = sent.map_err(refusal)?;
    if is_saved {
        let note = TestNote {
            workspace: caller.workspace,
            channel: id,
            kind: settings.provider.kind(),
            event,
            at: tested.at,
            took: tested.took,
            status: tested.status,
            answer: tested.answer.clone(),
            arrived: tested.accepted,
        };
        app.store.outbox().note_test(note).await.map_err(refusal)?;
    }
    Ok(tested)
}

/// What is told: nothing of a monitor that there is, so that nobody looks for what is wrong with it.
fn event(app: &App, workspace: String) -> Event {
    let at: Timestamp = app.ctx.now();
    let monitor = Subject {
        id: app.ctx.new_id(),
        name: "Example".to_owned(),
        kind: MonitorKind::Http,
        target: "https://example.com/".to_owned(),
        method: Some("GET".to_owned()),
    };
    Event {
        kind: EventKind::Test,
        at,
        workspace,
        monitor,
        incident: None,
        began_at: at,
        closed: None,
        grounds: Grounds::default(),
        reminder: 0,
    }
}

/// The way out of what came of a test; nothing where it arrived.
fn help(tested: &Tested, missing: Option<Unconfigured>) -> String {
    if tested.accepted {
        return String::new();
    }
    if let Some(Unconfigured { setting, .. }) = missing {
        return format!("the operator of this server has to set `{setting}`");
    }
    let help = match tested.status {
        None => "check that the address is right, and that this server may send to it",
        Some(300..=399) => "put the address that it leads to into the channel",
        Some(401 | 403) => "put credentials into the channel that the receiver takes",
        Some(404 | 410) => "put the address that the receiver has today into the channel",
        Some(408 | 425 | 429 | 500..) => "try again later: the receiver takes nothing now",
        Some(_) => "compare the channel's settings with what the receiver asks for",
    };
    help.to_owned()
}

fn one_of_both(allowed: &str) -> Error {
    rpc::invalid(&Violation::unseen("id", allowed).into())
}
