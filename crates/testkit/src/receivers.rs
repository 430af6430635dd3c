//! Receivers of alerts on loopback, one for each kind of channel except email (see `mail`). Each
//! validates messages by its vendor's public reference and rejects them with the vendor's error
//! messages. Each stores the messages that it accepted. Tests can make it misbehave. It uses none
//! of the code under test.

mod channel;
mod discord;
mod google_chat;
mod grafana_oncall;
mod ms_teams;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod phone;
mod schema;
mod slack;
mod telegram;
mod validation;
mod webhook;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{ProviderType, Secret};
use tokio::sync::watch;
use web::context::Context;

pub use channel::json_of;
pub use phone::{ACCOUNT as TWILIO_ACCOUNT, TOKEN as TWILIO_TOKEN};
pub use telegram::TOKEN as TELEGRAM_TOKEN;

use self::validation::Validation;
use crate::target::{HttpTarget, Received, ScriptedResponse};

/// Timeout that is longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running receiver. Dropping it stops it.
#[derive(Debug)]
pub struct Receiver {
    kind: ProviderType,
    target: HttpTarget,
    inbox: Arc<Inbox>,
}

/// A rejected message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub message: Received,
    /// Rule that it violates.
    pub why: String,
}

/// Misbehaviour of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Returns this status without a body.
    Status(u16),
    /// Returns 429 with this `Retry-After` in seconds.
    Busy(u32),
    /// Sends nothing and keeps the connection open.
    Hang,
    /// Closes the connection without a response.
    Close,
    /// Returns 200 with a body of a gigabyte.
    Gigabyte,
    /// Returns 200 with a body that never ends.
    Endless,
    /// Redirects to another address.
    Redirect(String),
    /// Sends bytes that are not HTTP.
    Garbage,
}

#[derive(Debug)]
struct Inbox {
    rulebook: VendorRules,
    state: Mutex<ReceiverState>,
    /// Number of handled requests, so that tests can wait for more.
    seen: watch::Sender<usize>,
}

/// Rules of a vendor.
#[derive(Debug)]
enum VendorRules {
    Vendor(fn(&Received) -> Validation),
    Webhook(webhook::Verifier),
}

#[derive(Debug, Default)]
struct ReceiverState {
    next: VecDeque<Behaviour>,
    always: Option<Behaviour>,
    accepted: Vec<Received>,
    refused: Vec<Refused>,
    turned_away: Vec<Received>,
}

impl Receiver {
    /// Starts a receiver of this kind. Panics for `email`, which `testkit::mail` receives, and for
    /// `webhook`, which needs secrets.
    pub async fn start(kind: ProviderType) -> Self {
        let validate: fn(&Received) -> Validation = match kind {
            ProviderType::Discord => discord::validate,
            ProviderType::Slack => slack::validate,
            ProviderType::Pagerduty => pagerduty::validate,
            ProviderType::Opsgenie => opsgenie::validate,
            ProviderType::Telegram => telegram::validate,
            ProviderType::Sms => phone::validate_sms,
            ProviderType::Whatsapp => phone::validate_whatsapp,
            ProviderType::GoogleChat => google_chat::validate,
            ProviderType::GrafanaOncall => grafana_oncall::validate,
            ProviderType::Ntfy => ntfy::validate,
            ProviderType::MsTeams => ms_teams::validate,
            ProviderType::Webhook | ProviderType::Email => {
                panic!("receivers of `{kind}` have their own constructor")
            }
        };
        Self::with(kind, VendorRules::Vendor(validate)).await
    }

    /// Starts a receiver of webhooks. It accepts signatures with one of `secrets` and timestamps
    /// close to the clock of `ctx`.
    pub async fn start_webhooks(secrets: Vec<Secret<Vec<u8>>>, ctx: Context) -> Self {
        let verifier = webhook::Verifier { secrets, ctx };
        Self::with(ProviderType::Webhook, VendorRules::Webhook(verifier)).await
    }

    async fn with(kind: ProviderType, rulebook: VendorRules) -> Self {
        let state = Mutex::default();
        let inbox = Arc::new(Inbox { rulebook, state, seen: watch::Sender::new(0) });
        let clerk = Arc::clone(&inbox);
        let target = HttpTarget::start_with(move |request| clerk.respond(request)).await;
        Self { kind, target, inbox }
    }

    /// Returns its kind.
    pub const fn kind(&self) -> ProviderType {
        self.kind
    }

    /// Returns its base URL without a trailing slash, as settings for a vendor's address expect.
    pub fn base(&self) -> String {
        self.target.url("")
    }

    /// Misbehaves from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        self.state().always = Some(behaviour);
    }

    /// Misbehaves this number of times, then works again.
    pub fn behave_times(&self, times: usize, behaviour: Behaviour) {
        self.state().next.extend(std::iter::repeat_n(behaviour, times));
    }

    /// Works normally again.
    pub fn behave_well(&self) {
        let mut state = self.state();
        state.next.clear();
        state.always = None;
    }

    /// Returns the accepted messages in order.
    pub fn accepted(&self) -> Vec<Received> {
        self.state().accepted.clone()
    }

    /// Returns the rejected messages in order.
    pub fn refused(&self) -> Vec<Refused> {
        self.state().refused.clone()
    }

    /// Returns the messages received during misbehaviour, in order.
    pub fn turned_away(&self) -> Vec<Received> {
        self.state().turned_away.clone()
    }

    /// Waits for this number of accepted messages and returns them. Panics after a timeout and
    /// shows the rejected messages.
    pub async fn takes(&self, count: usize) -> Vec<Received> {
        self.once(|state| (state.accepted.len() >= count).then(|| state.accepted.clone())).await
    }

    /// Waits for this number of messages received during misbehaviour and returns them.
    pub async fn wait_for_turned_away(&self, count: usize) -> Vec<Received> {
        let enough = |state: &ReceiverState| state.turned_away.len() >= count;
        self.once(|state| enough(state).then(|| state.turned_away.clone())).await
    }

    async fn once<T>(&self, look: impl Fn(&ReceiverState) -> Option<T>) -> T {
        let mut seen = self.inbox.seen.subscribe();
        let found = seen.wait_for(|_| look(&self.state()).is_some());
        if tokio::time::timeout(PATIENCE, found).await.is_err() {
            let state = self.state();
            panic!(
                "{} accepted {} messages, ignored {} and rejected {:#?}",
                self.kind,
                state.accepted.len(),
                state.turned_away.len(),
                state.refused
            );
        }
        look(&self.state()).expect("received messages are kept")
    }

    fn state(&self) -> MutexGuard<'_, ReceiverState> {
        self.inbox.state()
    }
}

impl Inbox {
    fn respond(&self, request: &Received) -> ScriptedResponse {
        let answer = {
            let mut state = self.state();
            match state.next.pop_front().or_else(|| state.always.clone()) {
                Some(behaviour) => {
                    state.turned_away.push(request.clone());
                    behaviour.response()
                }
                None => match self.rulebook.validate(request) {
                    Ok(answer) => {
                        state.accepted.push(request.clone());
                        answer
                    }
                    Err(refusal) => {
                        let message = request.clone();
                        state.refused.push(Refused { message, why: refusal.why });
                        refusal.response
                    }
                },
            }
        };
        self.seen.send_modify(|seen| *seen += 1);
        answer
    }

    fn state(&self) -> MutexGuard<'_, ReceiverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VendorRules {
    fn validate(&self, request: &Received) -> Validation {
        match self {
            Self::Vendor(validate) => validate(request),
            Self::Webhook(verifier) => verifier.validate(request),
        }
    }
}

impl Behaviour {
    fn response(&self) -> ScriptedResponse {
        match self {
            Self::Status(status) => ScriptedResponse::status(*status),
            Self::Busy(seconds) => {
                ScriptedResponse::status(429).header("retry-after", seconds.to_string())
            }
            Self::Hang => ScriptedResponse::silent(),
            Self::Close => ScriptedResponse::reset_after(""),
            Self::Gigabyte => ScriptedResponse::gigabyte(),
            Self::Endless => ScriptedResponse::endless(),
            Self::Redirect(location) => ScriptedResponse::redirect(307, location.clone()),
            Self::Garbage => ScriptedResponse::raw("220 mail.example.com ESMTP\r\n"),
        }
    }
}
