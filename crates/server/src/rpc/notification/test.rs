//! Tests of channels: sends one message now and returns the receiver's response. The notifier sends
//! it. The outbox stores the result if the channel is saved.

use std::time::Duration;

use contract::IntoDraft as _;
use contract::notification::wire::{
    Notification, TestNotificationRequest, TestNotificationResponse,
};
use contract::rpc::{self, Error, RequestContext};
use domain::notify::{Cause, Event, EventKind, MonitorSnapshot, Unconfigured, account, setting};
use rules::notification::ChannelSettings;
use rules::{ChannelId, MonitorKind, ProviderType, Timestamp, Violation};
use store::{StoreError, TestDelivery};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::{NOUN, RESOURCE, reject_blocked_address};
use crate::auth::Caller;
use crate::pipeline::Tested;
use crate::rpc::request::{caller, id, invalid};
use crate::rpc::{Services, rpc_error};

/// Timeout of a test. It may send two messages, and wait for a permit first.
const WITHIN: Duration = Duration::from_secs(30);

/// Time for a canceled test to end if it has not sent anything.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// Error of a test that sent nothing.
const NOT_BEGUN: &str = "too many deliveries at once, or the server is stopping; test again";
/// Error of a test that may have sent its message.
const IN_FLIGHT: &str = "the receiver did not respond in time; the message may still arrive";
/// Help if a receiver is temporarily unavailable.
const LATER: &str = "try again later: the receiver does not accept messages at the moment";
/// Help if nothing more specific is known.
const COMPARE: &str = "check the channel's settings against the receiver's requirements";

/// Channel to test.
struct Channel {
    id: ChannelId,
    settings: ChannelSettings,
    is_saved: bool,
}

/// Implements `TestNotification`.
pub(super) async fn test(
    services: &Services,
    context: &RequestContext,
    request: TestNotificationRequest,
) -> Result<TestNotificationResponse, Error> {
    let caller = caller(context);
    let channel = match (request.id, request.notification.into_option()) {
        (Some(id), None) => saved(services, caller, &id).await?,
        (None, Some(given)) => not_saved(services, given)?,
        (Some(_), Some(_)) => return Err(one_of_both("must not be given with `notification`")),
        (None, None) => return Err(one_of_both("must be given, or `notification` instead")),
    };
    let kind = channel.settings.provider.kind();
    let missing = services.notifier.missing_setting(kind);
    // Store the result of a sent message even if the caller disconnects.
    let stop = services.notifier.test_stop_token();
    let sent =
        tokio::spawn(send(services.clone(), caller, channel, stop.clone()).in_current_span());
    let tested = wait_for_test(sent, &stop, [WITHIN, ENDS_WITHIN]).await?;
    Ok(TestNotificationResponse {
        accepted: tested.accepted,
        status: tested.status.map(i32::from),
        help: help(kind, &tested, missing),
        response: tested.response,
        duration_ms: millis(tested.took),
    })
}

/// Waits for a test, and cancels it after a timeout. Then it gives the test time to end, so that no
/// unsent message is sent after the response.
async fn wait_for_test(
    mut sent: JoinHandle<Result<Option<Tested>, Error>>,
    stop: &CancellationToken,
    [within, ends_within]: [Duration; 2],
) -> Result<Tested, Error> {
    let mut ended = timeout(within, &mut sent).await;
    if ended.is_err() {
        stop.cancel();
        ended = timeout(ends_within, sent).await;
    }
    match ended {
        Ok(Ok(tested)) => tested?.ok_or_else(|| rpc::deferred(NOT_BEGUN)),
        Ok(Err(why)) => {
            tracing::error!("a test of a channel failed: {why}");
            Err(rpc::internal())
        }
        Err(_) => Err(rpc::unavailable(IN_FLIGHT)),
    }
}

/// Converts a duration to whole milliseconds.
pub(super) fn millis(took: Duration) -> i32 {
    i32::try_from(took.as_millis()).unwrap_or(i32::MAX)
}

async fn saved(services: &Services, caller: Caller, given: &str) -> Result<Channel, Error> {
    let id = id(NOUN, given)?;
    let channel = services.store.channels().get(caller.workspace, id).await.map_err(rpc_error)?;
    Ok(Channel { id, settings: channel.settings, is_saved: true })
}

fn not_saved(services: &Services, given: Notification) -> Result<Channel, Error> {
    let settings = given.into_draft().parse().map_err(invalid(RESOURCE))?;
    reject_blocked_address(services, &settings.provider)?;
    Ok(Channel { id: services.ctx.new_id(), settings, is_saved: false })
}

/// Sends the test message and stores the result of a saved channel. Returns `None` if nothing was
/// sent.
async fn send(
    services: Services,
    caller: Caller,
    channel: Channel,
    stop: CancellationToken,
) -> Result<Option<Tested>, Error> {
    let Channel { id, settings, is_saved } = channel;
    let workspace = services.store.workspaces().get(caller.workspace).await.map_err(rpc_error)?;
    let event = event(&services, workspace.name);
    let sent = services.notifier.test(caller.workspace, id, &settings, &event, &stop).await;
    let tested = match sent {
        Err(StoreError::Closed) => return Ok(None),
        sent => sent.map_err(rpc_error)?,
    };
    if is_saved {
        let note = TestDelivery {
            workspace: caller.workspace,
            channel: id,
            kind: settings.provider.kind(),
            event,
            at: tested.at,
            duration: tested.took,
            status: tested.status,
            response: tested.response.clone(),
            arrived: tested.accepted,
        };
        services.store.outbox().record_test(note).await.map_err(record_error)?;
    }
    Ok(Some(tested))
}

/// Returns the error for a message that was sent but whose result could not be stored.
fn record_error(error: StoreError) -> Error {
    if matches!(error, StoreError::Closed) {
        return rpc::unavailable("the message was sent, and the server is stopping");
    }
    rpc_error(error)
}

/// Returns a test event with a made-up monitor, so that nobody investigates a real one.
fn event(services: &Services, workspace: String) -> Event {
    let at: Timestamp = services.ctx.now();
    let monitor = MonitorSnapshot {
        id: services.ctx.new_id(),
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
        cause: Cause::default(),
        reminder: 0,
    }
}

/// Returns how to fix a failed test. Empty on success.
fn help(kind: ProviderType, tested: &Tested, missing: Option<Unconfigured>) -> String {
    if tested.accepted {
        return String::new();
    }
    if let Some(Unconfigured { setting, .. }) = missing {
        let variable = setting::variable(setting);
        return format!("the operator of this server has to set `{variable}`");
    }
    if let Some(setting) = account(kind).filter(|_| is_account_error(kind, tested.status)) {
        let variable = setting::variable(setting);
        return format!("the operator of this server has to look at `{variable}`");
    }
    let help = match (kind, tested.status) {
        // SMTP status codes (RFC 5321 §4.2.1) differ in meaning from those of HTTP.
        (ProviderType::Email, Some(400..=499)) => LATER,
        (ProviderType::Email, Some(_)) => "check that the address is right and takes mail",
        (_, None) => "check that the address is right, and that this server may send to it",
        (_, Some(300..=399)) => "put the address that it leads to into the channel",
        (_, Some(408 | 425 | 429 | 500..)) => LATER,
        // The operator has the address and the credentials; the channel has only the recipient.
        (_, Some(403)) if account(kind).is_some() => COMPARE,
        (_, Some(401 | 403)) => "put credentials into the channel that the receiver takes",
        (_, Some(404 | 410)) => "put the address that the receiver has today into the channel",
        (_, Some(_)) => COMPARE,
    };
    help.to_owned()
}

/// Returns whether a response is about the server's account or address at the provider.
fn is_account_error(kind: ProviderType, status: Option<u16>) -> bool {
    let refusals: &[u16] =
        if kind == ProviderType::Email { &[530, 534, 535, 538] } else { &[401, 404] };
    status.is_none_or(|status| refusals.contains(&status))
}

fn one_of_both(allowed: &str) -> Error {
    rpc::invalid(&Violation::without_value("id", allowed).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helped(kind: ProviderType, status: Option<u16>) -> String {
        let (at, took, response) = (Timestamp::from_millis(0), Duration::ZERO, String::new());
        help(kind, &Tested { accepted: false, status, response, at, took }, None)
    }

    #[tokio::test]
    async fn unsent_test_is_retryable_and_uncertain_one_not() {
        let is_put_off = async |sent: JoinHandle<_>, stop: &CancellationToken, ends_within| {
            let error = wait_for_test(sent, stop, [Duration::ZERO, ends_within]).await.unwrap_err();
            assert_eq!(error.http_status(), 503);
            error.response_headers().contains_key("retry-after")
        };
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        let waits_for_a_place = tokio::spawn(async {
            stopped.await;
            Ok(None)
        });
        assert!(is_put_off(waits_for_a_place, &stop, Duration::from_mins(1)).await);
        let waits_for_an_answer = tokio::spawn(std::future::pending());
        let stop = CancellationToken::new();
        assert!(!is_put_off(waits_for_an_answer, &stop, Duration::ZERO).await);
        assert!(stop.is_cancelled());
    }

    #[test]
    fn help_addresses_the_responsible_person() {
        // issue 6, point 2: failures of the server's own account are for its operator to fix
        let operators = [
            (ProviderType::Email, None),
            (ProviderType::Email, Some(535)),
            (ProviderType::Telegram, Some(404)),
            (ProviderType::Sms, Some(401)),
            (ProviderType::Whatsapp, None),
        ];
        for (kind, status) in operators {
            let help = helped(kind, status);
            let variable = setting::variable(account(kind).unwrap());
            let expected = format!("the operator of this server has to look at `{variable}`");
            assert_eq!(help, expected, "{kind} {status:?}");
        }
        let senders = [
            (ProviderType::Email, Some(450), LATER),
            (ProviderType::Email, Some(550), "check that the address is right and takes mail"),
            (ProviderType::Telegram, Some(403), COMPARE),
            (ProviderType::Sms, Some(400), COMPARE),
            (ProviderType::Ntfy, Some(507), LATER),
            (
                ProviderType::Ntfy,
                Some(403),
                "put credentials into the channel that the receiver takes",
            ),
            (
                ProviderType::Slack,
                Some(404),
                "put the address that the receiver has today into the channel",
            ),
        ];
        for (kind, status, expected) in senders {
            assert_eq!(helped(kind, status), expected, "{kind} {status:?}");
        }
    }
}
