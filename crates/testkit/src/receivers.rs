//! Receivers of alerts on loopback, one for each kind of channel but email (see `mail`). Each
//! refuses what its vendor would refuse, in the vendor's words, as its public reference has it; keeps
//! what it took; and misbehaves when it is told to. Nothing here asks the code that it tests.

mod channel;
mod discord;
mod google_chat;
mod grafana_oncall;
mod ntfy;
mod opsgenie;
mod pagerduty;
mod ruling;
mod schema;
mod slack;
mod telegram;
mod telephone;
mod webhook;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{ProviderType, Secret};
use server::context::Context;
use tokio::sync::watch;

pub use channel::json_of;
pub use telegram::TOKEN as TELEGRAM_TOKEN;
pub use telephone::{ACCOUNT as TELEPHONE_ACCOUNT, TOKEN as TELEPHONE_TOKEN};

use self::ruling::Ruling;
use crate::target::{Answer, HttpTarget, Received};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running receiver. It ends when it is dropped.
#[derive(Debug)]
pub struct Receiver {
    kind: ProviderType,
    target: HttpTarget,
    desk: Arc<Desk>,
}

/// A message that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What came.
    pub message: Received,
    /// Which rule it broke.
    pub why: String,
}

/// What a receiver does instead of its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers with this status and nothing else.
    Status(u16),
    /// Answers 429 and asks to come again after so many seconds.
    Busy(u32),
    /// Says nothing, and keeps the connection open.
    Hang,
    /// Breaks the connection without an answer.
    Close,
    /// Answers 200 with a gigabyte.
    Gigabyte,
    /// Answers 200 with a body that never ends.
    Endless,
    /// Sends to another address.
    Redirect(String),
    /// Answers, but not in HTTP.
    Garbage,
}

#[derive(Debug)]
struct Desk {
    rulebook: Rulebook,
    state: Mutex<State>,
    /// How many requests were dealt with, so that tests can wait for more.
    seen: watch::Sender<usize>,
}

/// Whose rules hold.
#[derive(Debug)]
enum Rulebook {
    Discord,
    Slack,
    Pagerduty,
    Opsgenie,
    Webhook(webhook::Verifier),
    Telegram,
    Telephone(telephone::Way),
    GoogleChat,
    GrafanaOncall,
    Ntfy,
}

#[derive(Debug, Default)]
struct State {
    next: VecDeque<Behaviour>,
    always: Option<Behaviour>,
    accepted: Vec<Received>,
    refused: Vec<Refused>,
    turned_away: Vec<Received>,
}

impl Receiver {
    /// A receiver of this kind. Panics for `email`, which `testkit::mail` takes, and for `webhook`,
    /// which has to know secrets.
    pub async fn start(kind: ProviderType) -> Self {
        let rulebook = match kind {
            ProviderType::Discord => Rulebook::Discord,
            ProviderType::Slack => Rulebook::Slack,
            ProviderType::Pagerduty => Rulebook::Pagerduty,
            ProviderType::Opsgenie => Rulebook::Opsgenie,
            ProviderType::Telegram => Rulebook::Telegram,
            ProviderType::Sms => Rulebook::Telephone(telephone::Way::Sms),
            ProviderType::Whatsapp => Rulebook::Telephone(telephone::Way::Whatsapp),
            ProviderType::GoogleChat => Rulebook::GoogleChat,
            ProviderType::GrafanaOncall => Rulebook::GrafanaOncall,
            ProviderType::Ntfy => Rulebook::Ntfy,
            ProviderType::Webhook | ProviderType::Email => {
                panic!("a receiver of `{kind}` is started in another way")
            }
        };
        Self::with(kind, rulebook).await
    }

    /// A receiver of webhooks that believes what is signed with one of `secrets`, at about the time
    /// that the clock of `ctx` shows.
    pub async fn of_webhooks(secrets: Vec<Secret<Vec<u8>>>, ctx: Context) -> Self {
        let verifier = webhook::Verifier { secrets, ctx };
        Self::with(ProviderType::Webhook, Rulebook::Webhook(verifier)).await
    }

    async fn with(kind: ProviderType, rulebook: Rulebook) -> Self {
        let state = Mutex::default();
        let desk = Arc::new(Desk { rulebook, state, seen: watch::Sender::new(0) });
        let clerk = Arc::clone(&desk);
        let target = HttpTarget::start_with(move |request| clerk.answer(request)).await;
        Self { kind, target, desk }
    }

    /// Its kind.
    pub const fn kind(&self) -> ProviderType {
        self.kind
    }

    /// Where it is, without a slash at the end: what a setting for a vendor's address takes.
    pub fn base(&self) -> String {
        self.target.url("")
    }

    /// Does this from now on, in the place of its work.
    pub fn behave(&self, behaviour: Behaviour) {
        self.state().always = Some(behaviour);
    }

    /// Does this so many times, and then its work again.
    pub fn behave_times(&self, times: usize, behaviour: Behaviour) {
        self.state().next.extend(std::iter::repeat_n(behaviour, times));
    }

    /// Does its work again.
    pub fn behave_well(&self) {
        let mut state = self.state();
        state.next.clear();
        state.always = None;
    }

    /// What it took, in order.
    pub fn accepted(&self) -> Vec<Received> {
        self.state().accepted.clone()
    }

    /// What it refused, in order.
    pub fn refused(&self) -> Vec<Refused> {
        self.state().refused.clone()
    }

    /// What came while it misbehaved, in order.
    pub fn turned_away(&self) -> Vec<Received> {
        self.state().turned_away.clone()
    }

    /// What it took, as soon as that is so much. Panics when it does not come, with what it refused.
    pub async fn takes(&self, count: usize) -> Vec<Received> {
        self.once(|state| (state.accepted.len() >= count).then(|| state.accepted.clone())).await
    }

    /// What came while it misbehaved, as soon as that is so much.
    pub async fn turns_away(&self, count: usize) -> Vec<Received> {
        let enough = |state: &State| state.turned_away.len() >= count;
        self.once(|state| enough(state).then(|| state.turned_away.clone())).await
    }

    async fn once<T>(&self, look: impl Fn(&State) -> Option<T>) -> T {
        let mut seen = self.desk.seen.subscribe();
        let found = seen.wait_for(|_| look(&self.state()).is_some());
        if tokio::time::timeout(PATIENCE, found).await.is_err() {
            let state = self.state();
            panic!(
                "{} took {} messages, turned away {} and refused {:#?}",
                self.kind,
                state.accepted.len(),
                state.turned_away.len(),
                state.refused
            );
        }
        look(&self.state()).expect("what came stays")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.desk.state()
    }
}

impl Desk {
    fn answer(&self, request: &Received) -> Answer {
        let answer = {
            let mut state = self.state();
            match state.next.pop_front().or_else(|| state.always.clone()) {
                Some(behaviour) => {
                    state.turned_away.push(request.clone());
                    behaviour.answer()
                }
                None => match self.rulebook.rule(request) {
                    Ok(answer) => {
                        state.accepted.push(request.clone());
                        answer
                    }
                    Err(refusal) => {
                        let message = request.clone();
                        state.refused.push(Refused { message, why: refusal.why });
                        refusal.answer
                    }
                },
            }
        };
        self.seen.send_modify(|seen| *seen += 1);
        answer
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rulebook {
    fn rule(&self, request: &Received) -> Ruling {
        match self {
            Self::Discord => discord::rule(request),
            Self::Slack => slack::rule(request),
            Self::Pagerduty => pagerduty::rule(request),
            Self::Opsgenie => opsgenie::rule(request),
            Self::Webhook(verifier) => verifier.rule(request),
            Self::Telegram => telegram::rule(request),
            Self::Telephone(way) => telephone::rule(*way, request),
            Self::GoogleChat => google_chat::rule(request),
            Self::GrafanaOncall => grafana_oncall::rule(request),
            Self::Ntfy => ntfy::rule(request),
        }
    }
}

impl Behaviour {
    fn answer(&self) -> Answer {
        match self {
            Self::Status(status) => Answer::status(*status),
            Self::Busy(seconds) => Answer::status(429).header("retry-after", seconds.to_string()),
            Self::Hang => Answer::silent(),
            Self::Close => Answer::reset_after(""),
            Self::Gigabyte => Answer::gigabyte(),
            Self::Endless => Answer::endless(),
            Self::Redirect(location) => Answer::redirect(307, location.clone()),
            Self::Garbage => Answer::raw("220 mail.example.com ESMTP\r\n"),
        }
    }
}
